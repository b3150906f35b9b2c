"""The loop that carries waiting calls keeps its books when a lease of its own has run out."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from app.deps import Deps
from app.store.deliveries import FenceLost
from app.store.outbox import Due
from workers.agents import patiently
from workers.drain import Drain


class Waiting(Drain):
    """Work that ends when it is told to, with a lost fence."""

    gives_up = True
    ended: list[str]

    async def lanes(self) -> list[str]:
        return []

    async def work(self, due: Due) -> None:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            self.ended.append(due.key)
            raise FenceLost(due.key) from None


def due(fence: int) -> Due:
    return cast(Due, SimpleNamespace(id=7, key=f"fence {fence}", fence=fence, attempts=1))


def take(drain: Waiting, loop: Any, one: Due) -> asyncio.Task[None]:
    """As `_claim` does after it has a row."""
    drain._give_up(one.id)
    drain.held[one.id] = one
    task = loop.create_task(drain._one(one))
    drain._task_of[one.id] = task
    return task


def test_a_row_claimed_again_has_one_task_which_stays_in_hand() -> None:
    async def play() -> None:
        drain = Waiting(cast(Deps, None))
        drain.ended = []
        loop = asyncio.get_running_loop()
        first = take(drain, loop, due(1))
        await asyncio.sleep(0)
        second = take(drain, loop, due(2))
        await asyncio.wait([first])
        assert drain.ended == ["fence 1"]
        assert drain.held[7].fence == 2  # the old one's end is not the new one's
        assert drain._task_of[7] is second
        second.cancel()
        await asyncio.wait([second])
        assert drain.held == {}
        assert drain._task_of == {}

    asyncio.run(play())


def test_a_database_that_comes_back_costs_no_second_call() -> None:
    from sqlalchemy.exc import OperationalError

    tries = []

    def read(key: str) -> str:
        tries.append(key)
        if len(tries) < 3:
            raise OperationalError("select", {}, Exception("gone"))
        return "0.01"

    assert asyncio.run(patiently(read, "f1:Q1:ask:1")) == "0.01"
    assert len(tries) == 3
