"""A patch as GitHub lists it for a file of a pull request: hunks only, without `---` and `+++`.

Lines are told by their first character alone, so that a damaged count harms nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -[0-9]{1,9}(?:,[0-9]{1,9})? \+([0-9]{1,9})(?:,[0-9]{1,9})? @@")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the new file; `number` counts from 1, `text` has no line break."""

    number: int
    text: str
    added: bool


@dataclass(frozen=True, slots=True)
class Patch:
    """What a patch shows of the new file, in its order."""

    lines: tuple[Line, ...] = ()

    @property
    def added(self) -> tuple[Line, ...]:
        """The lines that were not there before."""
        return tuple(line for line in self.lines if line.added)

    @property
    def commentable(self) -> frozenset[int]:
        """The lines of the new file that GitHub takes a comment on."""
        return frozenset(line.number for line in self.lines)

    @property
    def runs(self) -> Iterator[tuple[Line, ...]]:
        """Added lines that stand one right below the other."""
        run: list[Line] = []
        for line in self.added:
            if run and line.number != run[-1].number + 1:
                yield tuple(run)
                run = []
            run.append(line)
        if run:
            yield tuple(run)


def read_patch(patch: str | None) -> Patch:
    """Reads what can be read. Never raises: what belongs to no hunk is passed over."""
    return Patch(tuple(_lines(patch.removesuffix("\n").split("\n") if patch else ())))


def _lines(raw: list[str] | tuple[()]) -> Iterator[Line]:
    number = 0
    for text in raw:
        if text.startswith("@@"):
            found = _HUNK.match(text)
            number = max(1, int(found.group(1))) if found else 0
        elif number and text[:1] in {"+", " ", ""}:  # some tools cut the blank of an empty line
            yield Line(number, text[1:].removesuffix("\r"), text.startswith("+"))
            number += 1
        elif text[:1] not in {"-", "\\"}:
            number = 0
