"""Caps on what models may cost, and who they count for. Pure.

A cap is kept by setting aside, before each call, what the call may cost at most. What is not
known counts as too much: a model without a price is not asked while any cap is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

NEAR = 0.8
"""The share of a cap from which people are told."""


@dataclass(frozen=True, slots=True)
class Caps:
    """USD; None is without a cap."""

    question: float | None = None
    """For one question, in all; what is done for no single one counts for the issue alone."""
    feature: float | None = None
    """For one issue, in all."""
    repository: float | None = None
    """For one repository and calendar month (UTC)."""
    day: float | None = None
    """For the whole service and day (UTC)."""
    person: float | None = None
    """For what one person set off in a day (UTC)."""
    task: float | None = None
    """For one run of an execution task, in place of that for a question."""

    def of(self, *, task: bool) -> Caps:
        """Those that count for a task, or for anything else."""
        return replace(self, question=None) if task else replace(self, task=None)

    @property
    def any(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))


NO_CAPS = Caps()


@dataclass(frozen=True, slots=True)
class Spent:
    """USD spent and set aside so far, by what the caps count by."""

    question: float = 0.0
    feature: float = 0.0
    repository: float = 0.0
    day: float = 0.0
    person: float = 0.0
    task: float = 0.0


_WHAT = {
    "question": "for one question",
    "feature": "for this issue",
    "repository": "for this repository and month",
    "day": "for all repositories and this day",
    "person": "for what one person sets off in a day",
    "task": "for one run of a task",
}


def over(spent: Spent, most: float | None, caps: Caps, model: str) -> str | None:
    """Why a call that may cost `most` USD is not made; None if it may be.

    `most` is None where the price of the model is not known.
    """
    if most is None:
        if not caps.any:
            return None
        return (
            f"the price of the model {model} is not known, so that no budget can be kept;"
            " the operator can set it under `prices` in agents.yaml"
        )
    for name, have, cap in _each(spent, caps):
        if have + most > cap:
            return (
                f"the budget of ${cap:.2f} {_WHAT[name]} is used up"
                if have >= cap * NEAR
                else f"the budget of ${cap:.2f} {_WHAT[name]} does not hold a call that may"
                f" cost ${most:.2f} (${have:.2f} is spent)"
            )
    return None


def near(spent: Spent, caps: Caps) -> tuple[str, ...]:
    """A line for each cap of which 80 % or more is spent."""
    return tuple(
        f"{_percent(have, cap)} % of the ${cap:.2f} {_WHAT[name]} is spent"
        for name, have, cap in _each(spent, caps)
        if have >= cap * NEAR
    )


def _percent(have: float, cap: float) -> int:
    return round(100 * have / cap) if cap else 100


def _each(spent: Spent, caps: Caps) -> Iterator[tuple[str, float, float]]:
    for field in fields(caps):
        cap = getattr(caps, field.name)
        if cap is not None:
            yield field.name, getattr(spent, field.name), cap
