"""Tasks are sent to whoever does them, as soon as nothing is before them (specs/1, US5, FR-017)."""

from __future__ import annotations

from dataclasses import replace

from app.actions import RunTask, ShowPull
from app.features.assigning import QA, REVIEWER
from app.features.dispatch import ExecutionTask, TaskState, all_over, ready
from app.features.model import FeatureState
from app.handlers.escalating import BARON
from app.handlers.turn import Turn
from app.texts.pulls import pull_body, pull_title


def dispatch(turn: Turn) -> None:
    """Start what can be started; when nothing is left to be written, the pull request is ready."""
    feature = turn.feature
    if feature.state not in {FeatureState.BUILDING, FeatureState.REVIEW}:
        return
    while found := [one for one in ready(turn.tasks) if not _has_to_wait(turn, one)]:
        for task in found:
            if not _has_to_wait(turn, task):
                _start(turn, task)
    turn.enter(FeatureState.REVIEW if all_over(turn.tasks) else FeatureState.BUILDING)
    show_pull(turn)


def _has_to_wait(turn: Turn, task: ExecutionTask) -> bool:
    """Whether an agent would get it that does as many tasks of the feature as it may at a time."""
    policy, role = turn.facts.policy, task.role
    if task.for_people or role not in policy.executors or policy.prohibited(task):
        return False  # no agent gets it
    under_way = sum(one.role == role and one.state is TaskState.RUNNING for one in turn.tasks)
    return under_way >= policy.capacities.get(role, under_way + 1)


def _start(turn: Turn, task: ExecutionTask) -> None:
    policy = turn.facts.policy
    if task.for_people:
        offer(turn, task, task.why if not task.person else "")
    elif task.role == REVIEWER:
        turn.put_task(replace(task, state=TaskState.REVIEW))
    elif why := policy.prohibited(task):
        offer(turn, task, why)
    elif task.role not in policy.executors:
        offer(turn, task, f"nothing here can do the tasks of {task.agent}")
    else:
        _send(turn, task)


def offer(turn: Turn, task: ExecutionTask, why: str) -> None:
    """Have a person do it."""
    task = replace(task, state=TaskState.OFFERED, problem=why)
    who = task.person or None
    turn.record_task("task.offered", BARON, task, person=who, why=why or None)


def _send(turn: Turn, task: ExecutionTask) -> None:
    policy, feature = turn.facts.policy, turn.feature
    task = replace(task, state=TaskState.RUNNING, run=task.run + 1, problem="", unpaid=False)
    model = policy.model_for(task.role, "executing")
    task = turn.record_task(
        "task.sent", BARON, task, agent=task.agent, run=task.run, model=model, why=task.why
    )
    turn.do(
        RunTask(
            key=run_key(turn, task),
            feature_id=feature.id,
            place=feature.place,
            task=replace(task, entry=0),
            title=feature.title,
            branch=feature.branch,
            base=feature.default_branch,
            folder=feature.folder,
            answers=answers(turn, task),
            testers=policy.handles.get(QA, ""),
            model=model,
            seconds=policy.timeouts.get(task.role, 0.0),
            turns=policy.turns.get(task.role, 0),
            person=feature.approved_by if feature.approved_by != "auto" else feature.started_by,
        )
    )


def answers(turn: Turn, task: ExecutionTask) -> tuple[tuple[str, str, str, str], ...]:
    """The settled answers that a task rests on (FR-019: no others)."""
    return tuple(
        (question.name, question.text, question.answer, question.source)
        for question in turn.questions
        if question.settled and question.name in task.decisions
    )


def run_key(turn: Turn, task: ExecutionTask) -> str:
    """The name of one sending of a task."""
    return f"f{turn.feature.id}:{task.name}:run:{task.run}"


def show_pull(turn: Turn) -> None:
    """The feature's one pull request: a draft until its tasks are done."""
    feature = turn.feature
    turn.do(
        ShowPull(
            key=f"f{feature.id}:pull",
            feature_id=feature.id,
            place=feature.place,
            head=feature.branch,
            base=feature.default_branch,
            title=pull_title(feature),
            body=pull_body(feature, turn.questions, turn.tasks),
            draft=feature.state is not FeatureState.REVIEW,
            number=feature.pull,
        )
    )
