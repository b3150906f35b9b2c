"""The question bank: what a feature request should say, and what is asked if it does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from app.features.types import FeatureType
from app.questions.model import Choice

CATEGORIES = (
    "scope",
    "data",
    "flows",
    "quality",
    "integrations",
    "edge-cases",
    "constraints",
    "terms",
    "completion",
)
"""The clarify taxonomy."""
TARGETS = ("architect", "product", "human")
_FIELDS = frozenset(
    "id category topic target types triggers answered_by said question why choices recommended"
    " impact depends_on".split()
)
_LETTERS = "ABCDEFGH"


class BankError(Exception):
    """Entries that cannot be used: one line for each, `file: entry: what is wrong`."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of the bank. `triggers` make it relevant; without any it always is.

    `answered_by` holds compiled RE2 patterns, `said` example sentences: either, found in the
    issue, means that it need not be asked.
    """

    id: str
    category: str
    topic: str
    target: str
    types: tuple[FeatureType, ...]
    triggers: tuple[Any, ...]
    answered_by: tuple[Any, ...]
    said: tuple[str, ...]
    question: str
    why: str
    choices: tuple[Choice, ...]
    recommended: str | None
    impact: int
    depends_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """All entries, in the order of the files."""

    entries: tuple[Entry, ...]


def build_bank(files: Iterable[tuple[str, Any]]) -> Bank:
    """The bank in these files (name, parsed YAML). Raises `BankError` naming every mistake."""
    entries: list[Entry] = []
    problems: list[str] = []
    for file, rows in files:
        if not isinstance(rows, list):
            problems.append(f"{file}: the file is not a list of entries")
            continue
        for number, row in enumerate(rows, start=1):
            where = f"{file}: entry {number}"
            if isinstance(row, dict) and isinstance(row.get("id"), str):
                where = f"{file}: {row['id']}"
            try:
                entries.append(_entry(row))
            except (KeyError, TypeError, ValueError) as error:
                problems.append(f"{where}: {_said(error)}")
    problems += _crossed(entries)
    if problems:
        raise BankError(problems)
    return Bank(tuple(entries))


def _said(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)


def _crossed(entries: Sequence[Entry]) -> list[str]:
    ids = [entry.id for entry in entries]
    problems = [
        f"{one}: the id stands twice" for one in sorted({i for i in ids if ids.count(i) > 1})
    ]
    for entry in entries:
        problems += [
            f"{entry.id}: depends on {other}, which is not in the bank"
            for other in entry.depends_on
            if other not in ids
        ]
    return problems


def _entry(row: Any) -> Entry:
    if not isinstance(row, dict):
        raise TypeError("is not a mapping")
    if unknown := sorted(set(map(str, row)) - _FIELDS):
        raise ValueError(f"unknown key {unknown[0]}")
    choices = tuple(
        Choice(_LETTERS[number], str(choice["text"]), str(choice.get("implication", "")))
        for number, choice in enumerate(row.get("choices", []))
    )
    recommended = row.get("recommended")
    if recommended is not None and recommended not in {choice.letter for choice in choices}:
        raise ValueError(f"recommends {recommended}, which is no choice")
    return Entry(
        id=str(row["id"]),
        category=_one_of(row["category"], CATEGORIES, "category"),
        topic=str(row["topic"]),
        target=_one_of(row["target"], TARGETS, "target"),
        types=tuple(FeatureType(name) for name in row["types"]),
        triggers=tuple(_trigger(str(word)) for word in row.get("triggers", [])),
        answered_by=tuple(_pattern(str(pattern)) for pattern in row.get("answered_by", [])),
        said=tuple(map(str, row.get("said", []))),
        question=str(row["question"]),
        why=str(row["why"]),
        choices=choices,
        recommended=recommended,
        impact=_impact(row["impact"]),
        depends_on=tuple(map(str, row.get("depends_on", []))),
    )


def _one_of(value: Any, allowed: Sequence[str], name: str) -> str:
    if value not in allowed:
        raise ValueError(f"{name} {value!r} is not one of {', '.join(allowed)}")
    return str(value)


def _impact(value: Any) -> int:
    if not isinstance(value, int) or not 1 <= value <= 5:
        raise ValueError(f"impact {value!r} is not a number from 1 to 5")
    return value


def _trigger(word: str) -> Any:
    """A word or phrase, at its beginning; endings may follow (`export` finds `exports`)."""
    return _pattern(rf"\b{re2.escape(word.lower())}")


def _pattern(pattern: str) -> Any:
    try:
        return re2.compile(f"(?i){pattern}")
    except re2.error as error:
        raise ValueError(f"the pattern {pattern!r} cannot be used: {error}") from error
