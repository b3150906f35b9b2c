"""What models cost, kept with the feature for everybody to see."""

from __future__ import annotations

from typing import Any

from app.events import Spending
from app.handlers.turn import Turn
from app.questions.model import Cost


def count(turn: Turn, spending: Spending) -> None:
    """Add what a piece of work cost; where the caps stand is always the newest word."""
    if spending.cost is None:
        return
    turn.update(cost=turn.feature.cost + spending.cost, near=spending.near)


def logged(cost: Cost | None) -> dict[str, Any] | None:
    """A cost as it stands in the log."""
    if cost is None:
        return None
    return {
        "usd": cost.usd,
        "input_tokens": cost.input_tokens,
        "output_tokens": cost.output_tokens,
        "calls": cost.calls,
    }
