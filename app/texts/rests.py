"""What rests on an answer that is changed, as whoever changes it reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

SHOWN = 12
"""Lines of a document that are named."""


@dataclass(frozen=True, slots=True)
class Resting:
    """Document → its lines, counted from 1; tasks that are done again; the pull request or 0."""

    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    pull: int = 0


def lines_that_name(question: str, text: str) -> tuple[int, ...]:
    """The lines of a document that name a question: `Q1`, and not `Q12`."""
    wanted = re.compile(rf"\b{re.escape(question)}\b")
    found = enumerate(text.splitlines(), start=1)
    return tuple(number for number, line in found if wanted.search(line))


def rests_reply(question: str, resting: Resting) -> str:
    """One sentence on what the change touches; empty for nothing."""
    parts = [f"`{name}` {_lines(numbers)}" for name, numbers in resting.lines.items()]
    if resting.tasks:
        parts.append(f"{', '.join(resting.tasks[:30])}, which {_are(resting.tasks)} done again")
    if resting.pull and resting.tasks:
        parts.append(f"#{resting.pull}")
    return f"On {question} rested: {'; '.join(parts)}." if parts else ""


def _lines(numbers: tuple[int, ...]) -> str:
    named = ", ".join(map(str, numbers[:SHOWN])) + (" …" if len(numbers) > SHOWN else "")
    return f"{'line' if len(numbers) == 1 else 'lines'} {named}"


def _are(tasks: tuple[str, ...]) -> str:
    return "is" if len(tasks) == 1 else "are"
