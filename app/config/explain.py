"""The configuration in force as a comment: every value, and where it was written (`/config`).

Anybody may read a comment, so what could hold a secret is not shown; and what others wrote in
their files must do nothing in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.config.document import Document, Path, empty
from app.config.inforce import InForce
from app.config.loader import FILES, SECTIONS, Config
from app.config.problems import Problem, path_text
from app.texts.safe import cell, harmless, one_line

MAX_TEXT = 50_000
"""Characters of the whole text; GitHub takes 65,536 in a comment."""
MAX_PROBLEMS = 25
"""How many problems are told before the rest is only counted."""
MAX_CELL = 300
HIDDEN = "•••"
DEFAULT = "default"

_RESERVE = 300
"""Characters kept free for the closing note."""
_SECRET_PARTS = frozenset({"channels", "base_url", "command", "url", "allow_hosts"})
"""Addresses and programs of the server; a webhook's address is often its password."""
_SECRET_WORD = re.compile("secret|key|token|password", re.IGNORECASE)
_CREDENTIALS = re.compile(r"://[^/\s]*@")
_NOT_IN_CODE = frozenset("`|\\<>&")


@dataclass(frozen=True, slots=True)
class _Row:
    path: Path
    value: object
    origin: str

    @property
    def key(self) -> str:
        return path_text(self.path)

    def line(self) -> str:
        value = HIDDEN if _secret(self.path, self.value) else _shown(_words(self.value))
        origin = self.origin if self.origin == DEFAULT else _shown(self.origin)
        return f"| {_shown(self.key)} | {value} | {origin} |"


def explain(in_force: InForce, *, only: str | None = None) -> str:
    """What is in force, as Markdown of at most `MAX_TEXT` characters.

    `only` is a section (`answerers`) or a key, with or without its section (`routes[0]`,
    `agents.roles.architect`); everything under it is shown.
    """
    only = (only or "").strip()
    parts = [_head(in_force)]
    room = MAX_TEXT - _RESERVE - len(parts[0])
    shown = left_out = 0
    for section in SECTIONS:
        rows = [row for row in _rows_of(in_force.config, section) if _within(section, row, only)]
        lines = [] if left_out else _fitting(section, rows, room)
        shown, left_out = shown + len(lines), left_out + len(rows) - len(lines)
        if lines:
            parts.append(_folded(section, lines, bool(only)))
            room -= len(parts[-1]) + 2
    if left_out:
        parts.append(_left_out(left_out))
    elif not shown:
        parts.append(_nothing(only))
    return "\n\n".join(parts)


def _head(in_force: InForce) -> str:
    """What is wrong first, then which layers these are."""
    layers = " ← ".join(_shown(layer) for layer in in_force.layers)
    problems = [_told(problem) for problem in in_force.problems[:MAX_PROBLEMS]]
    more = len(in_force.problems) - len(problems)
    if more:
        problems.append(f"- and {more:,} more")
    if problems:
        problems = ["**Not in force, until this is mended:**", "", *problems, ""]
    return "\n".join([*problems, f"In force: {layers}"])


def _told(problem: Problem) -> str:
    place = _shown(f"{problem.file}:{problem.line}")
    words = ": ".join(part for part in (problem.where, problem.what) if part)
    return f"- {place} {harmless(one_line(words, 2 * MAX_CELL), 2 * MAX_CELL)}"


def _rows_of(config: Config, section: str) -> Iterator[_Row]:
    document = config.documents.get(section) or empty(FILES[section])
    return _rows(document, getattr(config, section), (), written=True)


def _rows(document: Document, value: object, path: Path, *, written: bool) -> Iterator[_Row]:
    """A row for each value that was written, or that has a default which means something."""
    if isinstance(value, BaseModel):
        # A rule is known by its pattern, so that goes first.
        for name in sorted(type(value).model_fields, key=lambda name: name != "pattern"):
            told = written and name in value.model_fields_set
            yield from _rows(document, getattr(value, name), (*path, name), written=told)
    elif isinstance(value, Mapping | tuple) and value:
        items: Any = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from _rows(document, item, (*path, key), written=written)
    elif written:
        yield _Row(path, value, str(document.mark(path)))
    elif value not in (None, "") and not isinstance(value, Mapping | tuple):
        yield _Row(path, value, DEFAULT)


def _within(section: str, row: _Row, only: str) -> bool:
    if not only or only == section:
        return True
    begins = (f"{only}.", f"{only}[")
    return any(key == only or key.startswith(begins) for key in (row.key, f"{section}.{row.key}"))


def _secret(path: Path, value: object) -> bool:
    """Whether a value may hold a secret. Thresholds are percentages, whatever their topic."""
    if path[:1] == ("thresholds",):
        return False
    words = [part for part in path if isinstance(part, str)]
    if any(part in _SECRET_PARTS or _SECRET_WORD.search(part) for part in words):
        return True
    return isinstance(value, str) and _CREDENTIALS.search(value) is not None


def _words(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value == "" or isinstance(value, Mapping | tuple):
        return "(nothing)"
    return str(value)


def _shown(text: str) -> str:
    """Text for a cell: as code, where names ping nobody, or made harmless if code cannot be."""
    line = one_line(text, MAX_CELL)
    if not line or _NOT_IN_CODE & set(line):
        return cell(line, 4 * MAX_CELL)
    return f"`{line}`"


def _fitting(section: str, rows: list[_Row], room: int) -> list[str]:
    """The first lines of a table, as many as there is room for."""
    room -= len(_folded(section, [], True))
    lines: list[str] = []
    for row in rows:
        line = row.line()
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return lines


def _folded(section: str, lines: list[str], unfolded: bool) -> str:
    opening = f"<details{' open' if unfolded else ''}><summary>{section}</summary>"
    table = ["| key | value | from |", "| --- | --- | --- |", *lines]
    return "\n".join([opening, "", *table, "", "</details>"])


def _left_out(count: int) -> str:
    rows = "1 row is" if count == 1 else f"{count:,} rows are"
    return f"{rows} left out; the files named above have them."


def _nothing(only: str) -> str:
    place = f" under {_shown(one_line(only, 100))}" if only else ""
    return f"There is nothing{place}. Sections: {', '.join(f'`{name}`' for name in SECTIONS)}."
