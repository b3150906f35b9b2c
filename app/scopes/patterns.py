"""Patterns of a scope file: CODEOWNERS syntax, after GitHub's page "About code owners".

`*` and `?` stay within one level, `**` as a whole level stands for any number of levels. A slash
at the start or in the middle ties the pattern to the root; without one it is found anywhere. What
names a folder covers everything below it, but for a last level of `*`, which stands for the
direct children only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import re2

MAX_PATTERN = 4096
"""Characters; no path that Linux can open is longer."""


class Kind(Enum):
    """How a level of a pattern is to be matched."""

    LITERAL = auto()
    """By the very name."""
    ENDING = auto()
    """By what follows the star in `*.md`; it begins with a dot."""
    GLOB = auto()
    """By a regular expression."""
    ONE = auto()
    """`*`: by every name."""
    ANY = auto()
    """`**`: by any number of levels, also none."""


@dataclass(frozen=True, slots=True)
class Level:
    """What stands between two slashes.

    `text` is the name, the ending, or the expression (RE2) of a glob.
    """

    kind: Kind
    text: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern taken apart, from the root down.

    `itself`: the path that the levels lead to is meant. `below`: everything below it is meant.
    """

    levels: tuple[Level, ...]
    itself: bool
    below: bool


ANY, ONE = Level(Kind.ANY), Level(Kind.ONE)

_Token = tuple[str, bool]
"""A character, and whether it stands for itself although it is `*` or `?`."""

_STAR: _Token = ("*", False)


def problem(pattern: str) -> str | None:
    """What is wrong with a pattern and what to write instead, or None if nothing is."""
    if len(pattern) > MAX_PATTERN:
        return f"the pattern is longer than {MAX_PATTERN} characters; shorten it"
    if pattern.startswith("!"):
        return '"!" is not supported; give the exception a later line of its own'
    if pattern.endswith("\\") and (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        return "nothing follows the backslash at the end of the pattern; remove it"
    bare = "".join(char for char, escaped in _tokens(pattern) if not escaped)
    if "[" in bare or "]" in bare:
        return '"[ ]" is not supported; write "?" or "*", or a backslash before each bracket'
    if "***" in pattern:
        return 'three stars in a row mean nothing; write "*" or "**"'
    if any(char.isspace() or char < " " or char == "\x7f" for char in bare):
        return "the pattern has an invisible character; remove it"
    return None


def shape(pattern: str) -> Shape | None:
    """The pattern taken apart; None if it matches no path. It must not have a `problem`."""
    levels = _levels(pattern)
    folder = len(levels) > 1 and not levels[-1]
    if folder:
        levels.pop()
    anchored = len(levels) > 1
    if anchored and not levels[0]:
        levels.pop(0)
    if not all(levels):
        return None  # "/" alone, or "//": no path has a level without a name
    read = [_level(tokens) for tokens in levels]
    return _ended(read if anchored else [ANY, *read], folder)


def _ended(levels: list[Level], folder: bool) -> Shape:
    match levels[-1].kind, folder:
        case Kind.ANY, True:  # "x/**/": what lies in a folder below x
            return Shape((*levels, ONE), itself=False, below=True)
        case Kind.ANY, False:
            return Shape(tuple(levels[:-1]), itself=False, below=True)
        case Kind.ONE, False:
            return Shape(tuple(levels), itself=True, below=False)
        case _:
            return Shape(tuple(levels), itself=not folder, below=True)


def _tokens(pattern: str) -> Iterator[_Token]:
    chars = iter(pattern)
    for char in chars:
        if char == "\\":
            yield next(chars, char), True
        else:
            yield char, False


def _levels(pattern: str) -> list[list[_Token]]:
    levels: list[list[_Token]] = [[]]
    for char, escaped in _tokens(pattern):
        if char == "/":
            levels.append([])
        else:
            levels[-1].append((char, escaped))
    return levels


def _level(tokens: list[_Token]) -> Level:
    if tokens == [_STAR]:
        return ONE
    if tokens == [_STAR, _STAR]:
        return ANY
    wild = [place for place, token in enumerate(tokens) if token in (_STAR, ("?", False))]
    text = "".join(char for char, _ in tokens)
    if not wild:
        return Level(Kind.LITERAL, text)
    if wild == [0] and text.startswith("*."):
        return Level(Kind.ENDING, text[1:])
    return Level(Kind.GLOB, "".join(map(_expression, tokens)))


def _expression(token: _Token) -> str:
    match token:
        case "*", False:
            return "(?s:.*)"
        case "?", False:
            return "(?s:.)"
        case char, _:
            return str(re2.escape(char))
