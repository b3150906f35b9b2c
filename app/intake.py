"""One delivery, from the row that GitHub's request left to the decision that is stored.

Load the facts, decide, store state and effects in one transaction, ring. Whoever dies on the way
leaves the row as it was, and somebody else does it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import assert_never

from app.actions import (
    Action,
    AgentEffect,
    DropAgentWork,
    DropEffects,
    GitHubEffect,
    OutletEffect,
    React,
    Record,
    SaveFeature,
    SaveQuestion,
)
from app.commands import Ask, Parsed, Why, parse
from app.events import (
    AgentAnswered,
    AgentsSuggested,
    ClockStruck,
    Closed,
    Commented,
    EffectFailed,
    Event,
    FilesCommitted,
    Labeled,
    Notified,
    OwnEvent,
    QuestionAsked,
    QuestionsGenerated,
    Reopened,
    ToPeople,
    Unlabeled,
)
from app.features.types import type_of
from app.github.payloads import read_event
from app.handlers import handle
from app.handlers.facts import Facts, HumanLoad, Line, Load, Permission, Policy
from app.store import deliveries, log, outbox, threads
from app.store.deliveries import Claimed
from app.store.engine import Connection, from_json
from app.store.threads import Thread

_OWN: dict[str, type[OwnEvent]] = {
    kind.__name__: kind
    for kind in (
        QuestionsGenerated,
        AgentAnswered,
        AgentsSuggested,
        ClockStruck,
        QuestionAsked,
        ToPeople,
        Notified,
        FilesCommitted,
        EffectFailed,
    )
}


@dataclass(frozen=True, slots=True)
class Sender:
    """What GitHub says of whoever did it: asked before the feature is locked."""

    permission: Permission = Permission.NONE
    teams: frozenset[str] = frozenset()
    labels: tuple[str, ...] | None = None
    closed: bool | None = None
    """The issue as it is now: a delivery may come late and out of order."""
    quiet: bool = False


NOBODY = Sender()


def read(claimed: Claimed) -> Event | None:
    """The event in a stored delivery, or None for one that we do not act on."""
    payload = json.loads(claimed.payload)
    if claimed.event == "kr":
        event: Event = from_json(_OWN[claimed.action], payload)
        return event
    return read_event(claimed.event, claimed.guid, payload)


def commands_in(event: Event | None) -> Parsed | None:
    """What a person's comment asks for; None for everything else."""
    if isinstance(event, Commented) and not event.sender.bot:
        return parse(event.body)
    return None


def wants_permission(event: Event, *, people_are_asked: bool = False) -> bool:
    """Whether the decision depends on what the sender may do.

    Where people are asked, text without a command may be an answer or a turn of a conversation.
    """
    match event:
        case Labeled():
            return type_of(event.label) is not None and not event.issue.pull_request
        case Commented():
            parsed = commands_in(event)
            if parsed is None:
                return False
            return people_are_asked or bool(parsed.commands or parsed.errors)
        case _:
            return False


def _starts(event: Event, sender: Sender) -> bool:
    """Whether the event may make a feature's row: by a label, or by `/ask` on any issue."""
    trusted = sender.permission >= Permission.TRIAGE
    if isinstance(event, Labeled):
        return trusted and wants_permission(event) and not event.issue.closed
    if isinstance(event, Commented) and (parsed := commands_in(event)):
        by_author = event.sender.login.lower() == event.issue.author.lower()
        asks = any(isinstance(located.command, Ask) for located in parsed.commands)
        return asks and (trusted or by_author)
    return False


def _thread(connection: Connection, event: Event, sender: Sender) -> Thread | None:
    if isinstance(event, OwnEvent):
        return threads.lock_by_id(connection, event.feature_id)
    place = event.issue.place
    if _starts(event, sender):
        return threads.ensure(connection, place)
    return threads.lock(connection, place.repo_id, place.number)


def _lines(connection: Connection, event: Event, thread: Thread) -> tuple[Line, ...]:
    """The log, where a command shows it."""
    parsed = commands_in(event)
    if parsed is None or not any(isinstance(one.command, Why) for one in parsed.commands):
        return ()
    found = log.entries(connection, thread.feature.id)
    return tuple(Line(e.seq, e.at, e.kind, e.question, e.actor, e.data) for e in found)


def _load(connection: Connection, policy: Policy, thread: Thread) -> dict[str, Load]:
    """What people have to answer, where the configuration sets limits to it."""
    if policy.load == HumanLoad():
        return {}
    found = threads.load(connection, thread.feature.id)
    return {who: Load(*counts) for who, counts in found.items()}


def _refreshed(connection: Connection, thread: Thread, event: Event) -> Thread:
    """Repositories are renamed and transferred, branches too: the newest event knows best."""
    if isinstance(event, OwnEvent):
        return thread
    issue, feature = event.issue, thread.feature
    branch = issue.default_branch or feature.default_branch
    if feature.place == issue.place and feature.default_branch == branch:
        return thread
    if not issue.place.installation:
        return thread
    feature = replace(feature, place=issue.place, default_branch=branch)
    threads.save_feature(connection, feature)
    return replace(thread, feature=feature)


def wants_issue(event: Event) -> bool:
    """Whether the decision depends on the issue as it is now, not as it was when it was sent."""
    match event:
        case Labeled() | Unlabeled():
            return type_of(event.label) is not None and not event.issue.pull_request
        case Closed() | Reopened():
            return not event.issue.pull_request
        case _:
            return False


def decide(
    connection: Connection,
    event: Event,
    policy: Policy,
    sender: Sender,
    now: datetime,
) -> list[Action]:
    """Load the facts under the feature's lock, and decide."""
    thread = _thread(connection, event, sender)
    facts = Facts(
        now=now,
        policy=policy,
        permission=sender.permission,
        teams=sender.teams,
        labels=sender.labels,
        closed=sender.closed,
        quiet=sender.quiet,
    )
    if thread is not None:
        thread = _refreshed(connection, thread, event)
        facts = replace(
            facts,
            feature=thread.feature,
            questions=thread.questions,
            next_seq=thread.next_seq,
            lines=_lines(connection, event, thread),
            load=_load(connection, policy, thread),
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
            case DropAgentWork():
                outbox.drop(connection, action.feature_id, lane=outbox.AGENTS)
            case _ if isinstance(action, AgentEffect):
                outbox.put(connection, action)
                queues.add("agents")
            case _ if isinstance(action, GitHubEffect):
                outbox.put(connection, action)
                queues.add("outbox")
            case _ if isinstance(action, OutletEffect):
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
    sender: Sender = NOBODY,
    crash: Callable[[str], None] = lambda point: None,
) -> set[str]:
    """All of one delivery's work, within the caller's transaction. Returns the queues to ring.

    Raises `FenceLost` if somebody else has the delivery by now: the caller must roll back.
    """
    now = datetime.now(UTC)
    queues: set[str] = set()
    if event is not None:
        queues = apply(connection, decide(connection, event, policy, sender, now), now)
    deliveries.finish(connection, claimed, state="done" if event else "ignored")
    crash("before-event-commit")
    return queues


def give_up(connection: Connection, claimed: Claimed) -> None:
    """A delivery that fails for ever is not passed over in silence."""
    try:
        event = read(claimed)
    except Exception:
        return  # it cannot even be read; the operator sees it in `kr doctor`
    if isinstance(event, Commented) and commands_in(event):
        place = event.issue.place
        key = f"react:{place.repo_id}:{event.comment_id}:-1"
        outbox.put(connection, React(key, None, place, "-1", event.comment_id))
    elif isinstance(event, OwnEvent) and not isinstance(event, EffectFailed):
        reason = "Something went wrong inside; the operator finds it in the log of the service."
        told = EffectFailed(event.feature_id, "work", reason)
        place_of = threads.place_of(connection, event.feature_id)
        deliveries.add_own(connection, f"kr:dead:{claimed.guid}", told, place_of)
