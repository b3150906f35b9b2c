"""The feature's pull request: opened, merged, or closed without."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action
from app.events import PullClosed, PullShown
from app.features.dispatch import AT_WORK, TaskState
from app.features.model import FeatureState
from app.handlers.dispatching import show_pull
from app.handlers.drawing import draw
from app.handlers.escalating import BARON
from app.handlers.facts import Facts
from app.handlers.lifecycle import halt
from app.handlers.planning import drop_run
from app.handlers.turn import Turn


def shown(event: PullShown, facts: Facts) -> list[Action]:
    """Its number is known now."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE or feature.pull == event.number:
        return []
    turn = Turn(facts, feature)
    turn.update(pull=event.number, problem="")
    turn.record("pull", BARON, number=event.number, branch=feature.branch)
    show_pull(turn)
    draw(turn)
    return turn.actions()


def closed(event: PullClosed, facts: Facts) -> list[Action]:
    """Merged, the feature is done; closed without, it rests until somebody says `/resume`."""
    feature = facts.feature
    if feature is None or feature.state in {FeatureState.GONE, FeatureState.DONE}:
        return []
    if not feature.approved_by or event.branch != feature.branch:
        return []
    turn = Turn(facts, feature)
    login = event.sender.login
    if event.merged:
        for task in turn.tasks:
            if task.state in AT_WORK:
                drop_run(turn, task)
        _finish(turn)
        turn.record("merged", f"@{login}", pull=event.issue.place.number, head=event.head)
        turn.update(state=FeatureState.DONE, approved_by="", pull=0, problem="", stopped_because="")
    elif feature.state is not FeatureState.STOPPED:
        because = f"{login} closed the pull request; `/resume` goes on"
        halt(turn, login, because, "pull")
    draw(turn)
    return turn.actions()


def _finish(turn: Turn) -> None:
    for task in turn.tasks:
        if task.state is TaskState.REVIEW:
            turn.put_task(replace(task, state=TaskState.DONE))
        elif not task.over:
            told = "the pull request was merged without it"
            turn.put_task(replace(task, state=TaskState.STOPPED, problem=told))
