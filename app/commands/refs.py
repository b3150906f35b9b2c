"""How people name questions, tasks, learnings and recommendations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_NUMBERED = re.compile(r"q0*([1-9][0-9]{0,5})(?:@([0-9a-f]{4,64}))?", re.IGNORECASE)
_GLOBAL = re.compile(r"q-([0-9a-z]{6,64})", re.IGNORECASE)
_NEARLY = re.compile(r"q|q[-_#]?[0-9]+|q-[0-9a-z]{0,5}|q[0-9]*@\S*|#q[0-9]+", re.IGNORECASE)
_NUMBER = re.compile(r"#?[0-9]{1,6}")
_COUNTED = re.compile(r"([a-z])0*([1-9][0-9]{0,5})", re.IGNORECASE)


class RefKind(StrEnum):
    NUMBER = "number"
    """A question of this feature, `Q3`."""
    GLOBAL = "global"
    """A question of any feature, `q-abc123`."""


@dataclass(frozen=True, slots=True)
class QuestionRef:
    """A question as a person named it; `str()` is how we would write it.

    `digest` is the beginning of the question's digest, given to be sure that it is still the
    question the person has read.
    """

    kind: RefKind
    number: int | None = None
    gid: str | None = None
    """With its `q-`."""
    digest: str | None = None

    def __str__(self) -> str:
        if self.gid is not None:
            return self.gid
        return f"Q{self.number}@{self.digest}" if self.digest else f"Q{self.number}"


def bare(word: str) -> str:
    """A word of a command line without the marks that people put around or after it."""
    if len(word) > 2 and word[0] == word[-1] == "`":
        word = word[1:-1]
    return word.rstrip(".,;:!?")


def question_ref(word: str) -> QuestionRef | None:
    """`Q3`, `q-abc123` or `Q3@a1b2`, in any case; None for anything else."""
    word = bare(word)
    if found := _NUMBERED.fullmatch(word):
        digest = found.group(2)
        number = int(found.group(1))
        return QuestionRef(RefKind.NUMBER, number, digest=digest.lower() if digest else None)
    if found := _GLOBAL.fullmatch(word):
        return QuestionRef(RefKind.GLOBAL, gid=f"q-{found.group(1).lower()}")
    return None


def nearly_a_question(word: str) -> bool:
    """Whether somebody who wrote this surely meant a question: `Q`, `Q-3`, `Q3@x`, `q-12`."""
    return _NEARLY.fullmatch(bare(word)) is not None


def a_number(word: str) -> bool:
    """Whether this may have been meant as a question's number: `3`, `#3`."""
    return _NUMBER.fullmatch(bare(word)) is not None


def guess(word: str) -> str:
    """The reference that a mistaken one comes nearest to: `Q3` for `3` and for `Q-3@x`."""
    digits = re.search("[0-9]{1,6}", word)
    return f"Q{int(digits.group()) or 1}" if digits else "Q3"


def counted(word: str, letter: str, width: int = 1) -> str | None:
    """`T012`, `L3`, `R1` with the given letter, in the way we write it; None for anything else."""
    found = _COUNTED.fullmatch(bare(word))
    if found is None or found.group(1).upper() != letter:
        return None
    return f"{letter}{int(found.group(2)):0{width}d}"
