"""The comment in which a person is asked, and what becomes of it."""

from __future__ import annotations

from app.features.model import Feature, Question
from app.questions.model import Answer, QuestionState
from app.texts.marker import marker
from app.texts.safe import cell, harmless, one_line

LIMIT = 60_000
"""GitHub takes 65,536 characters; the rest is left for what GitHub adds."""

_PERSONAS = {"@duc": "architect", "@veuve": "product", "@baron": "project manager"}


def persona(handle: str) -> str:
    """`**@duc** · architect`, as every answer of an agent is signed."""
    role = _PERSONAS.get(handle)
    return f"**{handle}** · {role}" if role else f"**{handle}**"


def question_comment(
    feature: Feature, question: Question, waiting: tuple[str, ...] = (), *, key: str
) -> str:
    """The whole comment of a question, in the state it is in. `waiting` names who waits for it."""
    first = marker(
        "question",
        key,
        feature=str(feature.place),
        question=question.name,
        state=question.state.value,
    )
    body = _settled(question) if question.settled else _open(question, waiting)
    return f"{first}\n{body}"[:LIMIT]


def _heading(question: Question) -> str:
    return f"### {question.name} · {harmless(one_line(question.text, 400), 500)}"


def _settled(question: Question) -> str:
    lines = [_heading(question), "", f"{_verdict(question)}", ""]
    lines += [f"> {line}" for line in harmless(question.answer, 8000).splitlines() or ["—"]]
    lines += ["", *_fold("What was asked, and what was proposed", _asked_details(question))]
    lines += [f"<sub>Not right? `/correct {question.name} <the answer>`</sub>"]
    return "\n".join(lines)


def _verdict(question: Question) -> str:
    by = f"**{question.settled_by}**"
    if question.state is QuestionState.CONFIRMED:
        return f"✅ Confirmed by {by}; the answer is from {question.source}."
    if question.state is QuestionState.CORRECTED:
        return f"✅ Answered by {by}."
    confidence = question.tentative.confidence if question.tentative else 0
    return f"✅ {persona(question.source)} is {confidence} % sure of this, which is enough."


def _open(question: Question, waiting: tuple[str, ...]) -> str:
    lines = [_heading(question), ""]
    if question.state is QuestionState.ASKING:
        lines += ["⏳ Asked again with what was added; the answer will appear here.", ""]
    if question.why:
        lines += [f"**Why it matters:** {harmless(question.why, 1000)}", ""]
    lines += _recommendation(question)
    lines += _options(question)
    lines += _tentative(question)
    lines += _added(question)
    if question.context:
        lines += [*_fold("From the issue", harmless(question.context, 2000).splitlines())]
    if question.state is QuestionState.ESCALATED:
        lines += _who_is_asked(question, waiting)
        lines += _commands(question)
    return "\n".join(lines)


def _recommendation(question: Question) -> list[str]:
    choice = question.choice(question.recommended)
    if choice is None:
        return []
    because = f" {harmless(choice.implication, 400)}" if choice.implication else ""
    return [f"**Recommended: {choice.letter}** — {harmless(choice.text, 400)}.{because}", ""]


def _options(question: Question) -> list[str]:
    if not question.choices:
        return []
    rows = [
        f"| **{choice.letter}** | {cell(choice.text)} | {cell(choice.implication)} |"
        for choice in question.choices
    ]
    return ["| | Option | What follows |", "|---|---|---|", *rows, ""]


def _tentative(question: Question) -> list[str]:
    answer = question.tentative
    if answer is None:
        return []
    handle = answer.agent
    lines = [f"**Tentative answer** — {persona(handle)}, {answer.confidence} % sure:", ""]
    lines += [f"> {line}" for line in harmless(answer.content, 6000).splitlines() or ["—"]]
    lines += [""]
    if answer.rationale:
        lines += [f"**Rationale:** {harmless(answer.rationale, 2000)}", ""]
    if answer.uncertainty_reasons:
        lines += ["**What makes it uncertain:**"]
        lines += [f"- {harmless(reason, 500)}" for reason in answer.uncertainty_reasons[:8]]
        lines += [""]
    return lines + sources(answer)


def sources(answer: Answer) -> list[str]:
    """Where the answer stands, and where it was looked for: the proof that it was looked up."""
    lines: list[str] = []
    for source in answer.sources[:6]:
        quote = f" — “{harmless(one_line(source.quote, 240), 300)}”" if source.quote else ""
        title = harmless(one_line(source.title, 160), 200)
        lines.append(f"- {title} (`{one_line(source.ref, 200).replace('`', '')}`){quote}")
    if lines:
        lines = ["**Sources:**", *lines, ""]
    if answer.looked_in:
        places = "; ".join(harmless(one_line(place, 120), 160) for place in answer.looked_in[:8])
        lines += [f"<sub>Looked in: {places}</sub>", ""]
    return lines


def _added(question: Question) -> list[str]:
    if not question.added:
        return []
    lines = ["**Added by people:**"]
    lines += [
        f"- {added.by}: {harmless(one_line(added.text, 600), 700)}" for added in question.added
    ]
    return [*lines, ""]


def _who_is_asked(question: Question, waiting: tuple[str, ...]) -> list[str]:
    note = harmless(one_line(question.note, 400), 500)
    asked = "A maintainer" if question.asked == "maintainer" else f"@{question.asked}"
    lines = [f"**{asked}** is asked: {note}." if note else f"**{asked}** is asked."]
    if question.routed and question.routed.sla:
        lines[0] += f" An answer is hoped for within {question.routed.sla}."
    held = ", ".join(waiting)
    lines += [
        f"Until then {held or 'the specification'} waits; nothing is decided without an answer.",
        "",
    ]
    return lines


def _commands(question: Question) -> list[str]:
    name = question.name
    lines = ["```text"]
    if question.tentative is not None:
        lines.append(f"/confirm {name}")
    elif question.choice(question.recommended) is not None:
        lines.append(f"/confirm {name}                  take the recommendation")
    lines.append(f"/correct {name} <the answer, or a letter>")
    lines.append(f"/context {name} <what the agent should know>")
    return [*lines, "```"]


def _asked_details(question: Question) -> list[str]:
    lines: list[str] = []
    if question.why:
        lines += [f"**Why it matters:** {harmless(question.why, 1000)}", ""]
    return [*lines, *_options(question), *_tentative(question), *_added(question)]


def _fold(title: str, lines: list[str]) -> list[str]:
    if not any(lines):
        return []
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]
