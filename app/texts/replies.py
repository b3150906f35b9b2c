"""What the bot answers to a command: short, kind, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from app.features.model import Feature, Question
from app.questions.model import QuestionState
from app.texts.marker import marker
from app.texts.question import LIMIT
from app.texts.safe import cell, one_line
from app.texts.status import headline


def reply(parts: Sequence[str], *, feature: str, key: str) -> str:
    """One comment from the answers to all commands of one comment."""
    return "\n\n".join([marker("reply", key, feature=feature), *parts])[:LIMIT]


def refused(command: str, why: str) -> str:
    """Why a command was not carried out, and what to do instead: one line."""
    return f"😕 `/{command}`: {why}"


def not_understood(line: int, reason: str) -> str:
    return f"😕 Line {line}: {reason}"


def may_not(who: str) -> str:
    return f"that is for {who}."


def not_available() -> str:
    return "not available yet. `/help` lists what is."


def no_feature(labels: Iterable[str]) -> str:
    names = ", ".join(f"`{label}`" for label in labels)
    return (
        f"nothing is running on this issue. A maintainer starts it with one of the labels {names}."
    )


def nothing_open() -> str:
    return "no question is open here. `/questions all` lists the settled ones."


def which_one(command: str, questions: Sequence[Question]) -> str:
    names = " or ".join(f"`/{command} {question.name}`" for question in questions[:6])
    return f"{len(questions)} questions are open; say which: {names}."


def no_such_question(ref: str, questions: Sequence[Question]) -> str:
    if not questions:
        return f"there is no question {one_line(ref, 40)} here."
    names = ", ".join(question.name for question in questions[:20])
    return f"there is no question {one_line(ref, 40)} here; there are {names}."


def stale(question: Question) -> str:
    return (
        f"{question.name} has changed since you read it. Look again, then use"
        f" `{question.name}@{question.digest[:6]}`."
    )


def not_waiting(question: Question) -> str:
    if question.settled:
        return f"{question.name} is settled already. `/correct {question.name} …` changes it."
    if question.state is QuestionState.ASKING:
        return f"{question.name} is being asked just now; wait for its answer."
    return f"{question.name} is not waiting for an answer ({question.state.value})."


def nothing_to_confirm(question: Question) -> str:
    return (
        f"{question.name} has no tentative answer to confirm. Give one with"
        f" `/correct {question.name} <the answer>`."
    )


def say_which_answer(question: Question) -> str:
    """Two agents disagree: a bare `/confirm` could mean either."""
    agent = question.tentative.agent if question.tentative else ""
    return (
        f"the answers differ. `/confirm {question.name}` takes the one of {agent};"
        f" `/correct {question.name} …` says otherwise."
    )


def no_such_option(question: Question, letter: str) -> str:
    letters = ", ".join(choice.letter for choice in question.choices)
    return f"{question.name} has no option {letter}; it has {letters}."


def paused(feature: Feature) -> str:
    return f"this feature is paused: {feature.stopped_because}."


def not_paused() -> str:
    return "nothing is paused here."


def queued(question: Question) -> str:
    who = question.ask_role or "the agent"
    return f"👍 Taken as the answer to {question.name} as soon as {who} is through."


def too_many_open(most: int) -> str:
    return f"you have {most} questions open on this issue. Wait for answers, or `/stop Q…` one."


def issue_is_full(most: int) -> str:
    return f"this issue has {most} questions. Open another issue for more."


def talks_already(question: Question) -> str:
    return f"{question.chat_with} is talking about {question.name} just now."


def chat_ended(question: Question) -> str:
    return f"The conversation about {question.name} has ended; the question is still open."


def no_such_agent(name: str, known: Sequence[str]) -> str:
    names = ", ".join(name.lstrip("@") for name in known)
    return f"{one_line(name, 60).lstrip('@')} is nobody here. There are: {names}."


def asked_already(question: Question) -> str:
    return f"{question.asked} is asked already."


def snoozed(question: Question, until: datetime) -> str:
    return f"💤 {question.name} sleeps until {until:%Y-%m-%d %H:%M} UTC."


def is_this_your_answer(name: str, answer: str) -> str:
    """The command that would make a plain comment the answer; nothing is taken silently."""
    text = answer.replace("```", "'" * 3)
    command = f"/correct {name} {text}"
    return f"Is that your answer to {name}? Then this settles it:\n```text\n{command}\n```"


def status_reply(feature: Feature, questions: Sequence[Question]) -> str:
    """The answer to `/status`: the headline, and who is waited for."""
    lines = [f"**@baron** — {headline(feature, questions)}"]
    lines += [
        f"- {question.name} waits for {question.asked}"
        for question in questions
        if question.state is QuestionState.ESCALATED
    ]
    return "\n".join(lines)


def _is(state: QuestionState) -> Callable[[Question], bool]:
    return lambda question: question.state is state


_WANTED: dict[str, Callable[[Question], bool]] = {
    **{state.value: _is(state) for state in QuestionState},
    # as people mean it: everything that is open, everything that is settled
    "pending": lambda question: not question.ended,
    "answered": lambda question: question.settled,
    "all": lambda question: True,
}
QUESTION_FILTERS = tuple(_WANTED)


def questions_reply(questions: Sequence[Question], status: str) -> str:
    """The answer to `/questions`: a table of those with that status."""
    wanted = [question for question in questions if _WANTED[status](question)]
    if not wanted:
        return f"No {'' if status == 'all' else status + ' '}questions here."
    rows = [
        f"| {question.name} | `{question.gid}` | {cell(one_line(question.text, 160))}"
        f" | {question.state.value} |"
        for question in wanted
    ]
    return "\n".join(["| | Id | Question | State |", "|---|---|---|---|", *rows])


def question_reply(question: Question) -> str:
    """The answer to `/questions Q3`: one question, whole but short."""
    lines = [f"**{question.name}** (`{question.gid}`, {question.state.value})", ""]
    lines.append(f"> {cell(one_line(question.text, 600))}")
    if question.answer:
        by = question.settled_by or question.source
        lines += ["", f"Answer ({by}):", "", f"> {cell(one_line(question.answer, 1500))}"]
    elif question.asked:
        lines += ["", f"Waits for {question.asked}."]
    return "\n".join(lines)


def start_refused() -> str:
    return (
        "😕 Only people who may triage or write here can start a feature."
        " A maintainer can take the label off and set it again."
    )
