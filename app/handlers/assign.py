"""`/assign T @person`, `/stop T`, `/retry T`: people decide who does a task, and whether."""

from __future__ import annotations

from dataclasses import replace

from app.commands import Assign
from app.events import Commented
from app.features.assigning import REVIEWER
from app.features.dispatch import AT_WORK, ExecutionTask, TaskState
from app.features.model import FeatureState
from app.handlers.dispatching import dispatch, show_pull
from app.handlers.outcome import DONE, Outcome, refusal, triage_only
from app.handlers.planning import drop_run, roster
from app.handlers.turn import Turn
from app.handlers.wanting import review_again
from app.texts import tasks


def assign(turn: Turn, command: Assign, event: Commented) -> Outcome:
    """Give a task to a person, or to another agent."""
    if refused := triage_only(turn, "assign"):
        return refused
    task = named(turn, "assign", command.task)
    if isinstance(task, Outcome):
        return task
    if task.state in {TaskState.DONE, TaskState.GONE, TaskState.LANDING}:
        return refusal("assign", tasks.is_over(task))
    who = command.person.lstrip("@")
    given = _given(turn, task, who)
    if isinstance(given, Outcome):
        return given
    drop_run(turn, task)
    given = replace(given, state=TaskState.WAITING, problem="", why=f"{event.sender.login} said so")
    turn.record_task("task.assigned", f"@{event.sender.login}", given, to=command.person)
    dispatch(turn)
    return DONE


def _given(turn: Turn, task: ExecutionTask, who: str) -> ExecutionTask | Outcome:
    """The task as an agent's or a person's; a refusal for an agent that does no tasks of these."""
    found, wanted = roster(turn), f"@{who}".casefold()
    for role, handle in found.handles.items():
        if handle.casefold() == wanted:
            if found.takes_part(role):
                return replace(task, role=role, agent=handle, person="", assigned=True)
            title = turn.feature.spec.title
            return refusal("assign", f"{who} takes no part in a {title} feature.")
    if wanted in {handle.casefold() for handle in turn.facts.policy.handles.values()}:
        return refusal("assign", f"{who} answers questions here, and does no tasks.")
    return replace(task, person=who, assigned=False)


def stop_task(turn: Turn, name: str, event: Commented) -> Outcome:
    """Give a task up; what waits for it goes on without it."""
    task = named(turn, "stop", name)
    if isinstance(task, Outcome):
        return task
    if task.over or task.state is TaskState.LANDING:
        return refusal("stop", tasks.is_over(task))
    drop_run(turn, task)
    by = event.sender.login
    task = replace(task, state=TaskState.STOPPED, problem=f"{by} gave it up")
    turn.record_task("task.stopped", f"@{by}", task)
    dispatch(turn)
    return DONE


def retry_task(turn: Turn, name: str, event: Commented) -> Outcome:
    """Have a task done again."""
    if refused := triage_only(turn, "retry"):
        return refused
    task = named(turn, "retry", name)
    if isinstance(task, Outcome):
        return task
    if task.state in AT_WORK or task.state is TaskState.WAITING:
        return refusal("retry", tasks.is_over(task))
    again(turn, task, event.sender.login)
    dispatch(turn)
    if task.role == REVIEWER and turn.feature.pull:
        turn.do(review_again(turn))
    return DONE


def retry_failed(turn: Turn, event: Commented) -> bool:
    """Have every task that failed done again; whether there was any."""
    failed = [task for task in turn.tasks if task.state is TaskState.FAILED]
    for task in failed:
        again(turn, task, event.sender.login)
    if failed:
        dispatch(turn)
    return bool(failed)


def retry_pull(turn: Turn, event: Commented) -> bool:
    """Try again to write the pull request, where that failed; whether it did."""
    if not (turn.feature.problem and turn.feature.approved_by):
        return False
    turn.update(problem="")
    turn.record("human", f"@{event.sender.login}", action="retry", comment=event.comment_id)
    show_pull(turn)
    return True


def again(turn: Turn, task: ExecutionTask, by: str) -> None:
    """Back to the start, with what a person was given taken back."""
    fresh = replace(
        task, state=TaskState.WAITING, problem="", unpaid=False, conflicts=0, lost=0, commit=""
    )
    turn.record_task("task.again", f"@{by}", fresh)


def named(turn: Turn, command: str, name: str) -> ExecutionTask | Outcome:
    """The task of that name, where work on tasks has begun."""
    if turn.feature.state is FeatureState.STOPPED:
        return refusal(command, f"this feature is paused: {turn.feature.stopped_because}.")
    task = turn.task(name)
    if task is None or task.state is TaskState.GONE:
        return refusal(command, tasks.no_such_task(name, turn.tasks))
    if not turn.feature.approved_by:
        return refusal(command, "no task is being done yet; `/go` begins.")
    return task
