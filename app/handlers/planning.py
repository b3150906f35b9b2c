"""The documents stand: which tasks they hold, who does each, and whether work may begin."""

from __future__ import annotations

from dataclasses import replace

from app.actions import DropAgentWork
from app.features.assigning import DEVELOPER, DEVOPS, QA, REVIEWER, Roster, listed
from app.features.dispatch import ExecutionTask, Planned, TaskState, kept, still_listed
from app.features.model import FeatureState
from app.handlers.dispatching import dispatch, run_key
from app.handlers.escalating import BARON
from app.handlers.turn import Turn
from app.scopes import parse
from app.scopes.scopes import DEFAULT

SCOPE = "baron/scope"
EXECUTION = (QA, DEVELOPER, DEVOPS, REVIEWER)


def roster(turn: Turn) -> Roster:
    """Who of the roster may do tasks of this feature."""
    handles = turn.facts.policy.handles
    return Roster(turn.feature.spec, {role: handles[role] for role in EXECUTION if role in handles})


def list_tasks(turn: Turn, planned: Planned) -> None:
    """Take the tasks as they are on the branch; what was done already stays done."""
    scopes = parse(DEFAULT if planned.scopes is None else planned.scopes)
    found = listed(planned.tasks or "", scopes, roster(turn))
    old = {task.name: task for task in turn.tasks}
    for task in found.tasks:
        _take(turn, old.pop(task.name, None), task)
    for task in old.values():
        if task.state is not TaskState.GONE:
            drop_run(turn, task)
            turn.record_task("task.gone", BARON, replace(task, state=TaskState.GONE))
    turn.update(listed=turn.feature.spec_revision, unread=found.errors[:50])


def _take(turn: Turn, old: ExecutionTask | None, new: ExecutionTask) -> None:
    task = kept(old, new)
    if old is not None and old.state is TaskState.RUNNING and task.state is not old.state:
        drop_run(turn, old)
    if old is None or old.text != new.text:
        task = turn.record_task(
            "task.listed",
            BARON,
            task,
            text=task.text,
            paths=list(task.paths),
            role=task.role or None,
            agent=task.agent or None,
            why=task.why,
            decisions=list(task.decisions),
        )
    turn.put_task(task)


def drop_run(turn: Turn, task: ExecutionTask) -> None:
    """Whoever is at work on it need not go on."""
    if task.state is TaskState.RUNNING:
        turn.add(DropAgentWork(turn.feature.id, run_key(turn, task)))


def guard(turn: Turn) -> None:
    """Whether the check that keeps agents to their scopes can be merged over."""
    required = turn.facts.required
    if required is not None:
        turn.update(unguarded=SCOPE not in required)


def stand(turn: Turn) -> None:
    """Go on from documents that stand: begin, go on, or wait for `/go`."""
    feature, policy = turn.feature, turn.facts.policy
    auto = policy.approval == "auto" and not feature.alarm and still_listed(turn.tasks)
    if auto and not feature.approved_by:
        approve(turn, "auto")
    if turn.feature.approved_by and still_listed(turn.tasks):
        turn.enter(FeatureState.BUILDING)
        dispatch(turn)
    else:
        turn.enter(FeatureState.PLANNED)


def bind_anew(turn: Turn) -> None:
    """The feature is of another type now: who takes no part in it does nothing more (FR-020)."""
    who = roster(turn)
    for task in turn.tasks:
        if task.state is TaskState.WAITING and task.role and not who.takes_part(task.role):
            why = f"{task.agent} takes no part in a {turn.feature.spec.title} feature"
            turn.put_task(replace(task, role="", agent="", why=why))


def approve(turn: Turn, who: str) -> None:
    """The tasks may be done."""
    turn.update(approved_by=who)
    turn.record(
        "approved",
        BARON if who == "auto" else f"@{who}",
        tasks=sum(not task.over for task in turn.tasks),
    )
