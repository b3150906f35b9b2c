"""The facts of a decision: loaded under the feature's lock, with what GitHub was asked before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from app.actions import Action
from app.commands import Ask, Parsed, Why, parse
from app.events import (
    AllowanceEnded,
    Closed,
    Commented,
    Event,
    Labeled,
    OwnEvent,
    PullChanged,
    PullClosed,
    Reopened,
    Unlabeled,
)
from app.features.dispatch import Planned
from app.features.types import type_of
from app.handlers import handle
from app.handlers.facts import Facts, Head, HumanLoad, Line, Load, Permission, Policy, Wrong
from app.scopes.pulls import Allowance, Pull
from app.store import allowances, log, threads, waiting
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
    others: tuple[Pull, ...] = ()
    templates: tuple[str, ...] = ()
    planned: Planned | None = None
    head: Head | None = None
    required: frozenset[str] | None = None
    quiet: bool = False


NOBODY = Sender()
ABOUT_DOCUMENTS = frozenset({"plan", "tasks", "go", "correct", "answer"})
"""Commands whose handlers want the documents as they are on the branch."""
ABOUT_PULLS = frozenset({"review", "allow"})
"""Commands whose handlers want the pull request as it is now."""


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
    if isinstance(event, PullChanged | PullClosed):
        return _of_branch(connection, place.repo_id, event.branch)
    if isinstance(event, Commented) and event.issue.pull_request:
        found = threads.lock_by_pull(connection, place.repo_id, place.number)
        if found is not None:
            return found
    if _starts(event, sender):
        return threads.ensure(connection, place)
    return threads.lock(connection, place.repo_id, place.number)


def _of_branch(connection: Connection, repo_id: int, branch: str) -> Thread | None:
    """The feature that a branch is of: its name begins with the issue's number."""
    digits = branch.partition("-")[0]
    if not digits.isdecimal() or len(digits) > 12:
        return None
    thread = threads.lock(connection, repo_id, int(digits))
    return thread if thread and thread.feature.branch == branch else None


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
    found = waiting.load(connection, thread.feature.id)
    return {who: Load(*counts) for who, counts in found.items()}


def _refreshed(connection: Connection, thread: Thread, event: Event) -> Thread:
    """Repositories are renamed and transferred, branches too: the newest event knows best."""
    if isinstance(event, OwnEvent):
        return thread
    issue, feature = event.issue, thread.feature
    branch = issue.default_branch or feature.default_branch
    place = replace(issue.place, number=feature.place.number)  # its pull request has another one
    if feature.place == place and feature.default_branch == branch:
        return thread
    if not place.installation:
        return thread
    feature = replace(feature, place=place, default_branch=branch)
    threads.save_feature(connection, feature)
    return replace(thread, feature=feature)


def _allowed(connection: Connection, event: Event, sender: Sender) -> tuple[Allowance, ...]:
    """What owners allowed for the newest commit of the pull request that the event is about."""
    if isinstance(event, PullChanged):
        place, head = event.issue.place, event.head
    elif isinstance(event, Commented) and sender.head is not None:
        place, head = event.issue.place, sender.head.sha
    elif isinstance(event, AllowanceEnded):
        place, head = event.place, event.head
    else:
        return ()
    return allowances.standing(connection, place.repo_id, place.number, head)


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
        others=sender.others,
        templates=sender.templates,
        planned=sender.planned,
        head=sender.head,
        required=sender.required,
        allowed=_allowed(connection, event, sender),
        quiet=sender.quiet,
    )
    if thread is not None:
        thread = _refreshed(connection, thread, event)
        facts = replace(
            facts,
            feature=thread.feature,
            questions=thread.questions,
            tasks=thread.tasks,
            next_seq=thread.next_seq,
            lines=_lines(connection, event, thread),
            load=load_of(connection, policy, thread),
        )
    return handle(event, facts), thread
