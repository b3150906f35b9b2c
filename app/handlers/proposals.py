"""The feature's pull request: opened, merged, or closed without."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action
from app.events import Issue, PullClosed, PullShown
from app.features.dispatch import TaskState
from app.features.model import SPECIFIED, Feature, FeatureState
from app.handlers.dispatching import show_pull
from app.handlers.drawing import draw
from app.handlers.escalating import BARON
from app.handlers.facts import Facts
from app.handlers.lifecycle import halt, resume
from app.handlers.planning import drop_run
from app.handlers.turn import Turn


def shown(event: PullShown, facts: Facts) -> list[Action]:
    """Its number is known now, and it reads as it should."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE or not feature.approved_by:
        return []
    if feature.pull == event.number and not feature.problem:
        return []
    turn = Turn(facts, feature)
    fresh = feature.pull != event.number
    turn.update(pull=event.number, problem="")
    if fresh:
        turn.record("pull", BARON, number=event.number, branch=feature.branch)
        show_pull(turn)
    draw(turn)
    return turn.actions()


def is_own(feature: Feature | None, issue: Issue, branch: str) -> bool:
    """Whether a pull request is the feature's: others may be opened from its branch, too."""
    if feature is None or not feature.approved_by or branch != feature.branch:
        return False
    return feature.pull == issue.place.number or (not feature.pull and issue.author.endswith("]"))


def closed(event: PullClosed, facts: Facts) -> list[Action]:
    """Merged, the feature is done; closed without, it rests until somebody says `/resume`."""
    feature = facts.feature
    if feature is None or feature.state in {FeatureState.GONE, FeatureState.DONE}:
        return []
    if not is_own(feature, event.issue, event.branch):
        return []
    turn = Turn(facts, feature)
    login, number = event.sender.login, event.issue.place.number
    turn.update(pull=0, blocked=False)
    if event.merged:
        turn.record("merged", f"@{login}", pull=number, head=event.head)
        _finish(turn)
    elif feature.state is not FeatureState.STOPPED:
        halt(turn, login, f"{login} closed the pull request #{number}", "pull")
    draw(turn)
    return turn.actions()


def reopened(turn: Turn, number: int, who: str) -> None:
    """Whoever may reopen it undoes its closing."""
    turn.update(pull=number)
    resume(turn, who)
    draw(turn)


def _finish(turn: Turn) -> None:
    """Done, unless an answer is being changed: then its documents wait for another `/go`."""
    for task in turn.tasks:
        drop_run(turn, task)
    _end_tasks(turn)
    turn.update(approved_by="", problem="", stopped_because="", stopped_by="", paused_at="")
    if turn.feature.state in _SETTLED:
        turn.enter(FeatureState.DONE)


_SETTLED = frozenset({FeatureState.STOPPED, *SPECIFIED})


def _end_tasks(turn: Turn) -> None:
    for task in turn.tasks:
        if task.state is TaskState.REVIEW:
            turn.put_task(replace(task, state=TaskState.DONE))
        elif not task.over:
            told = "the pull request was merged without it"
            turn.put_task(replace(task, state=TaskState.STOPPED, problem=told))
