"""What an execution agent is told of its task, and nothing that the task does not need.

Whatever somebody typed is fenced and cut, each part to its own share, so that no text, however
long, leaves room for nothing else (specs/1, FR-019). A reviewer is told lists and code likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.agents.fences import Fence, seen
from app.agents.prompting import Prompts
from app.agents.protocols import Prompt
from app.texts.safe import cut, one_line, visible

MOST = 60_000
"""Characters of a whole user prompt; the shares below and the words around them stay under it."""
TITLE = 400
TEXT = 2_000
DETAILS = 8_000
ACCEPTANCE = 8_000
TESTS = 4_000
ANSWERS = 16_000
KNOWLEDGE = 12_000
WRITABLE = 4_000
"""Characters of each part; a list has its share for all its items together."""
_ROLE = 1_000
_TAIL = 8_000
"""Characters at the end of what an agent said that count as its last words."""
_REASON = 1_000
_BLOCKED = re.compile(r"^[ \t>*_`#-]{0,10}BLOCKED:[*_`]{0,3}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Brief:
    """One task, and what belongs to it."""

    agent: str
    """The handle, `@dede`; it and `role` come from the server's configuration."""
    role: str
    title: str
    """The feature's."""
    task_id: str
    text: str
    writable: tuple[str, ...]
    """The patterns of the scope file that name the agent."""
    folder: str
    """Where the feature's documents are: `specs/012-exports`."""
    details: str = ""
    """The lines below the task."""
    acceptance: tuple[str, ...] = ()
    test_paths: tuple[str, ...] = ()
    answers: tuple[tuple[str, str, str, str], ...] = ()
    """Name, question, answer and source of what is settled: `Q1`, …, …, `@mara`."""
    knowledge: tuple[str, ...] = ()
    """Passages of handbooks, those first that fit the task best."""


def brief(task: Brief, prompts: Prompts | None = None) -> Prompt:
    """The prompt of a task; without `prompts` by the files that are shipped.

    Its user part has less than `MOST` characters. Raises `PromptInvalid`.
    """
    fence = Fence()
    folder = f"The documents of the feature are in {task.folder}."
    user = {
        "feature": fence.data("feature", task.title, TITLE),
        "task": fence.data("task", f"{one_line(task.task_id, 40)} {task.text}".strip(), TEXT),
        "details": fence.data("details", task.details, DETAILS) if task.details.strip() else "",
        "acceptance": listed(
            fence, "acceptance", [f"- {one}" for one in task.acceptance], ACCEPTANCE
        ),
        "tests": listed(fence, "tests", task.test_paths, TESTS),
        "answers": listed(fence, "answers", answered(task.answers), ANSWERS, "\n\n"),
        "knowledge": listed(fence, "knowledge", task.knowledge, KNOWLEDGE, "\n\n"),
        "folder": fence.data("documents", folder, 400) if task.folder else "",
        "writable": listed(fence, "where to write", task.writable, WRITABLE),
    }
    who = {"agent": one_line(task.agent, 100), "role": one_line(task.role, _ROLE)}
    return (prompts or Prompts()).render("task", who, user)


def blocked(said: str) -> str:
    """Why the task could not be done, in one line; empty where the agent does not say so.

    That is what follows `BLOCKED:` at the start of one of its last lines. It is the agent's text:
    make it harmless before it is posted.
    """
    tail = said[-_TAIL:]
    if len(said) > _TAIL:
        tail = tail.partition("\n")[2]  # where the cut fell is no start of a line
    found = _BLOCKED.search(tail)
    if found is None:
        return ""
    return one_line(tail[found.end() :], _REASON) or "the agent gave no reason"


def answered(answers: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """Name, question, answer and source of each, as a text."""
    return [
        f"{name}: {cut(seen(question), 600)}\n{cut(seen(answer), 4_000)}\n({source})"
        for name, question, answer, source in answers
    ]


def listed(fence: Fence, label: str, texts: Sequence[str], budget: int, between: str = "\n") -> str:
    """Fenced texts, those of the first that fit; says how many are left out. Empty for none."""
    kept: list[str] = []
    left = budget
    for text in texts:
        part = cut(_uncommented(text), max(200, budget // 3))
        if len(part) + len(between) > left:
            break
        kept.append(part)
        left -= len(part) + len(between)
    if missing := len(texts) - len(kept):
        kept.append(f"({missing} more are left out)")
    return fence.data(label, between.join(kept), budget + 100) if kept else ""


def as_typed(fence: Fence, label: str, text: str, limit: int) -> str:
    """As `Fence.data`, with comments: in code everybody sees them, and they may be code.

    Taken out, one `<!--` in a line would hide all lines below it.
    """
    first, *_, last = fence.data(label, "", 0).split("\n")
    return "\n".join([first, cut(visible(text), limit).replace(fence.number, ""), last])


def _uncommented(text: str) -> str:
    """As a reader sees it; no rest of a comment may swallow what stands after it."""
    return seen(text).replace("<!--", "<! --")
