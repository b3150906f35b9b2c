"""One delivery, from the row that GitHub's request left to the decision that is stored.

Load the facts, decide, store state and effects in one transaction, ring. Whoever dies on the way
leaves the row as it was, and somebody else does it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, assert_never, get_args

from app.actions import (
    Action,
    AgentEffect,
    DropAgentWork,
    DropEffects,
    GitHubEffect,
    OutletEffect,
    Publish,
    React,
    Record,
    SaveAllowance,
    SaveFeature,
    SaveQuestion,
    SaveTask,
    TaskEffect,
)
from app.deciding import NOBODY, Sender, commands_in, decide
from app.events import (
    AgentAnswered,
    Commented,
    EffectFailed,
    Event,
    OwnEvent,
    PullChanged,
    PullJudged,
    TaskLanded,
    TaskRan,
)
from app.github.payloads import read_event
from app.handlers.facts import Policy
from app.handlers.pulls import undecided
from app.outward import told
from app.store import allowances, deliveries, log, outbox, threads
from app.store.deliveries import Claimed
from app.store.engine import Connection, from_json
from app.store.threads import Thread

_OWN: dict[str, type[OwnEvent]] = {kind.__name__: kind for kind in get_args(OwnEvent)}


def read(claimed: Claimed) -> Event | None:
    """The event in a stored delivery, or None for one that we do not act on."""
    payload = json.loads(claimed.payload)
    if claimed.event == "kr":
        event: Event = from_json(_OWN[claimed.action], payload)
        return event
    return read_event(claimed.event, claimed.guid, payload)


def apply(connection: Connection, actions: list[Action], now: datetime) -> set[str]:
    """Store what was decided. Returns the queues to ring after the commit."""
    queues: set[str] = set()
    for action in actions:
        match action:
            case SaveFeature():
                threads.save_feature(connection, action.feature)
            case SaveQuestion():
                threads.save_question(connection, action.feature_id, action.question)
            case SaveTask():
                threads.save_task(connection, action.feature_id, action.task)
            case SaveAllowance():
                allowances.save(connection, action)
            case Record():
                log.append(connection, action, now)
            case DropEffects():
                outbox.drop(connection, action.feature_id)
            case DropAgentWork():
                outbox.drop(
                    connection, action.feature_id, (outbox.AGENTS, outbox.TASKS), action.key
                )
            case _ if isinstance(action, AgentEffect | TaskEffect):
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


@dataclass(frozen=True, slots=True)
class Done:
    """After the commit: the queues to ring, and what to tell whoever listens."""

    queues: frozenset[str] = frozenset()
    events: tuple[dict[str, Any], ...] = ()


def carry_out(
    connection: Connection,
    actions: list[Action],
    thread: Thread | None,
    policy: Policy,
    now: datetime,
) -> Done:
    """Store what was decided, and what the webhooks of the configuration are to be told of it."""
    queues = apply(connection, actions, now)
    if thread is None:
        return Done(frozenset(queues))
    questions = {question.name: question.gid for question in thread.questions}
    for action in actions:
        if isinstance(action, SaveQuestion):
            questions[action.question.name] = action.question.gid
    records = [action for action in actions if isinstance(action, Record)]
    moment = now.isoformat(timespec="milliseconds")
    events = told(records, str(thread.feature.place), questions, moment)
    for name, wanted in policy.hooks.items():
        for event in events:
            if not wanted or event["type"] in wanted:
                key = f"hook:{name}:{event['id']}"
                outbox.put(connection, Publish(key, thread.feature.id, name, event))
                queues.add("outbox")
    return Done(frozenset(queues), tuple(events))


def process(
    connection: Connection,
    claimed: Claimed,
    event: Event | None,
    policy: Policy,
    sender: Sender = NOBODY,
    crash: Callable[[str], None] = lambda point: None,
) -> Done:
    """All of one delivery's work, within the caller's transaction.

    Raises `FenceLost` if somebody else has the delivery by now: the caller must roll back.
    """
    now = datetime.now(UTC)
    done = Done()
    if event is not None:
        actions, thread = decide(connection, event, policy, sender, now)
        done = carry_out(connection, actions, thread, policy, now)
    deliveries.finish(connection, claimed, state="done" if event else "ignored")
    crash("before-event-commit")
    return done


_NOT_STORED = "what came of it could not be stored; the operator finds it in the service's log"


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
    elif isinstance(event, AgentAnswered) and event.answer is not None:
        lost = replace(event, answer=None, error="its answer could not be stored")
        place_of = threads.place_of(connection, event.feature_id)
        deliveries.add_own(connection, f"kr:dead:{claimed.guid}", lost, place_of)
    elif isinstance(event, PullChanged | PullJudged):
        place = event.place if isinstance(event, PullJudged) else event.issue.place
        outbox.put(connection, undecided(place, event.head))
    elif isinstance(event, OwnEvent) and not event.feature_id:
        return  # nobody's feature waits for it; the operator sees it in `kr doctor`
    elif isinstance(event, TaskRan | TaskLanded):
        lost_task = type(event)(event.feature_id, event.task, event.run, error=_NOT_STORED)
        place_of = threads.place_of(connection, event.feature_id)
        deliveries.add_own(connection, f"kr:dead:{claimed.guid}", lost_task, place_of)
    elif isinstance(event, OwnEvent) and not isinstance(event, EffectFailed):
        reason = "Something went wrong inside; the operator finds it in the log of the service."
        told = EffectFailed(event.feature_id, "work", reason)
        place_of = threads.place_of(connection, event.feature_id)
        deliveries.add_own(connection, f"kr:dead:{claimed.guid}", told, place_of)
