"""What was left behind is rung for again; GitHub's failed deliveries are asked for again."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from datetime import datetime

from app.deps import Deps
from app.events import AllowanceEnded, ClockStruck
from app.github.client import AppClient, GitHubError
from app.questions.durations import duration
from app.queue import AGENTS, EVENTS, OUTBOX
from app.redelivery import ask_again
from app.store import allowances, deliveries, health, outbox, waiting
from app.store.engine import Connection, DatabaseError, only_one

logger = logging.getLogger(__name__)

SWEEP = 2.0
"""Seconds between two sweeps of what was left behind."""
FAILED = 60.0
"""Seconds between two looks at GitHub's list of failed deliveries."""
_LOCK = 7_305_413  # one timer at a time does the asking, however many run


def strike(connection: Connection) -> int:
    """Tell the handlers of every question whose moment has come. Returns how many.

    The moment is part of the event's name: however often it is told, it happens once.
    """
    due = waiting.overdue(connection)
    for one in due:
        event = ClockStruck(one.feature_id, one.question, one.at)
        name = f"kr:f{one.feature_id}:Q{one.question}:clock:{one.at}"
        deliveries.add_own(connection, name, event, (one.repo_id, one.issue))
    return len(due)


def call_in(connection: Connection) -> int:
    """Tell the handlers of every allowance that has run out. Returns how many commits they were
    for.
    """
    found = allowances.ended(connection)
    for one in found:
        place = one.place
        name = f"kr:allowed:{place.repo_id}:{place.number}:{one.head}:{uuid.uuid4().hex}"
        event = AllowanceEnded(0, place, one.head)
        deliveries.add_own(connection, name, event, (place.repo_id, place.number))
    return len(found)


class Timer:
    """A plain loop; timers are rows, so nothing is lost when it dies."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._app = AppClient(deps.settings)
        self._loop = asyncio.Runner()
        self._stop = threading.Event()
        self._web: datetime | None = None
        self._ask_in = [0.0]
        self._eager = 1
        """Looks for which nothing waits its turn: something of ours was away."""
        self._thread: threading.Thread | None = None

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Until `stop()`. Failed deliveries are looked for at the start, too: we were away."""
        while not self._stop.is_set():
            self.sweep()
            if min(self._ask_in) <= 0 and not self._asking():
                # GitHub may be slow just when much has failed; the sweep must not wait for it.
                back, self._eager = self._eager > 0, max(self._eager - 1, 0)
                self._thread = threading.Thread(
                    target=self.ask_for_failed, args=(back,), daemon=True
                )
                self._thread.start()
                self._ask_in = [wait for wait in self._ask_in if wait > 0] or [FAILED]
            pause = self._pause()
            self._stop.wait(pause)
            self._ask_in = [wait - pause for wait in self._ask_in]

    def _asking(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _pause(self) -> float:
        """Deadlines are looked at with every sweep, and so often as `check_interval` says."""
        rules = self._deps.policies.server_config().answerers
        return min(SWEEP, duration(rules.check_interval).total_seconds())

    def ask_soon(self) -> None:
        """Something of ours was away: ask now, and once more when GitHub's list has caught up."""
        self._ask_in = [0.0, 3 * SWEEP]
        self._eager = 2

    def sweep(self) -> None:
        """Ring for everything that is due and in nobody's hand."""
        try:
            with self._deps.engine.begin() as connection:
                released = health.release_the_dead(connection)
                strike(connection)
                call_in(connection)
                events = deliveries.waiting(connection)
                lanes = outbox.due_lanes(connection)
                web = health.newest_web(connection)
        except DatabaseError as error:
            logger.warning("no sweep: %s", str(error).splitlines()[0])
            self.ask_soon()
            return
        if web != self._web:
            self._web = web
            self.ask_soon()
        if released:
            logger.info("took %s leases from processes that are no more", released)
        if events:
            self._deps.bell.ring(EVENTS, min(events, self._deps.settings.workers))
        if any(lane.startswith("github:") for lane in lanes):
            self._deps.bell.ring(OUTBOX)
        if any(lane in {outbox.AGENTS, outbox.TASKS} or lane.startswith("git:") for lane in lanes):
            self._deps.bell.ring(AGENTS)

    def ask_for_failed(self, back: bool = False) -> None:
        """One timer of all asks; the others find the lock taken."""
        try:
            with only_one(self._deps.engine, _LOCK) as mine:
                asked = (
                    self._loop.run(ask_again(self._app, self._deps.engine, back=back))
                    if mine
                    else 0
                )
            with self._deps.engine.begin() as connection:
                health.forget_the_old(connection)
        except (GitHubError, DatabaseError) as error:
            logger.warning("no look at failed deliveries: %s", str(error).splitlines()[0])
        else:
            if asked:
                logger.info("asked GitHub for %s failed deliveries again", asked)
