"""Deliveries are stored as they arrive, many in one commit.

While one batch is being committed the next one gathers: the busier it is, the larger the batches,
and each request is answered only after its own row is on disk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg

from app.store.engine import normal_url
from app.store.packing import pack

logger = logging.getLogger(__name__)

_INSERT = """
INSERT INTO deliveries (guid, event, action, repo_id, issue, payload, state, finished_at)
SELECT guid, event, action, repo_id, issue, payload, state,
       CASE WHEN state = 'ignored' THEN now() END
  FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %b::bytea[],
              %s::text[])
       AS d (guid, event, action, repo_id, issue, payload, state)
    ON CONFLICT (guid) DO UPDATE
   SET state = 'new', attempts = 0, due_at = now()
 WHERE deliveries.state = 'dead'
RETURNING guid
"""
_LARGEST = 200
_COMMITS = 2
"""Batches under way at once: one gathers its rows while the other waits for the disk."""
PATIENCE = 6.0
"""Seconds in which a database may come back; GitHub waits ten for our answer."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A delivery as it came in; one that we do not act on is stored as `ignored` at once."""

    guid: str
    event: str
    action: str
    repo_id: int | None
    issue: int | None
    payload: bytes
    used: bool


class Inbox:
    """Stores arrivals; `on_stored` is called after each commit that leaves work to do."""

    def __init__(
        self,
        database_url: str,
        on_stored: Callable[[int], None],
        crash: Callable[[str], None] = lambda point: None,
    ) -> None:
        self._url = normal_url(database_url).replace("postgresql+psycopg://", "postgresql://")
        self._on_stored = on_stored
        self._crash = crash
        self._waiting: list[tuple[Arrival, asyncio.Future[None]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: list[psycopg.AsyncConnection[Any]] = []

    async def store(self, arrival: Arrival) -> None:
        """Returns when the delivery is committed. Raises `psycopg.Error` if it could not be."""
        stored = asyncio.get_running_loop().create_future()
        self._waiting.append((arrival, stored))
        if len(self._tasks) < _COMMITS:
            task = asyncio.create_task(self._flush())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await stored

    async def close(self) -> None:
        await asyncio.gather(*self._tasks)
        for connection in self._idle:
            await connection.close()

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_LARGEST], self._waiting[_LARGEST:]
            try:
                self._crash("before-intake-commit")
                await self._insert([arrival for arrival, _ in batch])
                self._crash("after-intake-commit")
            except (psycopg.Error, OSError) as error:
                for _, stored in batch:
                    if not stored.done():
                        stored.set_exception(error)
                continue
            for _, stored in batch:
                if not stored.done():
                    stored.set_result(None)
            if work := sum(arrival.used for arrival, _ in batch):
                self._on_stored(work)

    async def _insert(self, arrivals: list[Arrival]) -> None:
        once = {arrival.guid: arrival for arrival in arrivals}
        rows = list(once.values())
        values = (
            [row.guid for row in rows],
            [row.event for row in rows],
            [row.action for row in rows],
            [row.repo_id for row in rows],
            [row.issue for row in rows],
            [pack(row.payload) for row in rows],
            ["new" if row.used else "ignored" for row in rows],
        )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                await self._execute(values)
            except (psycopg.OperationalError, OSError):
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.2)  # a server that restarts; the insert is safe to repeat
            else:
                return

    async def _execute(self, values: tuple[object, ...]) -> None:
        if self._idle:
            connection = self._idle.pop()
        else:
            connection = await psycopg.AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=5
            )
        try:
            await connection.execute(_INSERT, values, prepare=True)
        except BaseException:
            await connection.close()
            raise
        self._idle.append(connection)
