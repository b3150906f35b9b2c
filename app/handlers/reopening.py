"""An answer was changed: what of the documents, tasks and pull request rests on it."""

from __future__ import annotations

from dataclasses import replace

from app.features.dispatch import Planned, TaskState
from app.handlers.escalating import BARON
from app.handlers.planning import drop_run
from app.handlers.turn import Turn
from app.texts.rests import Resting, lines_that_name

_LEFT_ALONE = frozenset({TaskState.WAITING, TaskState.GONE, TaskState.STOPPED})


def reopen_tasks(turn: Turn, question: str) -> None:
    """Have the tasks that rest on a question done again, and no others."""
    for task in turn.tasks:
        if question not in task.decisions or task.state in _LEFT_ALONE:
            continue
        drop_run(turn, task)
        because = f"it rests on {question}, whose answer was changed"
        again = replace(task, state=TaskState.WAITING, problem="", commit="", conflicts=0, lost=0)
        turn.record_task("task.reopened", BARON, again, because=because, was=task.state.value)


def resting_on(turn: Turn, question: str) -> Resting:
    """Lines of the documents, tasks, and the pull request that rest on a question."""
    planned = turn.facts.planned or Planned()
    documents = (("spec.md", planned.spec), ("plan.md", planned.plan), ("tasks.md", planned.tasks))
    lines = {name: lines_that_name(question, text) for name, text in documents if text}
    tasks = [
        task.name
        for task in turn.tasks
        if question in task.decisions and task.state not in _LEFT_ALONE
    ]
    shown = {name: found for name, found in lines.items() if found}
    return Resting(shown, tuple(tasks), turn.feature.pull)
