"""A plain reply that clearly answers an open question is offered as its answer, never taken."""

from __future__ import annotations

from app.events import Commented
from app.features.model import FeatureState
from app.handlers.outcome import may_settle
from app.handlers.turn import Turn
from app.questions.offers import Open, offered
from app.texts import replies
from app.texts.safe import visible


def offer(turn: Turn, event: Commented) -> str:
    """What to say to a comment without a command; empty for nothing."""
    if turn.feature.state in {FeatureState.STOPPED, FeatureState.GONE}:
        return ""
    theirs = [
        Open(question.name, question.text, question.choices)
        for question in turn.questions
        if question.waits_for_a_person and may_settle(turn, question, event)
    ]
    found = offered(visible(event.body), theirs)
    return replies.is_this_your_answer(found.name, found.answer) if found else ""
