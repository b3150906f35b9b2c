"""What is wrong with a configuration: a place and a reason, for whoever can mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One error or warning. Lines count from 1; `where` is a path such as `routes[0].sla`."""

    file: str
    line: int
    where: str
    what: str

    def __str__(self) -> str:
        parts = (f"{self.file}:{self.line}", self.where, self.what)
        return ": ".join(part for part in parts if part)


class ConfigInvalid(Exception):
    """A configuration that must not come into force; `errors` says why, in reading order."""

    def __init__(self, errors: Iterable[Problem]) -> None:
        self.errors: tuple[Problem, ...] = tuple(sorted(set(errors)))
        super().__init__("\n".join(map(str, self.errors)))


def path_text(path: Sequence[str | int]) -> str:
    """`("routes", 0, "sla")` as people write it: `routes[0].sla`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def suggestion(word: str, known: Iterable[str]) -> str:
    """What somebody may have meant: ` (did you mean "pattern"?)`, or all there is to choose."""
    names = sorted(known)
    near = difflib.get_close_matches(word.lower(), names, n=1)
    if near:
        return f' (did you mean "{near[0]}"?)'
    return f" (known: {', '.join(names)})" if names else ""
