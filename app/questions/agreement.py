"""Whether two answers say the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.questions.model import Answer, Choice

_LETTER = re.compile(r"\s*(?:option\s+)?([A-Za-z])\s*(?:[:.)]|$)", re.IGNORECASE)


def chosen(content: str, choices: Sequence[Choice]) -> str | None:
    """The letter of the choice that an answer takes (`B: Two tables`), or None."""
    found = _LETTER.match(content)
    letter = found[1].upper() if found else ""
    return letter if letter in {choice.letter for choice in choices} else None


def same(one: Answer, other: Answer, choices: Sequence[Choice] = ()) -> bool:
    """The same choice; without choices the same words, however they are set.

    Anything else counts as different: to ask a person once too often is the lesser evil.
    """
    letters = chosen(one.content, choices), chosen(other.content, choices)
    if letters[0] and letters[1]:
        return letters[0] == letters[1]
    return _words(one.content) == _words(other.content)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
