"""Does a plain comment answer an open question? Only what is beyond doubt counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.questions.model import Choice

LONGEST = 1500
"""Characters of a comment that is still taken for an answer."""

_NAMED = re.compile(r"\s*\**(Q\d{1,4})\**\s*(?:[:.,–—-]|is\b)?\s*", re.IGNORECASE)
_LETTER = re.compile(
    r"\s*(?:i(?:'d| would)?\s+(?:take|choose|pick|go\s+(?:for|with)|vote\s+for)\s+)?"
    r"(?:option\s+)?\**([A-Z])\**\s*(?:$|[.,;:!)–—-]|\bplease\b|\bbecause\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?:#{1,6}\s*)?(Q\d{1,4})\s*·", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Open:
    """A question that waits for whoever wrote the comment."""

    name: str
    text: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """The question, and the answer as `/correct` takes it: a letter or a text."""

    name: str
    answer: str


def offered(text: str, waiting: Sequence[Open]) -> Offer | None:
    """The answer that a comment gives: to the question it names or quotes, or the only one."""
    if not waiting or not text.strip() or len(text) > LONGEST:
        return None
    quoted, said = _apart(text)
    question = _by_quote(quoted, waiting)
    if question is not None:
        return _answer(question, said) if said else None
    named = _NAMED.match(said)
    if named:
        question = next((one for one in waiting if one.name == named[1].upper()), None)
        rest = said[named.end() :].strip()
        return _answer(question, rest) if question and rest and "?" not in rest else None
    if len(waiting) == 1 and not quoted:
        letter = _letter(waiting[0], said)
        return Offer(waiting[0].name, letter) if letter else None
    return None


def _apart(text: str) -> tuple[str, str]:
    """What is quoted, and what is said."""
    lines = text.strip().splitlines()
    quoted = [line.lstrip("> ").strip() for line in lines if line.lstrip().startswith(">")]
    said = [line for line in lines if not line.lstrip().startswith(">")]
    return "\n".join(quoted), "\n".join(said).strip()


def _by_quote(quoted: str, waiting: Sequence[Open]) -> Open | None:
    if not quoted:
        return None
    names = {found.upper() for found in _QUOTED.findall(quoted)}
    plain = " ".join(quoted.split()).casefold()
    meant = [
        one
        for one in waiting
        if one.name in names or " ".join(one.text.split()).casefold() in plain
    ]
    return meant[0] if len(meant) == 1 else None


def _answer(question: Open, said: str) -> Offer | None:
    if said.endswith("?"):
        return None  # a question is no answer
    return Offer(question.name, _letter(question, said) or said)


def _letter(question: Open, said: str) -> str:
    """The letter of the choice that is picked; empty for none."""
    found = _LETTER.match(said)
    letter = found[1].upper() if found else ""
    if letter == "I" and len(said.strip()) > 2:
        return ""  # the pronoun
    return letter if letter in {choice.letter for choice in question.choices} else ""
