"""`/plan`, `/tasks`, `/go`: people see what will be done, and have it done (specs/1, US5)."""

from __future__ import annotations

from app.commands import Go, Plan, Tasks
from app.events import Commented
from app.features.dispatch import still_listed
from app.features.model import FeatureState
from app.handlers.dispatching import dispatch
from app.handlers.outcome import DONE, Outcome, refusal, triage_only
from app.handlers.planning import approve, guard, list_tasks
from app.handlers.turn import Turn
from app.texts import replies, tasks


def plan(turn: Turn, command: Plan) -> Outcome:
    """The plan as it stands on the branch."""
    if refused := triage_only(turn, "plan") or _not_written(turn, "plan"):
        return refused
    planned = turn.facts.planned
    if planned is None or planned.plan is None:
        return refusal("plan", tasks.missing(turn.feature, "plan.md"))
    return Outcome(tasks.plan_reply(turn.feature, planned.plan))


def show_tasks(turn: Turn, command: Tasks) -> Outcome:
    """The tasks as they would be done, and who does each."""
    if refused := triage_only(turn, "tasks") or _not_written(turn, "tasks"):
        return refused
    planned = turn.facts.planned
    if planned is None or planned.tasks is None:
        return refusal("tasks", tasks.missing(turn.feature, "tasks.md"))
    changed = turn.feature.state in {FeatureState.PLANNED}
    if changed:  # what a person changed on the branch counts
        list_tasks(turn, planned)
    said = tasks.tasks_reply(turn.feature, turn.tasks, turn.facts.policy.executors)
    return Outcome(said, changed=changed)


def go(turn: Turn, command: Go, event: Commented) -> Outcome:
    """Have the tasks done, as they stand on the branch now."""
    if refused := triage_only(turn, "go"):
        return refused
    feature, planned = turn.feature, turn.facts.planned
    if feature.state is FeatureState.STOPPED:
        return refusal("go", replies.paused(feature))
    if feature.state is not FeatureState.PLANNED:
        return _not_written(turn, "go") or refusal("go", tasks.under_way(feature))
    if planned is None or planned.tasks is None:
        return refusal("go", tasks.missing(feature, "tasks.md"))
    list_tasks(turn, planned)
    if not still_listed(turn.tasks):
        return refusal("go", tasks.nothing_to_do(turn.feature))
    guard(turn)
    approve(turn, event.sender.login)
    turn.enter(FeatureState.BUILDING)
    dispatch(turn)
    return DONE


def _not_written(turn: Turn, command: str) -> Outcome | None:
    feature = turn.feature
    if feature.written:
        return None
    names = [question.name for question in turn.questions if question.waits_for_a_person]
    return refusal(command, tasks.not_written(names))
