"""The comment in which people are asked about tasks."""

from __future__ import annotations

from collections.abc import Sequence

from app.features.dispatch import ExecutionTask, TaskState
from app.features.model import Feature
from app.texts.marker import marker
from app.texts.question import LIMIT
from app.texts.safe import code, harmless, one_line

SHOWN = 30
"""Tasks of one comment; the status has all of them."""


def asks_comment(feature: Feature, tasks: Sequence[ExecutionTask], who: str, *, key: str) -> str:
    """What waits for `who`; once nothing does, that."""
    first = marker("reply", key, feature=str(feature.place))
    offered = [task for task in tasks if task.state is TaskState.OFFERED]
    failed = [task for task in tasks if task.state is TaskState.FAILED]
    if not tasks:
        return f"{first}\n✅ Nothing of what was asked here waits any more."
    lines = [first]
    if offered:
        head = "this is yours to do" if offered[0].person else "people are to do this"
        lines += [f"@{who}, {head}, on branch {code(feature.branch)}:", ""]
        lines += [line for task in offered[:SHOWN] for line in _offered(task)]
        lines += [*_how_to_finish(feature, offered[0]), ""]
    if failed:
        lines += [f"@{who}, this did not work:", ""]
        lines += [_failed(task) for task in failed[:SHOWN]]
        names = " or ".join(f"`/retry {task.name}`" for task in failed[:3])
        lines += ["", f"{names} tries again, `/retry` all of them; `/assign T @person` gives one to"
                  " somebody, `/stop T` goes on without it."]  # fmt: skip
    return "\n".join(lines)[:LIMIT]


def _failed(task: ExecutionTask) -> str:
    text = harmless(one_line(task.text, 200), 260)
    return f"- **{task.name}** {text} — {harmless(one_line(task.problem, 400), 500)}"


def _offered(task: ExecutionTask) -> list[str]:
    lines = [f"**{task.name}** · {harmless(one_line(task.text, 400), 500)}", ""]
    if task.problem:
        lines += [f"Why a person: {harmless(one_line(task.problem, 240), 300)}.", ""]
    if task.paths:
        lines += ["Scope: " + ", ".join(code(path) for path in task.paths[:10]), ""]
    if task.details.strip():
        body = harmless(task.details, 3000)
        lines += ["<details><summary>Details and acceptance criteria</summary>", "", body, "",
                  "</details>", ""]  # fmt: skip
    return lines


def _how_to_finish(feature: Feature, task: ExecutionTask) -> list[str]:
    return [
        f"Acceptance criteria are in {code(f'{feature.folder}/spec.md')}. A push to the branch ends"
        f" a task; name it in the commit (`Task: {task.name}`) if there are several."
        f" `/stop {task.name}` goes on without it."
    ]
