"""What came of a task: done and merged, stopped at a wall, failed, or finished by a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.actions import Action, LandTask
from app.events import Pushed, PushedCommit, TaskLanded, TaskRan
from app.features.dispatch import OVER, ExecutionTask, TaskState
from app.features.model import Feature, FeatureState
from app.handlers.dispatching import dispatch, offer
from app.handlers.drawing import draw
from app.handlers.escalating import BARON
from app.handlers.facts import Facts
from app.handlers.planning import list_tasks
from app.handlers.spending import count, logged
from app.handlers.turn import Turn

LOST_AT_MOST = 2
"""How often a task is done again because its commit was gone."""
_NAMED = re.compile(r"\bT\d{3,6}[a-z]?\b")
_RUN = re.compile(r"^Run: ", re.MULTILINE)
"""The mark of an agent's own commit."""


def ran(event: TaskRan, facts: Facts) -> list[Action]:
    """An agent is through: what it may have changed is merged, the rest is told."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    count(turn, event.spending)
    task = turn.task(event.task)
    if task is None or task.run != event.run or task.state is not TaskState.RUNNING:
        return turn.actions()  # it was stopped, given to somebody else, or is another task now
    if event.spending.cost is not None:
        task = replace(task, cost=task.cost + event.spending.cost)
    task = replace(task, stopped=event.stopped, said=event.said[:2000], files=event.files)
    task = turn.record_task(
        "task.ran",
        task.agent or BARON,
        task,
        run=event.run,
        commit=event.commit or None,
        files=list(event.files),
        stopped=[{"path": one.path, "why": one.reason} for one in event.stopped],
        said=event.said[:2000] or None,
        error=event.error or None,
        blocked=event.blocked or None,
        model=event.model or None,
        notes=list(event.notes) or None,
        cost=logged(event.spending.cost),
    )
    _go_on(turn, task, event)
    dispatch(turn)
    draw(turn)
    return turn.actions()


def _go_on(turn: Turn, task: ExecutionTask, event: TaskRan) -> None:
    if event.missing or event.blocked:
        offer(turn, task, event.error or f"{task.agent} says: {event.blocked}")
    elif event.error:
        state = replace(task, state=TaskState.FAILED, problem=event.error, unpaid=event.unpaid)
        turn.put_task(state)
    elif event.commit:
        turn.put_task(replace(task, state=TaskState.LANDING, commit=event.commit))
        turn.do(
            LandTask(
                key=f"f{turn.feature.id}:{task.name}:land:{task.run}",
                feature_id=turn.feature.id,
                place=turn.place,
                task=task.name,
                run=task.run,
                commit=event.commit,
                branch=turn.feature.branch,
            )
        )
    elif event.stopped:
        told = "all that it changed lies outside its scope, and was not kept"
        turn.put_task(replace(task, state=TaskState.FAILED, problem=told))
    else:
        turn.put_task(replace(task, state=TaskState.DONE, commit=""))


def landed(event: TaskLanded, facts: Facts) -> list[Action]:
    """The merge: a conflict is tried once more on the new base, then a person has it."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    task = turn.task(event.task)
    if task is None or task.run != event.run or task.state is not TaskState.LANDING:
        return []
    task = turn.record_task(
        "task.landed",
        BARON,
        task,
        run=event.run,
        commit=event.head or None,
        conflict=list(event.conflict) or None,
        lost=event.lost or None,
        error=event.error or None,
    )
    if event.conflict:
        _conflict(turn, task, event.conflict)
    elif event.lost and task.lost < LOST_AT_MOST:
        turn.put_task(replace(task, state=TaskState.WAITING, lost=task.lost + 1, commit=""))
    elif event.error or event.lost:
        why = event.error or "its commit was gone each time before it could be merged"
        turn.put_task(replace(task, state=TaskState.FAILED, problem=why))
    else:
        turn.put_task(replace(task, state=TaskState.DONE, problem=""))
    dispatch(turn)
    draw(turn)
    return turn.actions()


def _conflict(turn: Turn, task: ExecutionTask, paths: Sequence[str]) -> None:
    task = replace(task, conflicts=task.conflicts + 1, commit="")
    if task.conflicts == 1:
        turn.put_task(replace(task, state=TaskState.WAITING))
        return
    named = ", ".join(f"`{path}`" for path in paths[:5])
    offer(turn, task, f"it changes the same lines as others, in {named}, also at the second try")


def pushed(event: Pushed, facts: Facts) -> list[Action]:
    """A person's push finishes the tasks that were given to them (specs/1, US5).

    Also while the feature rests or is written anew: nobody would tell them to push again. What is
    pushed into tasks.md counts from then on.
    """
    feature = facts.feature
    if feature is None or feature.branch != event.branch or event.sender.bot:
        return []
    if not feature.approved_by or feature.state in {FeatureState.DONE, FeatureState.GONE}:
        return []
    turn = Turn(facts, feature)
    if facts.planned is not None and facts.planned.tasks is not None:
        list_tasks(turn, facts.planned)
    commits = [one for one in event.commits if one.fresh and not _RUN.search(one.message)]
    work = [one for one in commits if not _is_about_documents(one, feature)]
    paths = tuple(dict.fromkeys(path for one in work for path in one.paths))
    login = event.sender.login
    for task in _finished(turn.tasks, work, login):
        over = replace(task, state=TaskState.DONE, person=login, commit=event.head, files=paths)
        turn.record_task("task.pushed", f"@{login}", over, commit=event.head, files=list(paths))
    if not turn.actions():
        return []
    dispatch(turn)
    draw(turn)
    return turn.actions()


def _is_about_documents(commit: PushedCommit, feature: Feature) -> bool:
    """It touches nothing but the feature's own documents, or nothing at all."""
    inside = f"{feature.folder}/"
    return all(path.startswith(inside) for path in commit.paths) and not _NAMED.search(
        commit.message
    )


def _finished(
    tasks: Sequence[ExecutionTask], commits: Sequence[PushedCommit], login: str
) -> list[ExecutionTask]:
    """Those that the commits name; else those whose files they touch; else all that are theirs."""
    open_ones = [
        task
        for task in tasks
        if task.for_people or task.state is TaskState.OFFERED
        if task.state not in OVER and _is_for(task, login)
    ]
    if not commits:
        return []
    if named := _names(commits):
        return [task for task in open_ones if task.name in named]
    offered = [task for task in open_ones if task.state is TaskState.OFFERED]
    if touched := [task for task in offered if _touches(task, commits)]:
        return touched
    theirs = [task for task in offered if task.person.lower() == login.lower()]
    return theirs or (offered if len(offered) == 1 else [])


def _is_for(task: ExecutionTask, login: str) -> bool:
    """Nobody was named, or this person, or a team: whoever of it pushes has done it."""
    return task.person.lower() in {"", login.lower()} or "/" in task.person


def _names(commits: Sequence[PushedCommit]) -> frozenset[str]:
    return frozenset(name for one in commits for name in _NAMED.findall(one.message))


def _touches(task: ExecutionTask, commits: Sequence[PushedCommit]) -> bool:
    wanted = [path.rstrip("/") for path in task.paths]
    return any(
        path == one or path.startswith(f"{one}/")
        for commit in commits
        for path in commit.paths
        for one in wanted
    )
