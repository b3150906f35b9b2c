"""The comment in which a person is asked, and what becomes of it."""

from __future__ import annotations

from datetime import datetime

from app.features.model import Feature, Question
from app.questions.model import Answer, Cost, QuestionState
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
    lines += _answer_text(question.answer)
    if question.warning:
        lines += ["", f"⚠️ Take it with care: {harmless(question.warning, 400)}."]
    if question.person_asking and question.tentative and question.validated_by is None:
        lines += ["", *sources(question.tentative), *made_by(question.tentative)]
    lines += ["", *_fold("What was asked, and what was proposed", _asked_details(question))]
    lines += [f"<sub>Not right? `/correct {question.name} <the answer>`</sub>"]
    return "\n".join(lines)


SHORT = 1200
"""Characters of an answer that are shown at once; a longer one is folded."""
WHOLE = 20_000
"""Characters of an answer that a comment shows at all; the log has the rest."""


def _answer_text(text: str) -> list[str]:
    """A quoted answer: a long one folded, up to what a comment may hold."""
    shown = harmless(text, WHOLE).splitlines() or ["—"]
    quoted = [f"> {line}" for line in shown]
    if len(text) <= SHORT:
        return quoted
    rest = ["", "…the log has the whole answer: `kr log`."] if len(text) > WHOLE else []
    start = one_line(text, 300)
    return [f"> {harmless(start, 400)}", "", *_fold("The whole answer", [*quoted, *rest])]


def _verdict(question: Question) -> str:
    if question.warning and question.validated_by is None:
        return f"⌛ The answer of {persona(question.source)} is used."
    by = f"**{question.settled_by}**"
    if question.state is QuestionState.CONFIRMED:
        return f"✅ Confirmed by {by}; the answer is from {question.source}."
    if question.state is QuestionState.CORRECTED:
        return f"✅ Answered by {by}."
    if question.person_asking:
        return f"✅ {persona(question.source)} answers {question.person_asking}:"
    confidence = question.tentative.confidence if question.tentative else 0
    return f"✅ {persona(question.source)} is {confidence} % sure of this, which is enough."


def _open(question: Question, waiting: tuple[str, ...]) -> str:
    lines = [_heading(question), ""]
    lines += _progress(question)
    if question.why:
        lines += [f"**Why it matters:** {harmless(question.why, 1000)}", ""]
    lines += _recommendation(question)
    lines += _options(question)
    lines += _tentative(question)
    lines += _added(question)
    if question.context:
        lines += [*_fold("From the issue", harmless(question.context, 2000).splitlines())]
    lines += _candidates(question)
    if question.waits_for_a_person:
        lines += _who_is_asked(question, waiting)
        lines += _commands(question)
    return "\n".join([*lines, "", _routing_line(question)])


def _progress(question: Question) -> list[str]:
    """What goes on while nobody can do anything about it."""
    match question.state:
        case QuestionState.ASKING:
            who = question.ask_role or "an agent"
            return [f"⏳ {who} is asked; the answer will appear here.", ""]
        case QuestionState.PENDING:
            because = f": {harmless(question.note, 400)}" if question.note else ""
            return [f"⚪ Open again{because}.", ""]
        case QuestionState.DEFERRED:
            return [f"💤 {question.asked} has enough to answer just now; it comes later.", ""]
        case QuestionState.CANCELLED:
            return [f"✖️ Given up: {harmless(question.note, 400)}.", ""]
        case _:
            return []


def _candidates(question: Question) -> list[str]:
    """Who might know, where the topic names nobody."""
    if not question.candidates or not question.waits_for_a_person:
        return []
    lines = ["**Nobody is named for this topic. Who might know:**"]
    lines += [
        f"- {persona(one.handle)}: {harmless(one.because, 300)} —"
        f" `/route {question.name} {one.handle}`"
        for one in question.candidates
    ]
    return [*lines, ""]


def _routing_line(question: Question) -> str:
    if question.routed is None:
        return ""
    return f"<sub>Routed to {routing_line(question)} `/why {question.name}` tells more.</sub>"


def routing_line(question: Question) -> str:
    """To whom, by which rule, who is next: one line."""
    routed = question.routed
    if routed is None:
        return ""
    to = persona(routed.agent) if routed.agent else f"`{routed.answerer}`"
    rules = {"target": "as suggested", "default": "by default"}
    rule = rules.get(routed.rule, f"by the rule `{one_line(routed.rule, 80)}`")
    chain = ", ".join(f"`{answerer}`" for answerer, _ in routed.escalate_to)
    return f"{to} {rule}{f'; next: {chain}' if chain else ''}."


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
    lines += [*_answer_text(answer.content), ""]
    if answer.rationale:
        lines += [f"**Rationale:** {harmless(answer.rationale, 2000)}", ""]
    if answer.uncertainty_reasons:
        lines += ["**What makes it uncertain:**"]
        lines += [f"- {harmless(reason, 500)}" for reason in answer.uncertainty_reasons[:8]]
        lines += [""]
    lines += sources(answer)
    lines += made_by(answer)
    for other in question.others:
        lines += [f"**{other.agent} says otherwise**, {other.confidence} % sure:", ""]
        lines += [*_answer_text(other.content), "", *sources(other)]
    return lines


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


def cost_line(cost: Cost) -> str:
    """`$0.012, 3,210 tokens read and 480 written in 1 call`."""
    usd = "a price that nobody knows" if cost.usd is None else f"${cost.usd:.4f}"
    calls = "1 call" if cost.calls == 1 else f"{cost.calls} calls"
    return f"{usd}, {cost.input_tokens:,} tokens read and {cost.output_tokens:,} written in {calls}"


def made_by(answer: Answer) -> list[str]:
    """The model that it comes from and what it cost, folded."""
    if answer.cost is None:
        return []
    model = one_line(answer.model, 100).replace("`", "")
    stated = answer.stated
    lines = [f"- Model: `{model}` through `{answer.backend}`", f"- Cost: {cost_line(answer.cost)}"]
    if stated is not None and stated != answer.confidence:
        lines.append(f"- It said of itself that it is {stated} % sure.")
    return _fold("Model and cost", lines)


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
    asked = "A maintainer" if question.asked == "a maintainer" else f"@{question.asked}"
    if question.state is QuestionState.TIMEOUT:
        lines = [f"⌛ {note}. It can still be answered, and nobody is reminded any more."]
    else:
        lines = [f"**{asked}** is asked: {note}." if note else f"**{asked}** is asked."]
        lines += _by_when(question)
    held = ", ".join(waiting)
    if question.person_asking:
        held = question.person_asking
    lines += [
        f"Until then {held or 'the specification'} waits; nothing is decided without an answer.",
        "",
    ]
    return lines


def _by_when(question: Question) -> list[str]:
    """The deadline, and what happens at it."""
    clock = question.clock
    if not clock.deadline:
        return []
    by = datetime.fromisoformat(clock.deadline)
    after = harmless(question.after, 200) or "then it goes on waiting"
    line = f"An answer is hoped for by {by:%Y-%m-%d %H:%M} UTC; {after}."
    if clock.snoozed and not clock.reminded:
        until = datetime.fromisoformat(clock.remind_at)
        return [f"💤 Put off until {until:%Y-%m-%d %H:%M} UTC. {line}"]
    return [f"⏰ This is the reminder. {line}" if clock.reminded else line]


def _commands(question: Question) -> list[str]:
    name = question.name
    bound = f"{name}@{question.digest[:6]}"  # goes stale when what was read has changed
    lines = ["```text"]
    if question.tentative is not None:
        lines.append(f"/confirm {bound}")
    elif question.choice(question.recommended) is not None:
        lines.append(f"/confirm {bound}           take the recommendation")
    lines.append(f"/correct {name} <the answer, or a letter>")
    lines.append(f"/context {name} <what the agent should know>")
    lines.append(f"/chat {name}                     talk about it")
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
