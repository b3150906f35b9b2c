"""Others are told: channels through apprise, webhooks signed. Best effort; nothing waits for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import httpx

from app.actions import Notify, Publish
from app.config.models import Answerers
from app.deps import Deps
from app.events import Notified
from app.outlets.hooks import Delivered, Hook, deliver
from app.outlets.notify import send
from app.outlets.schemas import Envelope
from app.queue import EVENTS
from app.store import deliveries, outbox, threads
from app.store.outbox import Due, Later
from workers.drain import Drain

AT_ONCE = 20
TRIES = 6
"""Tries of one message; the last about five minutes after the first."""


class Outlets(Drain):
    """Tells channels and webhooks what happened."""

    def __init__(self, deps: Deps, crash: Callable[[str], None] = lambda point: None) -> None:
        super().__init__(deps, crash)
        self._client: httpx.AsyncClient | None = None

    async def lanes(self) -> list[str]:
        if len(self.held) >= AT_ONCE:
            return []
        due = await asyncio.to_thread(self._due)
        return [lane for lane in due if lane == outbox.OUTLETS]

    def _due(self) -> list[str]:
        with self.deps.engine.connect() as connection:
            return outbox.due_lanes(connection)

    @property
    def _rules(self) -> Answerers:
        """Channels, webhooks and their addresses are the server's alone."""
        return self.deps.policies.server_config().answerers

    async def work(self, due: Due) -> None:
        effect = due.effect
        match effect:
            case Notify():
                await self._notify(due, effect)
            case Publish():
                await self._publish(due, effect)
            case _:
                raise TypeError(f"{due.kind} tells nobody")

    async def _notify(self, due: Due, effect: Notify) -> None:
        url = self._rules.channel_url(effect.channel)
        if url is None:
            reason: str | None = "the server maps no such channel: see `channels` in answerers.yaml"
        else:
            reason = await send(url, effect.title, effect.body)
            if reason is not None and due.attempts < TRIES:
                await asyncio.to_thread(self._later, due, reason, None)
                return
        await asyncio.to_thread(self._notified, due, effect, reason)
        await asyncio.to_thread(self.deps.bell.ring, EVENTS)

    def _notified(self, due: Due, effect: Notify, reason: str | None) -> None:
        told = Notified(
            effect.feature_id, effect.question, effect.channel, reason is None, reason or ""
        )
        with self.deps.engine.begin() as connection:
            outbox.done(connection, due, {"reason": reason} if reason else None)
            place = threads.place_of(connection, effect.feature_id)
            deliveries.add_own(connection, f"kr:{due.key}", told, place)

    async def _publish(self, due: Due, effect: Publish) -> None:
        rules = self._rules
        hook = rules.hooks.get(effect.hook)
        if hook is None:
            outcome = Delivered(False, True, "the server has no such webhook any more")
        else:
            secret = os.environ.get(hook.secret_env, "") if hook.secret_env else ""
            if self._client is None:
                self._client = httpx.AsyncClient(trust_env=False)
            event = Envelope.model_validate(dict(effect.event))
            allow = frozenset(rules.allow_hosts)
            outcome = await deliver(self._client, Hook(hook.url, secret), event, allow=allow)
        await asyncio.to_thread(self._published, due, outcome)

    def _published(self, due: Due, outcome: Delivered) -> None:
        if outcome.ok:
            with self.deps.engine.begin() as connection:
                outbox.done(connection, due)
        elif outcome.final or due.attempts >= TRIES:
            with self.deps.engine.begin() as connection:
                outbox.failed(connection, due, outcome.reason)
        else:
            self._later(due, outcome.reason, outcome.wait)

    def _later(self, due: Due, reason: str, wait: float | None) -> None:
        seconds = wait if wait is not None else min(2.0 * 3**due.attempts, 300.0)
        with self.deps.engine.begin() as connection:
            outbox.again(connection, due, Later(seconds, doubtful=False, error=reason))
