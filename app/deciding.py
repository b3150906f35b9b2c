"""The facts of a decision: loaded under the feature's lock, with what GitHub was asked before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from app.actions import Action
from app.commands import Ask, Parsed, Why, parse
from app.events import Closed, Commented, Event, Labeled, OwnEvent, Reopened, Unlabeled
from app.features.types import type_of
from app.handlers import handle
from app.handlers.facts import Facts, HumanLoad, Line, Load, Permission, Policy, Wrong
from app.scopes.pulls import Pull
from app.store import log, threads
from app.store.engine import Connection
from app.store.threads import Thread


@dataclass(frozen=True, slots=True)
class Sender:
    """What GitHub says of whoever did it: asked before the feature is locked."""

    permission: Permission = Permission.NONE
    teams: frozenset[str] = frozenset()
    labels: tuple[str, ...] | None = None
    closed: bool | None = None
    """The issue as it is now: a delivery may come late and out of order."""
    proposed: tuple[Wrong, ...] | None = None
    pull: Pull | None = None
    quiet: bool = False


NOBODY = Sender()


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


def load_of(connection: Connection, policy: Policy, thread: Thread) -> dict[str, Load]:
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
) -> tuple[list[Action], Thread | None]:
    """Load the facts under the feature's lock, and decide."""
    thread = _thread(connection, event, sender)
    facts = Facts(
        now=now,
        policy=policy,
        permission=sender.permission,
        teams=sender.teams,
        labels=sender.labels,
        closed=sender.closed,
        proposed=sender.proposed,
        pull=sender.pull,
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
            load=load_of(connection, policy, thread),
        )
    return handle(event, facts), thread
