"""The offline backend: finds the passage of a handbook that settles a question, and cites it.

Confidence follows from how well the passage fits: the meaning of the sentences (embeddings), the
words in common, and how clearly the passage speaks for one of the options.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.agents.handbook import Handbook, Passage
from app.agents.protocols import NOBODY, Account, AgentUnavailable
from app.questions.model import Answer, Choice, Inquiry, Source

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

_WORD = re.compile(r"[a-z0-9][a-z0-9+#.-]*[a-z0-9]|[a-z0-9]")
_STOP = frozenset(
    "a an and are as at be but by can do does for from has have how if in into is it its may must"
    " no not of on or our shall should so than that the their them then there these they this to"
    " was we what when where which who why will with would you your".split()
)
_OURS = re.compile(
    r"\b(our (refund|budget|legal|customers?|contract|pricing|policy)|budget|deadline|which team"
    r"|who (pays|approves|owns|decides|signs)|how much (money|may it cost)|by when|what date"
    r"|cost limit|spend)\b"
)
_AGAINST = re.compile(r"\b(?:never|not|instead of|rather than)\b", re.IGNORECASE)
_MARGIN = 0.03
_CLEAR = 0.04
"""Cosine by which the first option must lead to be named."""
_PRIOR = 0.06
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a passage fits a question: `score` is 0 to 1."""

    passage: Passage
    score: float
    meaning: float
    words: float


@dataclass(frozen=True, slots=True)
class Picked:
    """The option that a passage speaks for; `margin` is how clearly, in cosine."""

    choice: Choice
    margin: float


class RetrievalBackend:
    """Answers for every role that has a handbook."""

    name = "retrieval"

    def __init__(self, handbooks: Mapping[str, Handbook], embed: Embed) -> None:
        self._shelves = {role: _Shelf(book, embed) for role, book in handbooks.items()}
        self._embed = embed

    def warm(self) -> None:
        """Make all vectors now, so that the first question does not wait for them."""
        for shelf in self._shelves.values():
            if shelf.book.passages:
                shelf.vectors()

    def relevant(self, inquiry: Inquiry) -> list[Passage]:
        """The passages of the role's handbook, those first that fit best; blocks for a moment."""
        shelf = self._shelves.get(inquiry.role)
        if shelf is None or not shelf.book.passages:
            return []
        return [fit.passage for fit in shelf.search(inquiry, most=len(shelf.book.passages))]

    def knows(self, role: str) -> bool:
        """Whether the role has a handbook with anything in it."""
        shelf = self._shelves.get(role)
        return shelf is not None and bool(shelf.book.passages)

    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        """Look it up. Raises `AgentUnavailable` if the role has no handbook."""
        shelf = self._shelves.get(inquiry.role)
        if shelf is None or not shelf.book.passages:
            raise AgentUnavailable(f"{inquiry.role} has no handbook")
        return await asyncio.to_thread(self._look_up, shelf, inquiry)

    def _look_up(self, shelf: _Shelf, inquiry: Inquiry) -> Answer:
        fits = shelf.search(inquiry)
        best = fits[0]
        picked = self._pick(inquiry, best.passage)
        confidence, reasons = _judge(inquiry, fits, picked)
        passage = best.passage
        content = passage.recommendation
        if picked is not None and picked.margin >= _CLEAR:
            content = f"{picked.choice.letter}: {picked.choice.text}. {content}"
        told = ""
        if inquiry.added_context:
            told = f" It takes into account what was added: “{inquiry.added_context[-1][:200]}”."
        looked = tuple(dict.fromkeys(f"{fit.passage.title}, {fit.passage.heading}" for fit in fits))
        return Answer(
            content=content,
            rationale=f"The handbook answers “{passage.heading}”: {passage.text[:600]}{told}",
            confidence=confidence,
            uncertainty_reasons=tuple(reasons),
            sources=(Source(passage.title, passage.ref, passage.recommendation),),
            agent=inquiry.role,
            backend=self.name,
            model="all-MiniLM-L6-v2",
            looked_in=looked[:4],
        )

    def _pick(self, inquiry: Inquiry, passage: Passage) -> Picked | None:
        """The option nearest to what the passage says, or to what people added."""
        if not inquiry.choices:
            return None
        told = " ".join(inquiry.added_context)[:_LONGEST]
        for_it, against = _sides(told or passage.recommendation)
        texts = [choice.text for choice in inquiry.choices]
        vectors = self._embed([for_it, *texts])
        near = vectors[1:] @ vectors[0]
        near += [_overlap(text, for_it) - _overlap(text, against) for text in texts]
        if not told:  # between equals @baron's own choice counts
            near += [_PRIOR * (choice.letter == inquiry.recommended) for choice in inquiry.choices]
        order = np.argsort(-near)
        first = int(order[0])
        margin = float(near[first] - near[int(order[1])]) if len(order) > 1 else 1.0
        return Picked(inquiry.choices[first], margin)


def _sides(text: str) -> tuple[str, str]:
    """What a sentence speaks for, and what it speaks against (“never in …”, “instead of …”)."""
    parts = _AGAINST.split(text, maxsplit=1)
    return (parts[0], parts[1]) if len(parts) == 2 and len(parts[0]) > 15 else (text, "")


def _overlap(choice: str, text: str) -> float:
    """A fifth of the share of the choice's words that the text has."""
    wanted = frozenset(words(choice))
    return 0.2 * len(wanted & frozenset(words(text))) / len(wanted) if wanted else 0.0


class _Shelf:
    """A handbook with the vectors of its passages, made on first use."""

    def __init__(self, book: Handbook, embed: Embed) -> None:
        self.book = book
        self._embed = embed
        self._vectors: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]] | None = None
        self._words = [frozenset(words(passage.words)) for passage in book.passages]
        self._rarity = _rarity(self._words)

    def vectors(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Those of the headings and of the recommendations."""
        if self._vectors is None:
            passages = self.book.passages
            self._vectors = (
                self._embed([passage.heading for passage in passages]),
                self._embed([passage.recommendation for passage in passages]),
            )
        return self._vectors

    def search(self, inquiry: Inquiry, most: int = 4) -> list[Fit]:
        """The passages that fit best, best first."""
        vectors = self.vectors()
        extra = " ".join((inquiry.context[:600], *inquiry.added_context))[:_LONGEST]
        asked = self._embed([inquiry.text[:_LONGEST], f"{inquiry.text} {extra}"[:_LONGEST]])
        heading = vectors[0] @ asked.T
        body = vectors[1] @ asked.T
        best = np.maximum(heading.max(axis=1), body.max(axis=1))
        meaning = 0.6 * best + 0.25 * heading[:, 0] + 0.15 * body[:, 0]
        wanted = frozenset(words(inquiry.text))
        shared = np.array([self._coverage(wanted, have) for have in self._words])
        level = inquiry.topic.partition(".")[0]
        topical = np.array([0.02 if level in p.topics else 0.0 for p in self.book.passages])
        scores = 0.75 * meaning + 0.25 * shared + topical
        order = np.argsort(-scores)[:most]
        return [
            Fit(self.book.passages[i], float(scores[i]), float(meaning[i]), float(shared[i]))
            for i in map(int, order)
        ]

    def _coverage(self, wanted: frozenset[str], have: frozenset[str]) -> float:
        """Which share of the question's words, rare ones counting more, the passage has."""
        weight = sum(self._rarity.get(word, 4.0) for word in wanted)
        found = sum(self._rarity.get(word, 4.0) for word in wanted & have)
        return found / weight if weight else 0.0


def words(text: str) -> list[str]:
    """The words that carry meaning, in a simple singular."""
    found = (word for word in _WORD.findall(text.lower()) if word not in _STOP)
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found]


def _rarity(documents: Sequence[frozenset[str]]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for document in documents:
        for word in document:
            counts[word] = counts.get(word, 0) + 1
    return {word: math.log(1 + len(documents) / count) for word, count in counts.items()}


def calibrated(score: float) -> int:
    """A fit as a confidence: a smooth step whose middle is where half the passages are right."""
    return round(100 / (1 + math.exp(-11.5 * (score - 0.42))))


def _judge(inquiry: Inquiry, fits: Sequence[Fit], picked: Picked | None) -> tuple[int, list[str]]:
    """The confidence, and why it is not 100."""
    best = fits[0]
    confidence = float(min(97, calibrated(best.score)))
    reasons: list[str] = []
    if confidence < 90:
        reasons.append(
            f"The closest passage answers “{best.passage.heading}”, which is not quite what is"
            " asked."
        )
    if len(fits) > 1 and best.score - fits[1].score < _MARGIN:
        confidence -= 4
        reasons.append(f"Another passage fits about as well: “{fits[1].passage.heading}”.")
    if picked is not None and picked.margin < _CLEAR and not inquiry.added_context:
        confidence -= 8
        reasons.append("The passage does not speak clearly for one of the options.")
    if best.passage.unless:
        confidence -= 2
        reasons.append(f"It is otherwise if {best.passage.unless.rstrip('.')}.")
    if _OURS.search(inquiry.text.lower()):
        confidence = min(confidence, 35.0)
        reasons.append("It depends on facts of this organisation that no handbook holds.")
    if inquiry.added_context and picked is not None and picked.margin >= _CLEAR:
        confidence += 8
    return max(0, min(97, round(confidence))), reasons
