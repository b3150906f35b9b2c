"""A loop that carries many waiting calls: claims effects, has them done, stores what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from app.deps import Deps
from app.store import outbox
from app.store.deliveries import FenceLost
from app.store.engine import Connection, DatabaseError
from app.store.outbox import Due

logger = logging.getLogger(__name__)

IDLE = 1.0
"""Seconds after which the loop looks again by itself, rung or not: retries fall due."""


class Drain(ABC):
    """Runs in a thread with an event loop of its own; `ring()` may be called from anywhere."""

    gives_up = False
    """Whether work that nobody wants any more is broken off."""

    def __init__(self, deps: Deps, crash: Callable[[str], None] = lambda point: None) -> None:
        self.deps = deps
        self.crash = crash
        self.held: dict[int, Due] = {}
        self._loop = asyncio.new_event_loop()
        self._rung = asyncio.Event()
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._task_of: dict[int, asyncio.Task[None]] = {}
        self._thread = threading.Thread(target=self._run, name="drain", daemon=True)

    @abstractmethod
    async def lanes(self) -> list[str]:
        """The lanes in which this process may take one more."""

    @abstractmethod
    async def work(self, due: Due) -> None:
        """Do one effect and store what came of it."""

    def start(self) -> None:
        self._thread.start()

    @property
    def stopping(self) -> bool:
        return self._stopping

    def join(self) -> None:
        """Returns when the loop has ended, for whatever reason."""
        self._thread.join()

    def ring(self) -> None:
        self._loop.call_soon_threadsafe(self._rung.set)

    def stop(self, patience: float = 8.0) -> None:
        """Finish what is in hand, or hand it back; returns when the loop has ended."""
        self._stopping = True
        self.ring()
        self._thread.join(patience)

    async def end(self) -> None:  # noqa: B027 - most have nothing to close
        """Close whatever has to be closed when the loop ends."""

    def renew(self, connection: Connection) -> None:
        """Called by the beat. What was dropped or taken over meanwhile is given up at once."""
        held = list(self.held.values())
        ours = outbox.hold(connection, held)
        for due in held if self.gives_up else ():
            if due.id not in ours:
                self._loop.call_soon_threadsafe(self._give_up, due.id)

    def _give_up(self, number: int) -> None:
        task = self._task_of.get(number)
        if task is not None:
            task.cancel()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())

    async def _main(self) -> None:
        while not self._stopping:
            try:
                found = await self._claim()
            except DatabaseError as error:
                logger.warning("no database: %s", str(error).splitlines()[0])
                await asyncio.sleep(0.3)
                continue
            if not found:
                await self._wait()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=6.0)
        for task in self._tasks:  # what is under way is handed back, with all its processes ended
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.5)
        await self.end()

    async def _wait(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._rung.wait(), IDLE)
        self._rung.clear()

    async def _claim(self) -> bool:
        """Take one effect in each free lane; whether there was any."""
        found = False
        for lane in await self.lanes():
            due = await asyncio.to_thread(self._claim_one, lane)
            if due is None:
                continue
            found = True
            self.crash("after-effect-claim")
            self._give_up(due.id)  # our own lease may have run out: there is one task for a row
            self.held[due.id] = due
            task = self._loop.create_task(self._one(due))
            self._tasks.add(task)
            self._task_of[due.id] = task
            task.add_done_callback(self._tasks.discard)
        return found

    def _claim_one(self, lane: str) -> Due | None:
        with self.deps.engine.begin() as connection:
            return outbox.claim(connection, lane)

    async def _one(self, due: Due) -> None:
        try:
            await self.work(due)
        except FenceLost:
            logger.info("%s was taken over or dropped", due.key)
        except Exception as error:
            logger.exception("%s failed", due.key)
            await asyncio.to_thread(self._put_back, due, error)
        except asyncio.CancelledError:
            logger.info("%s was given up", due.key)
            raise
        finally:
            if self.held.get(due.id) is due:
                del self.held[due.id]
                self._task_of.pop(due.id, None)
            self._rung.set()

    def _put_back(self, due: Due, error: Exception) -> None:
        wait = min(0.5 * 2 ** min(due.attempts, 7), 60.0)
        try:
            with self.deps.engine.begin() as connection:
                later = outbox.Later(wait, doubtful=True, error=repr(error))
                outbox.again(connection, due, later)
        except DatabaseError:
            logger.warning("%s could not be put back; its lease will run out", due.key)
