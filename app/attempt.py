"""One try at one effect: what it may come to, and the right to write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from app.github.apps import Apps
from app.github.client import RepoClient
from app.store.outbox import Due, Later

LOOKS = 2
"""How often an effect is looked for before it is done again."""
LAG = 1.2
"""Seconds between looks: what was written may not be visible at once."""
GIVE_UP = 10
"""Tries after which a refusal is final."""


@dataclass(frozen=True, slots=True)
class Done:
    """It stands. `result` is kept with the effect, for the next time."""

    result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Again:
    """Not yet; `block` holds the whole lane as long."""

    later: Later
    block: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """It cannot be done; `reason` is for people."""

    reason: str


Outcome = Done | Again | Failed
Permit = Callable[[], Awaitable[float]]
"""Takes the right to one write; returns 0, or how many seconds to wait for it."""


class Wait(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one effect: the clients, what is known of earlier tries, the write lane."""

    apps: Apps
    client: RepoClient
    """Under the first App's name."""
    due: Due
    permit: Permit
    crash: Callable[[str], None] = lambda point: None
    """Tests stop the process here; the names are the crash points."""

    async def write(self, call: Awaitable[Any]) -> Any:
        """A write, when the lane lets it through."""
        wait = await self.permit()
        if wait > 0:
            if hasattr(call, "close"):
                call.close()
            raise Wait(wait)
        self.crash("before-write")
        found = await call
        self.crash("after-write")
        return found
