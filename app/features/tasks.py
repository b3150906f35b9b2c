"""The tasks of a tasks.md as people write them (specs/1, US5 and FR-017).

A task is what GitHub shows with a box; dependencies may also stand in a section of that name.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from string import ascii_letters
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from app.features.task_paths import named_paths
from app.features.task_words import MALFORMED, Named, head, orders, shown, waits_for


@dataclass(frozen=True, slots=True)
class Task:
    """One box. `description` is its first line after the markers, `details` all lines below."""

    id: str | None
    done: bool
    parallel: bool
    story: str | None
    phase: str | None
    """The text of the outermost heading below the title."""
    description: str
    paths: tuple[str, ...]
    depends_on: tuple[str, ...]
    line: int
    details: str = ""


@dataclass(frozen=True, slots=True)
class TaskError:
    """Why something on a line could not be read, or cannot be done."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Tasks:
    """Everything that could be read, in order, and what is wrong with the rest."""

    tasks: tuple[Task, ...]
    errors: tuple[TaskError, ...]


def parse_tasks(text: str) -> Tasks:
    """Read a tasks.md; lines count from 1. Never raises: what is wrong is an error with a line."""
    reader = _Reader(text.removeprefix("\ufeff"))
    links = _Links(reader)
    tasks = tuple(reader.finished(task) for task in reader.tasks)
    errors = [*reader.errors, *links.circles()]
    return Tasks(tasks, tuple(sorted(errors, key=lambda error: error.line)))


_BOX = re.compile(r"\[([^\[\]\n]{0,3})\](?!\()(.*)")
_BROKEN_LINE = re.compile(r"\s*(?:(?:[-*+•–]|\d{1,9}[.)])[ \t]*)?\[[ xX]?\]\s*[*_~`\[]*T\d")
_BROKEN = frozenset("x - ~ ✓ ✔ ✗ * v / > _ o".split()) | {""}
_STARTS_WITH_ID = re.compile(r"[\s*_~`\[]*T\d")
_STORY = re.compile(r"US\d{1,4}[a-z]?", re.IGNORECASE)
_EMPTY = "{} has no description: say what is to be done"
_UNSEEN = "GitHub sees no task here: begin it with “- [ ] ”, not indented, after an empty line"
_TOO_DEEP = "nested too deep to be read: write it with fewer bullets, numbers or “>” before it"
_TOO_LONG = "too long: only its first {:,} characters were read; split it into shorter lines"
_FILES = ("file", "path", "location")


_Key = tuple[int, str]


def _key(name: str) -> _Key:
    """T1 and T001 are the same task."""
    digits = name[1:].rstrip(ascii_letters)
    return int(digits), name[1 + len(digits) :].lower()


@dataclass(slots=True)
class _Open:
    """A task that is being read; `end` is its last line."""

    task: Task
    end: int
    texts: list[str]
    depends_on: dict[str, None] = field(default_factory=dict)


_DEEPEST, _LONGEST_LINE = 60, 20_000
"""Levels of blocks, of which a list has two for each of its own; characters."""


def _deep(state: StateBlock, line: int, _: int, silent: bool) -> bool:
    """A rule of the parser: leaves out one line that is nested too deep, not all that follow."""
    if left_out := not silent and state.level >= _DEEPEST:
        state.push("too_deep", "", 0).map = [line, line + 1]
        state.line = line + 1
    return left_out


@cache
def _markdown() -> MarkdownIt:
    """Blocks only; link definitions are left out, as many of them take very long."""
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST + 2})
    parser.enable("table").disable("reference").block.ruler.before("table", "too_deep", _deep)
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


class _Reader:
    """Goes through the blocks: tasks, what is written below them, the section on dependencies."""

    def __init__(self, text: str) -> None:
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.tasks: list[_Open] = []
        self.errors: list[TaskError] = []
        self.section: list[tuple[int, list[str]]] = []
        self._headings: list[tuple[int, str]] = []
        self._items: list[tuple[int, _Open | None]] = []
        """Open list items: where each ends, and the task that it is or belongs to."""
        self._heading = False
        tokens = _markdown().parse(text)
        for number, token in enumerate(tokens):
            self._step(token, number > 1 and tokens[number - 2].type == "list_item_open")

    def error(self, line: int, reason: str) -> None:
        self.errors.append(TaskError(line, reason))

    def finished(self, one: _Open) -> Task:
        files = [said for said in one.texts[1:] if said.lstrip("*_ ").lower().startswith(_FILES)]
        paths = named_paths(one.texts[0], *files)
        details = dedent("\n".join(self.lines[one.task.line : one.end])).strip()
        return replace(one.task, paths=paths, depends_on=tuple(one.depends_on), details=details)

    def _step(self, token: Token, first: bool) -> None:
        """`first` is what stands right after a bullet."""
        start, end = token.map or (0, 0)
        match token.type:
            case "heading_open" if token.level == 0:
                level = int(token.tag[1])
                self._headings = [one for one in self._headings if one[0] < level]
                self._headings.append((level, ""))
                self._heading = True
            case "heading_close":
                self._heading = False
            case "list_item_open":
                self._items.append((end, self._items[-1][1] if self._items else None))
            case "list_item_close":
                self._items.pop()
            case "inline" if self._heading:
                self._headings[-1] = (self._headings[-1][0], token.content.strip())
            case "inline":
                self._text(token.content, start + 1, first)
            case "too_deep":
                self.error(start + 1, _TOO_DEEP)
            case "html_block" | "code_block" if not token.content.lstrip().startswith("<!--"):
                self._broken(token.content.split("\n"), start + 1)

    def _text(self, content: str, line: int, first: bool) -> None:
        box = _BOX.match(content) if first else None
        lines = shown(content).split("\n")
        self._broken(lines[1:] if box else lines, line + 1 if box else line)
        if box and self._boxed(box, lines, line):
            return
        if self._items and (task := self._items[-1][1]):
            task.texts.append(self._short(lines, line))
        elif any("dependenc" in one.lower() for level, one in self._headings if level > 1):
            self._section(self._short(lines, line).split("\n"), line)

    def _short(self, lines: list[str], line: int) -> str:
        """The text without what is too far right to be read."""
        for number, text in enumerate(lines, start=line):
            if len(text) > _LONGEST_LINE:
                self.error(number, _TOO_LONG.format(_LONGEST_LINE))
        return "\n".join(text[:_LONGEST_LINE] for text in lines)

    def _boxed(self, found: re.Match[str], lines: list[str], line: int) -> bool:
        """Whether it is a task; a broken one is an error."""
        box, rest = found.groups()
        if box not in {" ", "x", "X"} or not rest or not rest[0].isspace():
            if box in {" ", "x", "X"} and not rest:
                self.error(line, _EMPTY.format("the task"))
            elif box.strip().lower() in _BROKEN or _STARTS_WITH_ID.match(rest):
                shown = f"[{box}]{rest[:1]}"
                self.error(line, f"“{shown}” is no box: write “[ ] ” or “[x] ” before the task")
            return False
        for above in (above for _, above in self._items[:-1] if above):
            above.end = min(above.end, line - 1)
        content = self._short(lines, line)
        name, tags, said = head(content.split("\n")[0][found.start(2) :].strip())
        story = next((code.group().upper() for tag in tags if (code := _STORY.match(tag))), None)
        marks = (box != " ", "P" in map(str.upper, tags), story, self._phase())
        task = Task(name, *marks, said, (), (), line)
        self.tasks.append(_Open(task, self._items[-1][0], [content]))
        self._items[-1] = (self._items[-1][0], self.tasks[-1])
        if not task.id and (wrong := MALFORMED.match(task.description)):
            self.error(line, f"“{wrong.group(1)[:40]}” is no task id: write it like T001")
        if not task.description:
            self.error(line, _EMPTY.format(task.id or "the task"))
        return True

    def _phase(self) -> str | None:
        ranked = sorted(self._headings, key=lambda one: one[0] == 1)
        found = (one for level, one in ranked if level > 1 or one.lower().startswith("phase"))
        return next(found, None)

    def _broken(self, lines: Iterable[str], line: int) -> None:
        for number, text in enumerate(lines, start=line):
            if _BROKEN_LINE.match(text):
                self.error(number, _UNSEEN)

    def _section(self, lines: list[str], line: int) -> None:
        for number, text in enumerate(lines, start=line):
            if number == line or _STARTS_WITH_ID.match(text):
                self.section.append((number, []))
            self.section[-1][1].append(text)


_MOST, _CIRCLES = 50_000, 20
"""Dependencies that are followed in one document, and circles that are told."""


class _Links:
    """What waits for what, by the texts of the tasks and by the section on dependencies."""

    def __init__(self, reader: _Reader) -> None:
        self._reader, self._left = reader, _MOST
        self._first: dict[_Key, _Open] = {}
        self._told: set[tuple[int, str]] = set()
        for task in reader.tasks:
            name = task.task.id
            if name and (same := self._first.setdefault(_key(name), task)) is not task:
                reason = f"{name} is taken by line {same.task.line}: give it an id of its own"
                reader.error(task.task.line, reason)
        self._order = sorted(self._first)
        for task in reader.tasks:
            for named in (named for text in task.texts for named in waits_for(text)):
                self._wait(task, self._ids(task.task.line, [named]), bool(named[1]))
        for line, said in reader.section:
            for earlier, later in orders(" ".join(said)):
                before = self._ids(line, earlier)
                for one in self._ids(line, later):
                    if follower := self._first.get(_key(one)):
                        self._wait(follower, before, True)

    def _wait(self, task: _Open, ids: list[str], several: bool) -> None:
        """A range that holds the task itself means the others of it."""
        self._left -= len(ids)
        if self._left < 0:
            self._error(task.task.line, "too many dependencies: name the nearest ones only")
        else:
            own = task.task.id if several else None
            task.depends_on.update((one, None) for one in ids if one != own)

    def _ids(self, line: int, names: Iterable[Named]) -> list[str]:
        """The ids that are meant. A range goes over gaps, but both its ends must be there."""
        found: list[str] = []
        for first, last in names:
            if self._left < 0:
                break
            low, high = _key(first), _key(last or first)
            if high < low:
                self._error(line, f"{first}-{last} runs backwards: write the lower id first")
            for name, key in ((first, low), (last or first, high)):
                if key not in self._first:
                    self._error(line, f"{name} is no task of this list, so nothing can wait for it")
            between = self._order[bisect_left(self._order, low) : bisect_right(self._order, high)]
            self._left -= len(between) if last else 0
            known = [self._first[key].task.id or "" for key in between]
            found += known or [one for one in (first, last) if one]
        return found

    def _error(self, line: int, reason: str) -> None:
        if (line, reason) not in self._told:
            self._told.add((line, reason))
            self._reader.error(line, reason)

    def circles(self) -> Iterator[TaskError]:
        """The first circles, no task in two of them; more are found when these are gone."""
        graph = {key: list(map(_key, task.depends_on)) for key, task in self._first.items()}
        for _ in range(_CIRCLES):
            try:
                return TopologicalSorter(graph).prepare()
            except CycleError as error:
                circle: list[_Key] = error.args[1][::-1]
            gone = set(circle)
            graph = {key: before for key, before in graph.items() if key not in gone}
            names = [self._first[key].task.id or "" for key in circle]
            shown = " → ".join(names if len(names) < 12 else [*names[:10], "…", names[-1]])
            line = min(self._first[key].task.line for key in circle)
            yield TaskError(line, f"a circle: {shown}; take one of these dependencies away")
