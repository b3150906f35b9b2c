"""One delivery, from the row that GitHub's request left to the decision that is stored.

Load the facts, decide, store state and effects in one transaction, ring. Whoever dies on the way
leaves the row as it was, and somebody else does it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, assert_never

from app.actions import (
    Action,
    AgentEffect,
    DropEffects,
    GitHubEffect,
    Record,
    SaveFeature,
    SaveQuestion,
)
from app.commands import parse
from app.events import (
    AgentAnswered,
    Commented,
    EffectFailed,
    Event,
    FilesCommitted,
    Labeled,
    OwnEvent,
    QuestionsGenerated,
)
from app.features.types import type_of
from app.github.payloads import read_event
from app.handlers import handle
from app.handlers.facts import Facts, Permission, Policy
from app.store import deliveries, log, outbox, threads
from app.store.deliveries import Claimed
from app.store.engine import Connection, from_json
from app.store.threads import Thread

_OWN: dict[str, type[OwnEvent]] = {
    kind.__name__: kind
    for kind in (QuestionsGenerated, AgentAnswered, FilesCommitted, EffectFailed)
}


def read(claimed: Claimed) -> Event | None:
    """The event in a stored delivery, or None for one that we do not act on."""
    payload = json.loads(claimed.payload)
    if claimed.event == "kr":
        event: Event = from_json(_OWN[claimed.action], payload)
        return event
    return read_event(claimed.event, claimed.guid, payload)


def wants_permission(event: Event) -> bool:
    """Whether the decision depends on what the sender may do."""
    match event:
        case Labeled():
            return type_of(event.label) is not None and not event.issue.pull_request
        case Commented():
            parsed = parse(event.body)
            return not event.sender.bot and bool(parsed.commands or parsed.errors)
        case _:
            return False


def _thread(connection: Connection, event: Event, permission: Permission) -> Thread | None:
    if isinstance(event, OwnEvent):
        return threads.lock_by_id(connection, event.feature_id)
    place = event.issue.place
    starts = isinstance(event, Labeled) and permission >= Permission.TRIAGE
    if starts and wants_permission(event) and not event.issue.closed:
        return threads.ensure(connection, place)
    return threads.lock(connection, place.repo_id, place.number)


def decide(
    connection: Connection,
    event: Event,
    policy: Policy,
    permission: Permission,
    now: datetime,
) -> list[Action]:
    """Load the facts under the feature's lock, and decide."""
    thread = _thread(connection, event, permission)
    facts = Facts(
        now=now,
        policy=policy,
        permission=permission,
        feature=thread.feature if thread else None,
        questions=thread.questions if thread else (),
        next_seq=thread.next_seq if thread else 1,
    )
    return handle(event, facts)


def apply(connection: Connection, actions: list[Action], now: datetime) -> set[str]:
    """Store what was decided. Returns the queues to ring after the commit."""
    queues: set[str] = set()
    for action in actions:
        match action:
            case SaveFeature():
                threads.save_feature(connection, action.feature)
            case SaveQuestion():
                threads.save_question(connection, action.feature_id, action.question)
            case Record():
                log.append(connection, action, now)
            case DropEffects():
                outbox.drop(connection, action.feature_id)
            case _ if isinstance(action, AgentEffect):
                outbox.put(connection, action)
                queues.add("agents")
            case _ if isinstance(action, GitHubEffect):
                outbox.put(connection, action)
                queues.add("outbox")
            case _:
                assert_never(action)
    return queues


def process(
    connection: Connection,
    claimed: Claimed,
    event: Event | None,
    policy: Policy,
    permission: Permission = Permission.NONE,
    crash: Callable[[str], None] = lambda point: None,
) -> set[str]:
    """All of one delivery's work, within the caller's transaction. Returns the queues to ring.

    Raises `FenceLost` if somebody else has the delivery by now: the caller must roll back.
    """
    now = datetime.now(UTC)
    queues: set[str] = set()
    if event is not None:
        queues = apply(connection, decide(connection, event, policy, permission, now), now)
    deliveries.finish(connection, claimed, state="done" if event else "ignored")
    crash("before-event-commit")
    return queues


def own_event(connection: Connection, event: OwnEvent, name: str, **place: Any) -> None:
    """Store an event of our own; `name` makes it happen once."""
    deliveries.add_own(connection, name, event, (place["repo_id"], place["number"]))
