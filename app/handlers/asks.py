"""People are asked about tasks: those that are theirs, and those that failed.

A comment for what came up together, and for each person that was named: an edit pings nobody, so
what comes up later is asked in another one. A comment says when nothing of it waits any more.
"""

from __future__ import annotations

from dataclasses import replace

from app.actions import ShowComment
from app.features.dispatch import ExecutionTask, TaskState
from app.handlers.turn import Turn
from app.texts.asks import asks_comment

MOST = 100
"""Comments of one feature that are kept up to date."""


def ask_people(turn: Turn) -> None:
    """Ask about what is new, and draw every earlier comment as it should read now."""
    if turn.facts.policy.comments == "none":
        return
    _ask_anew(turn)
    feature = turn.feature
    for key in feature.asks:
        about = [task for task in turn.tasks if task.asked == key and waits(task)]
        who = key.rpartition(":")[2] or _whoever(turn)
        body = asks_comment(feature, about, who, key=key)
        turn.do(ShowComment(key, feature.id, feature.place, body))


def waits(task: ExecutionTask) -> bool:
    """A person has to do it, or to say what becomes of it."""
    return task.state in {TaskState.OFFERED, TaskState.FAILED}


def _ask_anew(turn: Turn) -> None:
    fresh: dict[str, list[ExecutionTask]] = {}
    for task in turn.tasks:
        if waits(task) and task.asked_for != _about(task):
            who = task.person.lower() if task.state is TaskState.OFFERED else ""
            fresh.setdefault(who, []).append(task)
    for who, tasks in fresh.items():
        key = f"f{turn.feature.id}:ask:{turn.next_seq}:{who}"
        turn.update(asks=(*turn.feature.asks[-MOST:], key))
        for task in tasks:
            turn.put_task(replace(task, asked=key, asked_for=_about(task)))


def _about(task: ExecutionTask) -> str:
    """What is asked of whom: as long as that is the same, nobody is asked again."""
    return f"{task.state}:{task.person.lower()}:{task.run}"


def _whoever(turn: Turn) -> str:
    by = turn.feature.approved_by
    return by if by not in {"", "auto"} else turn.feature.started_by
