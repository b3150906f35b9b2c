"""Deliveries become decisions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from app.deps import Deps
from app.events import Event, OwnEvent
from app.github.client import AppClient, GitHubError
from app.handlers.facts import Permission
from app.intake import process, read, wants_permission
from app.queue import EVENTS
from app.store import deliveries
from app.store.deliveries import Claimed, FenceLost
from app.store.engine import Connection, OperationalError

logger = logging.getLogger(__name__)

BUDGET = 5.0
"""Seconds for one ring; what is left then is rung for again, so that a stop is never far."""


class Events:
    """Claims deliveries one by one and works them off."""

    def __init__(self, deps: Deps, crash: Callable[[str], None] = lambda point: None) -> None:
        self._deps = deps
        self._crash = crash
        self._app = AppClient(deps.settings)
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
            permission = self._permission(event)
            with self._deps.engine.begin() as connection:
                queues = process(
                    connection, claimed, event, self._deps.policy, permission, self._crash
                )
        except FenceLost:
            logger.info("delivery %s was taken over", claimed.guid)
        except (GitHubError, OperationalError) as error:
            self._put_back(claimed, error, passing=True)
        except Exception as error:
            logger.exception("delivery %s failed", claimed.guid)
            self._put_back(claimed, error, passing=False)
        else:
            self._crash("after-event-commit")
            for queue in queues:
                self._deps.bell.ring(queue)

    def _permission(self, event: Event | None) -> Permission:
        if event is None or isinstance(event, OwnEvent) or not wants_permission(event):
            return Permission.NONE

        async def ask() -> str:
            client = await self._app.repository(event.issue.place)
            return await client.permission(event.sender.login)

        return Permission[self._loop.run(ask()).upper()]

    def _put_back(self, claimed: Claimed, error: Exception, *, passing: bool) -> None:
        with self._deps.engine.begin() as connection:
            deliveries.put_back(connection, claimed, f"{error!r}", passing=passing)
