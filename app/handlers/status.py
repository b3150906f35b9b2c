"""`/status`: where the feature stands."""

from __future__ import annotations

from app.handlers.drawing import draw
from app.handlers.outcome import Outcome
from app.handlers.turn import Turn
from app.texts import replies


def status(turn: Turn) -> Outcome:
    """Say it, and redraw the status comment."""
    draw(turn)
    return Outcome(replies.status_reply(turn.feature, turn.questions))
