"""The tasks of a feature on their way: who does each, which may start, where each stands.

specs/1, US5 and FR-017: tasks go to specialists, those marked [P] side by side, the others in the
order of tasks.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.questions.model import NO_COST, Cost


class TaskState(StrEnum):
    """Where a task stands."""

    WAITING = "waiting"
    """Others come first, or nobody said `/go` yet."""
    RUNNING = "running"
    """Its agent is at work, or in line for it."""
    LANDING = "landing"
    """Done and committed; it is being merged into the feature's branch."""
    OFFERED = "offered"
    """A person is to do it; a push to the branch ends it."""
    REVIEW = "review"
    """It is the review of the pull request, and ends with that."""
    DONE = "done"
    FAILED = "failed"
    """`/retry` tries again, `/assign` gives it to a person."""
    STOPPED = "stopped"
    """Somebody gave it up; what waits for it goes on without it."""
    GONE = "gone"
    """It stands in tasks.md no more."""


OVER = frozenset({TaskState.DONE, TaskState.STOPPED, TaskState.GONE})
"""What holds up nothing any more."""
AT_WORK = frozenset({TaskState.RUNNING, TaskState.LANDING})


@dataclass(frozen=True, slots=True)
class Stopped:
    """A change that was not kept: its path, and why (specs/1, US5.4)."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExecutionTask:
    """A box of tasks.md, who does it, and what came of it."""

    name: str
    """`T001`."""
    place: int
    """Which one of the list it is, from 1."""
    text: str
    details: str = ""
    paths: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    parallel: bool = False
    story: str = ""
    phase: str = ""
    decisions: tuple[str, ...] = ()
    """Questions that it rests on: `Q1`."""
    role: str = ""
    """The role that does it; empty for a person."""
    agent: str = ""
    """That role's handle, `@dede`."""
    why: str = ""
    """Why that one, or why a person; the end of a sentence."""
    person: str = ""
    """Who was named with `/assign`."""
    asked: str = ""
    """The comment in which people are asked about it: its key."""
    asked_for: str = ""
    """What they are asked: in which state, whom, after which run."""
    assigned: bool = False
    """Somebody said who does it."""
    state: TaskState = TaskState.WAITING
    run: int = 0
    """How often an agent was sent."""
    commit: str = ""
    """What it became on the feature's branch."""
    files: tuple[str, ...] = ()
    """Paths that it changed."""
    stopped: tuple[Stopped, ...] = ()
    """What it tried outside its scope."""
    said: str = ""
    """What the agent said at the end."""
    problem: str = ""
    """Why it failed, or why a person is asked."""
    unpaid: bool = False
    conflicts: int = 0
    """How often its merge met other changes."""
    lost: int = 0
    """How often its commit was gone before it was merged."""
    cost: Cost = NO_COST
    entry: int = 0
    """Sequence number of the newest log entry about it."""

    @property
    def over(self) -> bool:
        """It holds up nothing any more."""
        return self.state in OVER

    @property
    def for_people(self) -> bool:
        """A person does it, or no agent does."""
        return bool(self.person) or not self.role


@dataclass(frozen=True, slots=True)
class Planned:
    """The documents of a feature as they stand on its branch, and whose paths are whose."""

    plan: str | None = None
    tasks: str | None = None
    spec: str | None = None
    scopes: str | None = None
    """The scope file of the base branch; None if it has none."""


def ready(tasks: Sequence[ExecutionTask]) -> tuple[ExecutionTask, ...]:
    """Those that may start now.

    All it names must be over, and all before it in the list, but for its neighbours of the same
    phase where both bear [P], and for what waits for it.
    """
    ordered = sorted(tasks, key=lambda one: one.place)
    over = {one.name for one in ordered if _lets_pass(one)}
    needs = _needs(ordered)
    return tuple(
        one
        for at, one in enumerate(ordered)
        if one.state is TaskState.WAITING
        and needs[one.name] <= over | {one.name}
        and all(
            _lets_pass(before) or _beside(before, one) or one.name in needs[before.name]
            for before in ordered[:at]
        )
    )


def _needs(tasks: Sequence[ExecutionTask]) -> dict[str, set[str]]:
    """Task → all that it names, and what those name."""
    known = {one.name: one for one in tasks}
    found: dict[str, set[str]] = {}
    for one in tasks:
        seen: set[str] = set()
        left = [one.name]
        while left:
            fresh = {name for name in known[left.pop()].depends_on if name in known} - seen
            seen |= fresh
            left += fresh
        found[one.name] = seen
    return found


def stuck(tasks: Sequence[ExecutionTask]) -> tuple[str, ...]:
    """Tasks that wait for each other while nothing else is under way: only a person can go on."""
    moving = {TaskState.RUNNING, TaskState.LANDING, TaskState.OFFERED, TaskState.FAILED}
    if ready(tasks) or any(one.state in moving for one in tasks):
        return ()
    return tuple(one.name for one in tasks if one.state is TaskState.WAITING)


def _lets_pass(task: ExecutionTask) -> bool:
    return task.over or task.state is TaskState.REVIEW


def _beside(one: ExecutionTask, other: ExecutionTask) -> bool:
    return one.parallel and other.parallel and one.phase == other.phase


def waiting_for(task: ExecutionTask, tasks: Iterable[ExecutionTask]) -> tuple[str, ...]:
    """The names of those that have to be over first, the nearest ones."""
    open_ones = [one for one in tasks if not _lets_pass(one) and one.name != task.name]
    named = [one.name for one in open_ones if one.name in task.depends_on]
    before = [
        one.name
        for one in open_ones
        if one.place < task.place and not _beside(one, task) and task.name not in one.depends_on
    ]
    return tuple(dict.fromkeys([*named, *before[-1:]]))


def all_over(tasks: Iterable[ExecutionTask]) -> bool:
    """Nothing is left to be written; a review may still be to come."""
    return all(_lets_pass(one) for one in tasks)


def kept(old: ExecutionTask | None, new: ExecutionTask) -> ExecutionTask:
    """The task of a new list, with what is known of it already.

    One of the same number whose words changed is another task, and is done anew.
    """
    if old is None:
        return new
    if not _is_same(old, new):
        same = {"run": old.run, "entry": old.entry, "person": old.person}
        return replace(new, **same)  # type: ignore[arg-type]  # a dict has no types
    begun = old.state is not TaskState.WAITING or old.assigned
    bound = old if begun else new
    return replace(
        old,
        place=new.place,
        text=new.text,
        details=new.details,
        depends_on=new.depends_on,
        parallel=new.parallel,
        story=new.story,
        phase=new.phase,
        decisions=new.decisions,
        role=bound.role,
        agent=bound.agent,
        why=bound.why,
        state=new.state if old.state is TaskState.GONE or new.over else old.state,
    )


def _is_same(old: ExecutionTask, new: ExecutionTask) -> bool:
    """Finished work is not done again because somebody words it better."""
    if old.state is TaskState.DONE and new.paths and old.decisions == new.decisions:
        return old.paths == new.paths
    return (old.text, old.paths) == (new.text, new.paths)


def still_listed(tasks: Iterable[ExecutionTask]) -> tuple[ExecutionTask, ...]:
    """Those that stand in tasks.md."""
    return tuple(one for one in tasks if one.state is not TaskState.GONE)


@dataclass(frozen=True, slots=True)
class Listed:
    """tasks.md as it will be done, and what in it could not be read."""

    tasks: tuple[ExecutionTask, ...] = ()
    errors: tuple[str, ...] = field(default_factory=tuple)
    """`line 12: reason`."""
