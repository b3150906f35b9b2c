"""The feature's pull request: title and body, from the documents and the log."""

from __future__ import annotations

from collections.abc import Sequence

from app.features.dispatch import ExecutionTask, TaskState, still_listed
from app.features.model import Feature, Question
from app.texts.marker import marker
from app.texts.question import LIMIT, cost_line
from app.texts.safe import cell, harmless, one_line, powerless, visible
from app.texts.tasks import doer, stopped_lines


def pull_title(feature: Feature) -> str:
    """The issue's title, one line, without power in the commit that GitHub makes of it."""
    return one_line(powerless(visible(feature.title)), 200) or feature.branch


def pull_body(
    feature: Feature, questions: Sequence[Question], tasks: Sequence[ExecutionTask]
) -> str:
    """What it is for, its tasks, the decisions it rests on, what was stopped, what it cost."""
    number = feature.place.number
    lines = [
        marker("status", f"f{feature.id}:pull", feature=str(feature.place)),
        f"Closes #{number}.",
        "",
        f"From the answers on #{number}: [`{feature.folder}/spec.md`]({_file(feature, 'spec.md')}),"
        f" [`plan.md`]({_file(feature, 'plan.md')}), [`tasks.md`]({_file(feature, 'tasks.md')}).",
        "",
        "## Tasks",
        "",
        *(_task(task) for task in still_listed(tasks)[:200]),
        "",
        *_decisions(feature, questions),
        *stopped_lines(tasks),
    ]
    if feature.cost.calls:
        lines += [f"<sub>Models so far: {cost_line(feature.cost)}.</sub>", ""]
    lines.append(
        f"<sub>Agents write only in their scopes; `baron/scope` checks it. Commands go to"
        f" #{number}; `/review` here has it reviewed again.</sub>"
    )
    return "\n".join(lines)[:LIMIT]


def _file(feature: Feature, name: str) -> str:
    return f"../blob/{feature.branch}/{feature.folder}/{name}"


def _task(task: ExecutionTask) -> str:
    box = "x" if task.state is TaskState.DONE else " "
    text = harmless(one_line(task.text, 200), 260)
    return f"- [{box}] {task.name} {text} — {doer(task)}"


def _decisions(feature: Feature, questions: Sequence[Question]) -> list[str]:
    settled = [question for question in questions if question.settled]
    if not settled:
        return []
    lines = ["## Decisions", "", "| | Question | Answer | Settled by |", "|---|---|---|---|"]
    for question in settled:
        asked = cell(harmless(one_line(question.text, 160), 220))
        said = cell(harmless(one_line(question.answer, 200), 260))
        who = question.settled_by or question.source.lstrip("@")
        lines.append(f"| [{question.name}](../issues/{feature.place.number}) | {asked} | {said} |"
                     f" {who} |")  # fmt: skip
    return [*lines, ""]
