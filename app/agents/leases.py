"""Leases of the forwarder: what an agent is given instead of a provider's key."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from app.agents.protocols import Account, AgentUnavailable
from app.questions.model import Cost


@dataclass(slots=True, eq=False)
class Lease:
    """The use of a provider for a while, on somebody's account."""

    base_url: str
    """What a client of this wire format takes as its base URL."""
    key: str = field(repr=False)
    """The ticket, which the client takes for its key."""
    provider: str
    account: Account
    seconds: float
    """How long it may work, from its first call on and without waits in line; 0 is unlimited."""
    cost: Cost = field(default_factory=Cost)
    """Of all calls so far; it is complete before the client has the end of an answer."""
    refusal: AgentUnavailable | None = None
    """Why the forwarder refused the last call or gave it up; None if it did not."""
    model: str = ""
    """Of the last call, as the provider named it."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    """Its calls under way."""
    _begun: float | None = None
    _waited: float = 0.0
    _waiting: int = 0
    _since: float = 0.0

    def left(self) -> float | None:
        """Seconds it may still work; None without limit."""
        if not self.seconds:
            return None
        now = self.clock()
        begun = now if self._begun is None else self._begun
        return begun + self.seconds + self.waited() - now

    def spent(self, cost: Cost) -> None:
        """Add what a call cost."""
        self.cost += cost

    def waited(self) -> float:
        """Seconds in which a call of it stood in line, a wait under way included."""
        return self._waited + (self.clock() - self._since if self._waiting else 0.0)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While a call stands in line. Waits at the same time count once."""
        if self._begun is None:
            self._begun = self.clock()
        if not self._waiting:
            self._since = self.clock()
        self._waiting += 1
        try:
            yield
        finally:
            waited = self.waited()
            self._waiting -= 1
            if not self._waiting:
                self._waited = waited

    async def watch(
        self, work: Coroutine[Any, Any, None], gone: Coroutine[Any, Any, object]
    ) -> bool:
        """Do the work of a call until its client is gone; False if the lease ended before both."""
        task, leaving = asyncio.create_task(work), asyncio.create_task(gone)
        self.tasks.add(task)
        try:
            await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left = leaving.done()
            task.cancel()
            leaving.cancel()
            await asyncio.gather(task, leaving, return_exceptions=True)
            self.tasks.discard(task)
        return left or not task.cancelled()


class Leases:
    """The leases that have not ended, found by their tickets."""

    def __init__(self) -> None:
        self._lent: dict[bytes, Lease] = {}
        self._ending: WeakSet[asyncio.Task[None]] = WeakSet()

    @contextmanager
    def lend(self, lease: Lease) -> Iterator[Lease]:
        """The lease until it ends; what is then under way is given up."""
        digest = _digest(lease.key)
        self._lent[digest] = lease
        try:
            yield lease
        finally:
            self._lent.pop(digest, None)
            self._give_up(lease)

    def find(self, ticket: str, provider: str) -> Lease | None:
        """The lease of this ticket, if it is good for this provider."""
        lease = self._lent.get(_digest(ticket))
        return lease if lease is not None and lease.provider == provider else None

    async def end(self) -> None:
        """End them all, and wait until what was under way is in the books."""
        for lease in self._lent.values():
            self._give_up(lease)
        self._lent.clear()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _give_up(self, lease: Lease) -> None:
        self._ending.update(lease.tasks)
        for task in lease.tasks:
            task.cancel()


def new_ticket() -> str:
    """An unguessable one."""
    return f"kr-{secrets.token_urlsafe(32)}"


def _digest(ticket: str) -> bytes:
    """Tickets are looked up by this, so that the time it takes tells nothing of them."""
    return hashlib.sha256(ticket.encode()).digest()
