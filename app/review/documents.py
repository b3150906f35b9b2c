"""Findings about the documents of a feature: what no task takes up, what no commit did."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.features.tasks import Task
from app.review.model import Finding, Severity, Subject
from app.review.names import listed

_Name = tuple[str, int, str]
"""FR-1 and FR-001 are the same: letters, number, letter behind it."""

_KIND = r"(FR|NFR|SC|Q)-?"
_DEFINED = re.compile(
    rf"(?:(?:[-*+]|#{{1,6}}|[0-9]{{1,3}}[.)])[ \t]+|\|[ \t]*)?[*_`]*{_KIND}([0-9]{{1,5}})([a-z]?)"
    r"[*_`]*[ \t]*[:：|–—]"
)
_BASIS = re.compile(r"\((Q[0-9]{1,5}(?:, ?Q[0-9]{1,5})*)\)$")
_NAMED = re.compile(
    rf"\b{_KIND}([0-9]{{1,5}})([a-z]?)(?![0-9A-Za-z])"
    r"(?:[*_`]*\s?(?:-|–|—|\.\.\.?|\bto\b|\bthrough\b)\s?[*_`]*(?:(?:FR|NFR|SC|Q)-?)?"
    r"([0-9]{1,5})(?![0-9A-Za-z]))?"
)
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_NOTHING_SAID = (
    "**FR-001**: What the overview says.",
    "**SC-001**: Every requirement above has a passing test.",
)
"""Lines of a specification whose questions said nothing there: every task takes them up."""
_SEVERAL = 5
"""With more there is one finding for all of them."""
_RANGE = 1000


def unplanned(subject: Subject) -> Iterator[Finding]:
    """Lines of the specification that no task names, themselves or by the question behind them."""
    if subject.spec is None or not subject.tasks:
        return
    named = set(_named("\n".join(f"{task.description}\n{task.details}" for task in subject.tasks)))
    left = [
        (line, said) for line, said, names in _required(subject.spec) if named.isdisjoint(names)
    ]
    if len(left) > _SEVERAL:
        shown = listed([said for _, said in left], 20)
        yield _unplanned(subject.spec_path, f"No task takes up {shown}.")
        return
    for line, said in left:
        yield _unplanned(subject.spec_path, f"No task takes up {said}.", line, said)


def _unplanned(path: str, message: str, line: int | None = None, said: str = "") -> Finding:
    reason = (
        "What no task names is easily forgotten: name it in the task that does it, as in"
        " “(FR-003)”, or take it out of the specification."
    )
    return Finding("unplanned", Severity.MINOR, message, reason, path, line, said)


def _required(spec: str) -> Iterator[tuple[int, str, frozenset[_Name]]]:
    """Line, id as written, and all names under which a task may take it up; each once.

    A question on which a requirement rests is that requirement, and is not told again.
    """
    found: dict[_Name, tuple[int, str, set[_Name]]] = {}
    told: dict[_Name, set[_Name]] = {}
    for number, text in _plain(spec):
        if not (match := _DEFINED.match(text)):
            continue
        name = _name(*match.group(1, 2, 3))
        basis = _BASIS.search(text)
        rests = set(_named(basis.group(1))) if basis and name[0] != "Q" else set[_Name]()
        said = _said(*match.group(1, 2, 3))
        found.setdefault(name, (number, said, {name} | rests))
        for question in rests:
            told.setdefault(question, set()).add(name)
    for name, (number, said, names) in found.items():
        if name not in told:
            yield number, said, frozenset(names)


def _said(kind: str, number: str, letter: str) -> str:
    return f"{kind}{'' if kind == 'Q' else '-'}{number}{letter}"


def _plain(spec: str) -> Iterator[tuple[int, str]]:
    """Lines that may define something: not quoted, not code, and not empty phrases."""
    code = False
    for number, line in enumerate(spec.replace("\r\n", "\n").split("\n"), start=1):
        if _FENCE.match(line):
            code = not code
        elif not code and not line.endswith(_NOTHING_SAID):
            yield number, line.strip()


def _named(text: str) -> Iterator[_Name]:
    """The names in a text, also those between the ends of a range."""
    for kind, number, letter, last in _NAMED.findall(text):
        yield _name(kind, number, letter)
        if last and 0 < int(last) - int(number) <= _RANGE:
            yield from ((kind, one, "") for one in range(int(number), int(last) + 1))


def _name(kind: str, number: str, letter: str) -> _Name:
    return kind, int(number), letter


_LOOKING = frozenset("review read find inspect".split())
_TRYING = frozenset("check verify validate run confirm measure try test".split())
_FIRST_WORD = re.compile(r"\W*([A-Za-z]+)")
_TASK = re.compile(r"T([0-9]{1,6})([a-z]?)", re.IGNORECASE)
_TASKS_SHOWN = 10


def undone(subject: Subject) -> Iterator[Finding]:
    """Tasks that no commit signed for; where nobody signs, nothing can be said."""
    signed = any(commit.agents or commit.tasks for commit in subject.commits)
    if subject.draft or not subject.tasks or not signed:
        return
    done = {_task(name) for commit in subject.commits for name in commit.tasks}
    left = [task.id for task in subject.tasks if task.id and _is_due(task, done)]
    if left:
        noun = "task" if len(left) == 1 else "tasks"
        yield Finding(
            "undone",
            Severity.IMPORTANT,
            f"No commit names the {noun} {listed(left, _TASKS_SHOWN)}.",
            "Nobody can tell whether this was done: let the commit end in `Task: "
            f"{left[0]}`, or take the task out of the list.",
            subject.tasks_path,
        )


def _is_due(task: Task, done: set[tuple[int, str] | None]) -> bool:
    return _task(task.id or "") not in done and _leaves_something(task)


def _leaves_something(task: Task) -> bool:
    """A change; who only reads, or tries what is there, has nothing to commit."""
    found = _FIRST_WORD.match(task.description)
    verb = found.group(1).lower() if found else ""
    outside = any(not path.startswith("specs/") for path in task.paths)
    if task.paths:
        return outside and verb not in _LOOKING
    return verb not in _LOOKING | _TRYING


def _task(name: str) -> tuple[int, str] | None:
    found = _TASK.fullmatch(name.strip())
    return (int(found.group(1)), found.group(2).lower()) if found else None
