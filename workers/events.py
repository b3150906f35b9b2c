"""Deliveries become decisions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from app.deps import Deps
from app.github.client import GitHubError
from app.intake import give_up, process, read
from app.queue import EVENTS
from app.store import deliveries
from app.store.deliveries import Claimed, FenceLost
from app.store.engine import Connection, OperationalError
from workers.asker import Asker

logger = logging.getLogger(__name__)

BUDGET = 5.0
"""Seconds for one ring; what is left then is rung for again, so that a stop is never far."""


_FINAL = frozenset({403, 404, 410, 422, 451})
"""What GitHub goes on to answer: it must not hold up all that comes after it."""


class Events:
    """Claims deliveries one by one and works them off."""

    def __init__(self, deps: Deps, crash: Callable[[str], None] = lambda point: None) -> None:
        self._deps = deps
        self._crash = crash
        self._asker = Asker(deps)
        self._loop = asyncio.Runner()
        self._in_hand: Claimed | None = None

    def renew(self, connection: Connection) -> None:
        """Called by the beat."""
        if claimed := self._in_hand:
            deliveries.hold(connection, claimed)

    def drain(self) -> None:
        """Work until nothing is due, or the time is up."""
        end = time.monotonic() + BUDGET
        while time.monotonic() < end:
            with self._deps.engine.begin() as connection:
                claimed = deliveries.claim(connection)
            if claimed is None:
                return
            self._crash("after-event-claim")
            self._in_hand = claimed
            try:
                self._work(claimed)
            finally:
                self._in_hand = None
        self._deps.bell.ring(EVENTS)

    def _work(self, claimed: Claimed) -> None:
        try:
            event = read(claimed)
            sender, policy = self._loop.run(self._asker.ask(event))
            with self._deps.engine.begin() as connection:
                done = process(connection, claimed, event, policy, sender, self._crash)
        except FenceLost:
            logger.info("delivery %s was taken over", claimed.guid)
        except OperationalError as error:
            self._put_back(claimed, error, passing=True)
        except GitHubError as error:
            self._put_back(claimed, error, passing=error.rate_limited or error.status not in _FINAL)
        except Exception as error:
            logger.exception("delivery %s failed", claimed.guid)
            self._put_back(claimed, error, passing=False)
        else:
            self._crash("after-event-commit")
            for queue in done.queues:
                self._deps.bell.ring(queue)
            self._deps.stream.publish(done.events)

    def _put_back(self, claimed: Claimed, error: Exception, *, passing: bool) -> None:
        with self._deps.engine.begin() as connection:
            dead = deliveries.put_back(connection, claimed, f"{error!r}", passing=passing)
            if dead:
                give_up(connection, claimed)
