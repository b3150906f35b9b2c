"""Tasks as people see them: in the status, in replies, and offered to somebody."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.features.dispatch import ExecutionTask, TaskState, still_listed, stuck, waiting_for
from app.features.model import Feature, FeatureState
from app.texts.question import cost_line
from app.texts.safe import cell, code, harmless, one_line

ICONS = {
    TaskState.WAITING: "⚪",
    TaskState.RUNNING: "⏳",
    TaskState.LANDING: "⏳",
    TaskState.OFFERED: "🙋",
    TaskState.REVIEW: "👀",
    TaskState.DONE: "✅",
    TaskState.FAILED: "❌",
    TaskState.STOPPED: "✖️",
    TaskState.GONE: "✖️",
}
SHOWN = 60
"""Rows of a table; the rest stands in tasks.md."""


def task_list(feature: Feature, tasks: Sequence[ExecutionTask]) -> list[str]:
    """The tasks with boxes, who does each, and where it stands; folded once all is done."""
    shown = still_listed(tasks)
    if not shown or feature.state is FeatureState.DONE:
        return []
    done = sum(task.state is TaskState.DONE for task in shown)
    rows = [_row(task, shown) for task in shown[:SHOWN]]
    if len(shown) > SHOWN:
        rows.append(f"- … and {len(shown) - SHOWN} more in `{feature.folder}/tasks.md`")
    title = f"**Tasks:** {done} of {len(shown)} done"
    if feature.state in {FeatureState.PLANNED, FeatureState.REVIEW}:
        head = f"<details><summary>{len(shown)} tasks, and who does them</summary>"
        lines = [head, "", *rows, "", "</details>", ""]
    else:
        lines = [title, "", *rows, ""]
    return [*lines, *_unguarded(feature), *_unread(feature)]


def _unguarded(feature: Feature) -> list[str]:
    if not feature.unguarded:
        return []
    return [
        f"⚠️ `baron/scope` is not required on `{feature.default_branch}`, so it warns and blocks"
        " nobody. An administrator requires it under Settings → Rules → Rulesets.",
        "",
    ]


def _row(task: ExecutionTask, tasks: Sequence[ExecutionTask]) -> str:
    box = "x" if task.state is TaskState.DONE else " "
    text = harmless(one_line(task.text, 160), 220)
    return f"- [{box}] {task.name} {text} — {doer(task)}{_how(task, tasks)}"


def doer(task: ExecutionTask) -> str:
    """Who does it, as it stands in a list: nobody is pinged."""
    if task.person:
        return task.person
    return f"**{task.agent}**" if task.agent else "a person"


def _how(task: ExecutionTask, tasks: Sequence[ExecutionTask]) -> str:
    match task.state:
        case TaskState.RUNNING:
            said = "at work"
        case TaskState.LANDING:
            said = "being merged"
        case TaskState.OFFERED:
            said = f"🙋 waits for a person{_because(task)}"
        case TaskState.FAILED:
            said = f"❌ {_problem(task)}; `/retry {task.name}` or `/assign {task.name} @person`"
        case TaskState.STOPPED:
            said = _problem(task) or "given up"
        case TaskState.REVIEW:
            said = "with the review of the pull request"
        case TaskState.DONE if not task.commit and task.run:
            said = "nothing had to be changed"
        case TaskState.DONE if task.commit:
            said = f"`{task.commit[:10]}`"
        case TaskState.WAITING if not task.role and not task.person:
            said = f"{_problem(task) or harmless(one_line(task.why, 160), 220)}"
        case TaskState.WAITING if after := waiting_for(task, tasks):
            said = f"after {', '.join(after[:4])}"
        case _:
            said = ""
    stopped = f" · 🛑 {len(task.stopped)} outside its scope" if task.stopped else ""
    return (f", {said}" if said else "") + stopped


def _because(task: ExecutionTask) -> str:
    return f": {_problem(task)}" if task.problem else ""


def _problem(task: ExecutionTask) -> str:
    return harmless(one_line(task.problem, 240), 300)


def _unread(feature: Feature) -> list[str]:
    if not feature.unread:
        return []
    lines = [f"- {harmless(one_line(one, 240), 300)}" for one in feature.unread[:10]]
    if len(feature.unread) > 10:
        lines.append(f"- … and {len(feature.unread) - 10} more")
    return [f"⚠️ Not read in `{feature.folder}/tasks.md`; correct it there:", "", *lines, ""]


def stopped_lines(tasks: Sequence[ExecutionTask]) -> list[str]:
    """What agents tried outside their scope, folded."""
    rows = [
        f"- {task.name} ({task.agent}): {code(one.path)} {harmless(one.reason, 200)}"
        for task in tasks
        for one in task.stopped[:20]
    ]
    if not rows:
        return []
    head = "<details><summary>🛑 Changes outside a scope, which were not kept</summary>"
    return [head, "", *rows[:60], "", "</details>", ""]


def plan_reply(feature: Feature, text: str) -> str:
    """The answer to `/plan`: the document, folded."""
    where = f"`{feature.folder}/plan.md` on branch `{feature.branch}`"
    body = harmless(text, 40_000)
    return f"{where}\n\n<details><summary>The plan</summary>\n\n{body}\n\n</details>"


def tasks_reply(
    feature: Feature, tasks: Sequence[ExecutionTask], executors: Collection[str]
) -> str:
    """The answer to `/tasks`: a table of what would be done, by whom, and why that one."""
    shown = still_listed(tasks)
    if not shown:
        return nothing_to_do(feature)
    rows = [
        f"| {ICONS[task.state]} {task.name} | {cell(harmless(one_line(task.text, 160), 220))}"
        f" | {doer(task)} | {cell(_why(task, executors))} |"
        for task in shown[: 4 * SHOWN]
    ]
    lines = ["| | Task | Who | |", "|---|---|---|---|", *rows, ""]
    if len(shown) > 4 * SHOWN:
        lines.append(f"… and {len(shown) - 4 * SHOWN} more in `{feature.folder}/tasks.md`.")
    if feature.state is FeatureState.PLANNED:
        lines.append("`/go` has them done; change tasks.md on the branch before that if you like.")
    return "\n".join([*lines, "", *_unread(feature)]).rstrip()


def _why(task: ExecutionTask, executors: Collection[str]) -> str:
    why = harmless(one_line(task.problem or task.why, 200), 260)
    if task.role and task.role not in executors and task.role != "reviewer":
        return f"{why}; offered to people, as nothing here does its tasks"
    return why


def missing(feature: Feature, name: str) -> str:
    return (
        f"there is no `{feature.folder}/{name}` on branch `{feature.branch}`. Push it there, or"
        " `/correct` an answer, which writes the documents anew."
    )


def not_written(names: Sequence[str]) -> str:
    if not names:
        return "the documents are not written yet; the status comment says where it stands."
    verb = "is" if len(names) == 1 else "are"
    return f"the documents are written when {', '.join(names[:10])} {verb} answered."


def under_way(feature: Feature) -> str:
    if feature.state is FeatureState.DONE:
        return "the pull request was merged. `/correct` an answer to go on from there."
    if feature.state is FeatureState.FAILED:
        return "something failed before; the status comment says what, and how to go on."
    if feature.approved_by and feature.state in {FeatureState.BUILDING, FeatureState.REVIEW}:
        return "the tasks are being done already; the status comment shows them."
    return "the documents are being written anew; say it again when they stand."


def nothing_to_do(feature: Feature) -> str:
    unread = f" {len(feature.unread)} lines could not be read." if feature.unread else ""
    return f"`{feature.folder}/tasks.md` has no open task.{unread}"


def no_such_task(name: str, tasks: Sequence[ExecutionTask]) -> str:
    shown = still_listed(tasks)
    if not shown:
        return f"there is no task {one_line(name, 20)} here."
    names = ", ".join(task.name for task in shown[:20]) + (" …" if len(shown) > 20 else "")
    return f"there is no task {one_line(name, 20)} here; there are {names}."


def is_over(task: ExecutionTask) -> str:
    said = {
        TaskState.LANDING: "is done and being merged",
        TaskState.RUNNING: "is being done just now",
        TaskState.WAITING: "waits for its turn",
        TaskState.DONE: "is done",
    }
    return f"{task.name} {said.get(task.state, task.state.value)}."


def cost_of(task: ExecutionTask) -> str:
    """What models cost for it; empty for nothing."""
    return cost_line(task.cost) if task.cost.calls else ""


def building_next(feature: Feature, tasks: Sequence[ExecutionTask]) -> str:
    """What comes next while tasks are being done."""
    shown = still_listed(tasks)
    offered = [task.name for task in shown if task.state is TaskState.OFFERED]
    failed = [task.name for task in shown if task.state is TaskState.FAILED]
    said = []
    if waiting := stuck(shown):
        said.append(
            f"{', '.join(waiting[:8])} wait for each other: correct `{feature.folder}/tasks.md` on"
            f" the branch, or `/stop {waiting[0]}`"
        )
    if offered:
        said.append(f"{', '.join(offered[:8])} wait for people")
    if failed:
        said.append(f"`/retry` has {', '.join(failed[:8])} done again")
    pull = f"#{feature.pull} is a draft until then" if feature.pull else "a draft is opened"
    problem = f" ⚠️ {harmless(one_line(feature.problem, 300), 400)}" if feature.problem else ""
    return f"{'; '.join(said) or 'the agents go on by themselves'}; {pull}.{problem}"


def review_next(feature: Feature) -> str:
    """What comes next when all tasks are done."""
    where = f"#{feature.pull}" if feature.pull else f"branch `{feature.branch}`"
    problem = f" ⚠️ {harmless(one_line(feature.problem, 300), 400)}" if feature.problem else ""
    if feature.blocked:
        return f"@degaulle found what must not be merged in {where}; see `baron/review`.{problem}"
    return f"look at {where} and merge it.{problem}"
