"""The meter of this service: prices, caps, and a ledger that outlives the process."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.agents.prices import Prices
from app.agents.protocols import Account, OverBudget, Tokens
from app.questions.caps import Caps, Spent, near, over
from app.questions.model import Cost

Check = Callable[[Spent], str | None]
"""Says why a call is not made, knowing what was spent before; None if it may be."""


class Ledger(Protocol):
    """Remembers calls. Blocks; the meter calls it from a thread."""

    def begin(
        self, account: Account, provider: str, model: str, most: float | None, check: Check
    ) -> int:
        """Set aside `most` USD if `check` allows it, as one step. Raises `OverBudget`."""
        ...

    def end(self, call: int, tokens: Tokens | None, usd: float | None) -> None:
        """What came of it; without tokens what was set aside stays spent."""
        ...

    def spent(self, account: Account) -> Spent:
        """What counts against the account's caps now."""
        ...

    def cost(self, key: str) -> Cost | None:
        """What a piece of work cost, all tries together; None if no model was called."""
        ...


class BudgetMeter:
    """`Meter` over a ledger. Caps (by repository) and prices are asked for anew for each call."""

    def __init__(
        self, ledger: Ledger, caps: Callable[[str], Caps], prices: Callable[[], Prices]
    ) -> None:
        self._ledger = ledger
        self._caps = caps
        self._prices_now = prices
        self._models: dict[int, tuple[str, str]] = {}

    async def begin(self, account: Account, provider: str, model: str, most: Tokens) -> int:
        """See `Meter.begin`."""
        call = await asyncio.to_thread(self._begin, account, provider, model, most)
        self._models[call] = (provider, model)
        return call

    def _begin(self, account: Account, provider: str, model: str, most: Tokens) -> int:
        caps = self._caps(account.repo).of(task=account.task)
        usd = self._prices_now().most(provider, model, most)

        def check(spent: Spent) -> str | None:
            return over(spent, usd, caps, model)

        return self._ledger.begin(account, provider, model, usd, check)

    async def end(self, call: int, tokens: Tokens | None) -> float | None:
        """See `Meter.end`."""
        provider, model = self._models.pop(call)
        prices = self._prices_now()
        usd = prices.of(provider, model, tokens) if tokens is not None else None
        await asyncio.to_thread(self._ledger.end, call, tokens, usd)
        return usd

    def standing(self, account: Account) -> tuple[str, ...]:
        """A line for each cap that is nearly used up; blocks."""
        return near(self._ledger.spent(account), self._caps(account.repo).of(task=account.task))

    def cost(self, key: str) -> Cost | None:
        """See `Ledger.cost`."""
        return self._ledger.cost(key)


@dataclass(slots=True)
class _Call:
    account: Account
    aside: float
    usd: float | None = None
    known: bool = True
    tokens: Tokens | None = None


class MemoryLedger:
    """A ledger for one process and its lifetime, where there is no database: `kr ask`."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def begin(
        self, account: Account, provider: str, model: str, most: float | None, check: Check
    ) -> int:
        """See `Ledger.begin`."""
        with self._lock:
            if (reason := check(self.spent(account))) is not None:
                raise OverBudget(reason)
            number = next(self._numbers)
            self._calls[number] = _Call(account, most or 0.0, known=most is not None)
            return number

    def end(self, call: int, tokens: Tokens | None, usd: float | None) -> None:
        """See `Ledger.end`."""
        self._calls[call].tokens = tokens
        self._calls[call].usd = usd

    def spent(self, account: Account) -> Spent:
        """All of it on one day."""

        def total(name: str) -> float:
            wanted = getattr(account, name)
            return sum(
                call.aside if call.usd is None else call.usd
                for call in self._calls.values()
                if getattr(call.account, name) == wanted
            )

        same = [c for c in self._calls.values() if c.account.feature_id == account.feature_id]
        return Spent(
            question=sum(
                call.aside if call.usd is None else call.usd
                for call in same
                if call.account.question == account.question != 0
            ),
            feature=total("feature_id"),
            repository=total("repo"),
            day=sum(c.aside if c.usd is None else c.usd for c in self._calls.values()),
            person=total("person"),
            task=total("key"),
        )

    def cost(self, key: str) -> Cost | None:
        """See `Ledger.cost`."""
        calls = [call for call in self._calls.values() if call.account.key == key]
        if not calls:
            return None
        tokens = [call.tokens or Tokens() for call in calls]
        usd = [(call.aside if call.usd is None else call.usd) if call.known else None
               for call in calls]  # fmt: skip
        return Cost(
            None if None in usd else sum(one for one in usd if one is not None),
            sum(one.read + one.cache_read + one.cache_written for one in tokens),
            sum(one.written for one in tokens),
            len(calls),
        )
