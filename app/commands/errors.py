"""Sentences for people whose command could not be read. Commands and echoes stand in code."""

from __future__ import annotations

from collections.abc import Iterable

from app.commands.refs import guess
from app.commands.specs import SPECS
from app.texts.safe import one_line

_OFTEN_MEANT_FOR_OTHERS = frozenset({"ready", "tests", "unassign", "test", "hold", "close"})
"""Commands of other bots that come near to one of ours."""


def echo(text: str) -> str:
    """A piece of what somebody wrote, short and as code, so that it pings and formats nothing."""
    return f"`{one_line(text.replace('`', '').replace('@', ''), 30) or ' '}`"


def needs(name: str, what: str) -> str:
    spec = SPECS[name]
    return f"`/{name}` needs {what}: `{spec.usage}`, for example `{spec.example}`."


def not_a_question(name: str, word: str) -> str:
    return f"{echo(word)} names no question. Did you mean `/{name} {guess(word)}`?"


def not_one_of(what: str, word: str, known: Iterable[str]) -> str:
    return f"{echo(word)} is no {what}. There are {', '.join(f'`{name}`' for name in known)}."


def unknown(word: str, meant: str | None) -> str:
    hint = f"Did you mean `/{meant}`?" if meant else "`/help` lists the commands."
    return f"There is no command {echo('/' + word)}. {hint}"


def no_command(name: str) -> str:
    return f"Write a command after `/{name}`, for example `/{name} help`."


def nearest(word: str, *, also_foreign: bool = False) -> str | None:
    """The command that a mistyped one comes nearest to, at most two slips away.

    In a name of up to four letters one slip is allowed: `/hold` is not `/help`.
    """
    word = word.lower()
    if word in _OFTEN_MEANT_FOR_OTHERS and not also_foreign:
        return None
    best: tuple[int, bool, str] | None = None
    for name in SPECS:
        limit = 1 if len(name) <= 4 else 2
        if abs(len(word) - len(name)) <= limit and len(set(word) ^ set(name)) <= 2 * limit:
            slips = _slips(word, name)
            # people seldom mistype the first letter
            candidate = (slips, word[:1] != name[0], name)
            if slips <= limit and (best is None or candidate < best):
                best = candidate
    return best[2] if best else None


def _slips(a: str, b: str) -> int:
    """Letters too many, missing, wrong, or changed over with their neighbour."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
