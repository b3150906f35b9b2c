"""Deliveries become decisions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from app.config.inforce import Fetch, Unreachable
from app.deciding import (
    ABOUT_DOCUMENTS,
    ABOUT_PULLS,
    NOBODY,
    Sender,
    commands_in,
    wants_issue,
    wants_permission,
)
from app.deps import Deps
from app.events import (
    Closed,
    Commented,
    Event,
    FilesCommitted,
    GitHubEvent,
    OwnEvent,
    PullChanged,
    PullClosed,
    Pushed,
    Reopened,
    Unlabeled,
    Vanished,
)
from app.features.model import Feature, Place
from app.github.client import AppClient, GitHubError
from app.github.documents import read_planned, read_pull_head
from app.github.pulls import read_pull
from app.handlers.facts import Permission, Policy
from app.intake import give_up, process, read
from app.queue import EVENTS
from app.store import deliveries, threads, waiting
from app.store.deliveries import Claimed, FenceLost
from app.store.engine import Connection, OperationalError
from workers.patience import Patience

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
        self._patience = Patience()

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
            sender, policy = self._loop.run(self._ask_github(event))
            with self._deps.engine.begin() as connection:
                done = process(connection, claimed, event, policy, sender, self._crash)
        except FenceLost:
            logger.info("delivery %s was taken over", claimed.guid)
        except (GitHubError, OperationalError) as error:
            self._put_back(claimed, error, passing=True)
        except Exception as error:
            logger.exception("delivery %s failed", claimed.guid)
            self._put_back(claimed, error, passing=False)
        else:
            self._crash("after-event-commit")
            for queue in done.queues:
                self._deps.bell.ring(queue)
            self._deps.stream.publish(done.events)

    async def _ask_github(self, event: Event | None) -> tuple[Sender, Policy]:
        """What the decision needs to know that only GitHub knows. Raises `GitHubError`."""
        if event is None:
            return NOBODY, self._deps.policies.server()
        place = self._place(event)
        if place is None:
            return NOBODY, self._deps.policies.server()
        if isinstance(event, FilesCommitted):
            client = await self._app.repository(place)
            planned = await read_planned(client, self._feature(event), event.commit)
            return Sender(planned=planned), await self._policy(place)
        if isinstance(event, OwnEvent):
            return NOBODY, await self._policy(place)
        if isinstance(event, PullClosed):
            return NOBODY, await self._policy(place)
        if isinstance(event, Unlabeled | Closed | Reopened | Vanished | Pushed):
            with self._deps.engine.connect() as connection:
                if not threads.is_known(connection, place.repo_id, place.number):
                    return NOBODY, self._deps.policies.server()  # no feature: nothing to ask
        if isinstance(event, Pushed):
            return NOBODY, await self._policy(place)
        if isinstance(event, PullChanged):
            return await self._proposal(event, place)
        with self._deps.engine.connect() as connection:
            asked = waiting.open_for(connection, place.repo_id, place.number)
        sender = NOBODY
        if wants_permission(event, people_are_asked=bool(asked)):
            sender = await self._sender(event, asked)
        elif isinstance(event, Commented):
            return NOBODY, self._deps.policies.server()  # not for us
        if isinstance(event, Commented):
            sender = await self._documents(event, sender)
        if wants_issue(event):
            client = await self._app.repository(place)
            labels, closed = await client.issue_now(place.number)
            sender = replace(sender, labels=labels, closed=closed)
        return sender, await self._policy(place)

    async def _sender(self, event: GitHubEvent, asked: list[str]) -> Sender:
        client = await self._app.repository(event.issue.place)
        login = event.sender.login
        permission = Permission[(await client.permission(login)).upper()]
        if permission >= Permission.TRIAGE:
            return Sender(permission)
        teams = [who for who in asked if "/" in who and await client.is_member(who, login)]
        quiet = not self._patience.has(event.issue.place.installation, login)
        return Sender(permission, frozenset(teams), quiet=quiet)

    async def _documents(self, event: Commented, sender: Sender) -> Sender:
        """What commands about documents and pull requests need to know."""
        parsed = commands_in(event)
        named = {one.command.name for one in parsed.commands} if parsed else set()
        place = event.issue.place
        if event.issue.pull_request and named & ABOUT_PULLS:
            client = await self._app.repository(place)
            sender = replace(sender, head=await read_pull_head(client, place.number))
        if named & ABOUT_DOCUMENTS:
            with self._deps.engine.connect() as connection:
                known = waiting.feature_of(connection, place, event.issue.pull_request)
            if known is not None and known.written:
                client = await self._app.repository(place)
                sender = replace(sender, planned=await read_planned(client, known))
        return sender

    def _feature(self, event: OwnEvent) -> Feature:
        with self._deps.engine.connect() as connection:
            return threads.read_by_id(connection, event.feature_id).feature

    async def _proposal(self, event: PullChanged, place: Place) -> tuple[Sender, Policy]:
        """What a pull request changes, and the configuration that it brings."""
        server = self._deps.policies.server()
        client = await self._app.repository(place)
        organisation = place.repo.lower().endswith("/.github")
        path = "baron.yml" if organisation else ".github/baron.yml"
        slug = await self._app.slug()
        pull = await read_pull(client, event, ours=event.issue.author == f"{slug}[bot]")
        if path not in pull.paths:
            return Sender(pull=pull), server
        text = await client.text_at(path, event.head)
        wrong = await self._deps.policies.wrong_with(place.repo, path, text, self._fetcher(place))
        return Sender(proposed=wrong, pull=pull), server

    async def _policy(self, place: Place) -> Policy:
        return await self._deps.policies.of(place.repo, self._fetcher(place))

    def _place(self, event: Event) -> Place | None:
        if not isinstance(event, OwnEvent):
            return event.issue.place
        with self._deps.engine.connect() as connection:
            return threads.where(connection, event.feature_id)

    def _fetcher(self, place: Place) -> Fetch:
        async def fetch(repo: str, path: str) -> str | None:
            try:
                return await self._app.text(place, repo, path)
            except GitHubError as error:
                raise Unreachable(str(error)) from error

        return fetch

    def _put_back(self, claimed: Claimed, error: Exception, *, passing: bool) -> None:
        with self._deps.engine.begin() as connection:
            dead = deliveries.put_back(connection, claimed, f"{error!r}", passing=passing)
            if dead:
                give_up(connection, claimed)
