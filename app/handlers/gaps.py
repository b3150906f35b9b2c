"""What an agent says it does not know becomes questions of their own (specs/2, Gap Detection)."""

from __future__ import annotations

from dataclasses import replace

from app.features.model import FULL, Question, global_id
from app.handlers.turn import Turn
from app.questions.gaps import Gap, parse_gaps
from app.questions.model import Answer

AT_MOST = 5
"""Gaps of one question, over all its answers; more would drown whoever is asked."""
DEEP = 3
"""How far gaps of gaps are followed."""


def take_out(turn: Turn, question: Question, answer: Answer) -> Answer:
    """The answer without its gap blocks; each whole one is a question now.

    A broken block stays in the text, and is named among what makes the answer uncertain.
    """
    content, rationale = parse_gaps(answer.content), parse_gaps(answer.rationale)
    found, errors = (*content.gaps, *rationale.gaps), (*content.errors, *rationale.errors)
    room = _room(turn, question)
    for gap in found[:room]:
        _create(turn, question, gap, answer.agent)
    reasons = [f"A `<gap>` block in line {error.line}: {error.reason}" for error in errors]
    if found[room:]:
        left = "; ".join(gap.question for gap in found[room:])
        reasons.append(f"Left open, because too much is asked already: {left}")
    if errors:
        turn.record(
            "gap.broken",
            answer.agent,
            question,
            errors=[[error.line, error.reason] for error in errors],
        )
    return replace(
        answer,
        content=content.text.strip(),
        rationale=rationale.text.strip(),
        uncertainty_reasons=(*answer.uncertainty_reasons, *reasons),
    )


def _room(turn: Turn, question: Question) -> int:
    """How many more gaps are followed: bounded in depth, for one question, and for all."""
    asked = sum(other.gap_of == question.number for other in turn.questions)
    if _depth(turn, question) >= DEEP or len(turn.questions) >= FULL:
        return 0
    return max(AT_MOST - asked, 0)


def blocks(turn: Turn, question: Question) -> bool:
    """Whether the question waits for a gap of its own that is `blocking`."""
    return any(
        other.gap_of == question.number and other.urgency == "blocking" and not other.ended
        for other in turn.questions
    )


def _depth(turn: Turn, question: Question) -> int:
    depth, here = 0, question
    while here.gap_of is not None and depth <= DEEP:
        above = turn.question(here.gap_of)
        if above is None:
            break
        depth, here = depth + 1, above
    return depth


def _create(turn: Turn, asked_for: Question, gap: Gap, handle: str) -> None:
    if any(other.gap_of == asked_for.number and other.text == gap.question
           for other in turn.questions):  # fmt: skip
        return  # the same agent asked again for what it was told
    number = max(question.number for question in turn.questions) + 1
    question = turn.put(
        Question(
            number=number,
            gid=global_id(turn.feature.id, number),
            topic=gap.topic,
            text=gap.question,
            context=gap.context,
            why=f"{handle} needs it to answer {asked_for.name}.",
            asker=handle,
            urgency=gap.urgency,
            gap_of=asked_for.number,
            value=asked_for.value,
        )
    )
    turn.record(
        "question",
        handle,
        question,
        id=question.gid,
        topic=gap.topic,
        target=None,
        text=gap.question,
        context=gap.context,
        urgency=gap.urgency,
        gap_of=asked_for.name,
    )
    if gap.urgency == "blocking":
        waiting = turn.question(asked_for.number) or asked_for
        turn.put(replace(waiting, depends_on=(*waiting.depends_on, number)))
