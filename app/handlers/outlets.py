"""What came of telling a channel: logged, and nothing waits for it."""

from __future__ import annotations

from app.actions import Action
from app.events import Notified
from app.handlers.escalating import BARON
from app.handlers.facts import Facts
from app.handlers.turn import Turn


def notified(event: Notified, facts: Facts) -> list[Action]:
    """Write it down; the operator sees failures in `kr doctor`."""
    if facts.feature is None:
        return []
    turn = Turn(facts, facts.feature)
    turn.record(
        "notification",
        BARON,
        turn.question(event.question),
        channel=event.channel,
        ok=event.ok,
        reason=event.reason or None,
    )
    return turn.actions()
