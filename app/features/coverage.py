"""The coverage scan: which sentences of an issue say what, and what none of them says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.features.bank import Entry
from app.texts.safe import visible

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

_MOST = 250
_LONGEST = 400
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"(])")
_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#{1,6}|>)\s+|^\s*\[[ xX]\]\s*")
_EMPTY = frozenset({"_no response_", "n/a", "none", "tbd", "?", "-"})
_UNSURE = re.compile(
    r"\b(not (yet )?(sure|decided|clear)|undecided|unclear|open question|to be (decided|defined)"
    r"|tbd|maybe|perhaps|don't know)\b|\?\s*$",
    re.IGNORECASE,
)
SAID = 0.62
"""Cosine from which a sentence says the same as an example of an answer."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the issue says about one entry: `relevant` is the sentence that brings it up."""

    relevant: str | None
    answered: str | None
    uncertainty: float
    """0 to 1: how little the issue says of it."""


class Scan:
    """An issue cut into sentences, with their vectors."""

    def __init__(self, title: str, body: str, embed: Embed) -> None:
        self.sentences = sentences(title, body)
        self._embed = embed
        self._vectors = embed(self.sentences)

    def of(self, entry: Entry) -> Coverage:
        """Whether the entry matters here, and whether it is answered already."""
        relevant = self._relevant(entry)
        if relevant is None:
            return Coverage(None, None, 0.0)
        answered, nearest = self._answered(entry)
        if answered is not None:
            return Coverage(relevant, answered, 0.0)
        return Coverage(relevant, None, max(0.2, min(1.0, 1.15 - nearest)))

    def _relevant(self, entry: Entry) -> str | None:
        if not entry.triggers:
            return self.sentences[0]
        for sentence in self.sentences:
            if any(trigger.search(sentence) for trigger in entry.triggers):
                return sentence
        return None

    def _answered(self, entry: Entry) -> tuple[str | None, float]:
        """The sentence that answers it, and how near the nearest one comes."""
        settled = [i for i, s in enumerate(self.sentences) if i and not _UNSURE.search(s)]
        for index in settled:
            if any(pattern.search(self.sentences[index]) for pattern in entry.answered_by):
                return self.sentences[index], 1.0
        if not settled or not entry.said:
            return None, 0.0
        near = self._embed(entry.said) @ self._vectors[settled].T
        best = int(near.max(axis=0).argmax())
        nearest = float(near.max())
        return (self.sentences[settled[best]] if nearest >= SAID else None), nearest


def sentences(title: str, body: str) -> list[str]:
    """The title and what the body says, hidden text and code left out; at most 250.

    A heading is joined to the line after it, so that an answer in an issue form is read with its
    question; a field that was left empty says nothing.
    """
    text = _FENCE.sub("\n", _HIDDEN.sub(" ", visible(body)[:60_000]))
    found = [" ".join(visible(title).split())[:_LONGEST] or "(no title)"]
    heading = ""
    for line in text.split("\n"):
        bare = _MARK.sub("", line).strip()
        if line.lstrip().startswith("#"):
            heading = bare
            continue
        if not bare:
            continue
        if bare.lower() in _EMPTY:
            heading = ""
            continue
        for number, part in enumerate(_END.split(bare)):
            prefix = f"{heading}: " if heading and number == 0 else ""
            found.append(f"{prefix}{part}"[:_LONGEST])
        if len(found) > _MOST:
            break
    return found[:_MOST]
