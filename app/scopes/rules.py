"""Reads a scope file: a pattern and its owners on each line, comments behind `#`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from app.scopes.patterns import problem

MAX_BYTES = 3 * 1024 * 1024
"""GitHub reads no CODEOWNERS file above this size."""

_WORD = re2.compile(r"(?s)(?:\\.|[^ \t\\])+\\?|\\")
_OWNER = re2.compile(
    r"@[A-Za-z0-9][A-Za-z0-9_.-]*(?:\[bot\])?(?:/[A-Za-z0-9_.-]+)?"
    r"|[A-Za-z0-9_.+%-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Flaw:
    """A line that cannot be read, counted from 1, and what to do about it."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of a scope file, counted from 1. Without owners its paths are nobody's."""

    line: int
    pattern: str
    owners: tuple[str, ...]
    """`@name`, `@organisation/team` or an e-mail address, as written."""


def read(text: str) -> tuple[tuple[Rule, ...], tuple[Flaw, ...]]:
    """All rules and all flaws, in the order of their lines. Takes CRLF and a byte order mark."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        return (), (
            Flaw(1, "it is larger than 3 MB, or no file; GitHub would not read it, either"),
        )
    found = tuple(_lines(text.removeprefix("\ufeff")))
    rules = tuple(one for one in found if isinstance(one, Rule))
    return rules, tuple(one for one in found if isinstance(one, Flaw))


def _lines(text: str) -> Iterator[Rule | Flaw]:
    for number, line in enumerate(text.split("\n"), start=1):
        words = _words(line.removesuffix("\r"))
        if words:
            yield _rule(number, words)


def _words(line: str) -> list[str]:
    """The words before the comment, if there is one. An escaped blank does not end a word."""
    words: list[str] = _WORD.findall(line)
    comment = (place for place, word in enumerate(words) if word.startswith("#"))
    return words[: next(comment, len(words))]


def _rule(line: int, words: list[str]) -> Rule | Flaw:
    pattern, *owners = words
    if reason := problem(pattern):
        return Flaw(line, reason)
    for owner in owners:
        if not _OWNER.fullmatch(owner):
            return Flaw(line, _not_an_owner(owner))
    return Rule(line, pattern, tuple(owners))


def _not_an_owner(word: str) -> str:
    return (
        f'"{word[:_SHOWN]}" is no owner; write @name, @organisation/team or an e-mail address, '
        "and a backslash before a blank in a path"
    )
