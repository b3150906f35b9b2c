"""What an agent is given with a question."""

from __future__ import annotations

from app.features.model import Question
from app.handlers.turn import Turn
from app.questions.model import Inquiry


def inquiry(turn: Turn, question: Question, role: str) -> Inquiry:
    """What the agent is given: the question and its context, nothing of the repository."""
    earlier = [turn.question(number) for number in question.depends_on]
    capability = question.routed.capability if question.routed else None
    return Inquiry(
        role=role,
        topic=question.topic,
        text=question.text,
        context=question.context,
        why=question.why,
        choices=question.choices,
        recommended=question.recommended,
        feature_title=turn.feature.title,
        added_context=tuple(added.text for added in question.added),
        earlier=tuple(
            (other.text, _shortened(other.answer)) for other in earlier if other and other.settled
        ),
        capability=capability,
        model=turn.facts.policy.model_for(role, capability),
        said=tuple((said.by, said.text) for said in question.chat),
    )


HANDED_ON = 8_000
"""Characters of an earlier answer that the next agent is given; the log has all of it."""


def _shortened(answer: str) -> str:
    if len(answer) <= HANDED_ON:
        return answer
    return f"{answer[:HANDED_ON]} … (shortened: {len(answer):,} characters in all)"
