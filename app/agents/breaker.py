"""How patient the forwarder is, and the circuit breaker that spares a provider that is down."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.agents.protocols import AgentUnavailable


@dataclass(frozen=True, slots=True)
class Rules:
    """How patient the forwarder is. Times are in seconds."""

    tries: int = 4
    first_pause: float = 0.5
    """Doubles with every try; a random part of it is waited."""
    longest_pause: float = 20.0
    longest_wait: float = 60.0
    """The longest `Retry-After` that is waited for."""
    connect: float = 10.0
    silence: float = 120.0
    """How long nothing may come, before the response or within it."""
    breaker_failures: int = 5
    breaker_seconds: float = 30.0
    chance: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic


class Unreached(AgentUnavailable):
    """The provider failed. `free` says that nothing can have been generated."""

    def __init__(self, text: str, *, free: bool, again: bool = False) -> None:
        super().__init__(text)
        self.free = free
        self.again = again
        """Whether another try may help and does no harm."""


class OutOfTime(Unreached):
    """It did not answer within the time of the call, which may have been short."""


@dataclass(slots=True)
class Passage:
    """A call's way through the breaker: how it went, as far as is known."""

    whole: bool = False
    """All of the answer came, whatever the client does with it."""
    failed: bool = False


class Breaker:
    """Refuses calls for a while after too many failed in a row, then tries one."""

    def __init__(self, name: str, rules: Rules) -> None:
        self._name = name
        self._rules = rules
        self._failures = 0
        self._until: float | None = None

    def check(self) -> None:
        """Raises `Unreached` while it is open."""
        if self._until is not None and self._rules.clock() < self._until:
            raise Unreached(f"{self._name} is not tried again before {self._when()}", free=True)

    @contextmanager
    def passage(self) -> Iterator[Passage]:
        """Let one call through and note how it went. Raises `Unreached` while it is open.

        A call that was given up by its client says nothing of the provider.
        """
        self.check()
        trial = self._until is not None
        if trial:  # the others wait for what becomes of this one
            self._open()
        passage = Passage()
        try:
            yield passage
        except OutOfTime:
            raise
        except Unreached:
            passage.failed = passage.failed or not passage.whole
            raise
        else:
            passage.whole = True
        finally:
            self._note(passage, trial)

    def state(self) -> str:
        """`closed`, or `open until 12:30:05 UTC`."""
        return "closed" if self._until is None else f"open until {self._when()}"

    def _note(self, passage: Passage, trial: bool) -> None:
        if passage.failed:
            self._failures += 1
            if trial or self._failures >= self._rules.breaker_failures:
                self._open()
        elif passage.whole:
            self._failures, self._until = 0, None
        elif trial:
            self._until = self._rules.clock()

    def _open(self) -> None:
        self._until = self._rules.clock() + self._rules.breaker_seconds

    def _when(self) -> str:
        left = (self._until or 0.0) - self._rules.clock()
        return f"{datetime.now(UTC) + timedelta(seconds=left):%H:%M:%S} UTC"
