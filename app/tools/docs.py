"""`tool/docs`: looks a question up in all handbooks and among the answers given before (specs/2).

The best of both wins. A question that people of the repository have settled outranks a handbook
that is as sure.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.agents.handbook import Handbook
from app.agents.protocols import AgentUnavailable
from app.agents.retrieval import Embed, RetrievalBackend
from app.questions.agreement import chosen, same
from app.questions.model import Answer, Choice, Inquiry, Source
from app.tools.protocols import foreign, nothing

SAME = 0.85
"""Cosine from which an earlier question counts as the same, unless a negation or number differs."""
SIMILAR = 0.7
"""Cosine from which the answer to an earlier question is worth showing."""
_LEVEL = 0.03
"""Cosine within which two earlier questions are equally close."""
_MOST = 500
_LONGEST = 4000
_NEGATION = re.compile(r"\b(?:not|no|never|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTER = re.compile(r"\s*(?:option\s+)?[A-Z]\s*(?:[:)]\s*|\.\s+|\.?$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settled:
    """A question that has its answer.

    `by` is who gave the answer, `validated` whether a person confirmed or gave it, `ref` where it
    stands: `acme/storefront#7 Q2`.
    """

    question: str
    answer: str
    by: str
    validated: bool
    ref: str


@dataclass(frozen=True, slots=True)
class _Near:
    """An earlier question and its cosine with the one that is asked now."""

    settled: Settled
    cosine: float
    same: bool

    @property
    def confidence(self) -> int:
        if not self.same:
            return 60
        return 90 if self.settled.validated else 80


class Docs:
    """Needs no network. `settled` gives a repository's settled answers, newest first.

    It is called in a thread, so it may ask a database.
    """

    name = "docs"

    def __init__(
        self,
        handbooks: Mapping[str, Handbook],
        embed: Embed,
        settled: Callable[[str], Sequence[Settled]],
    ) -> None:
        self._books = {role: book for role, book in handbooks.items() if book.passages}
        self._retrieval = RetrievalBackend(self._books, embed)
        self._embed = embed
        self._settled = settled

    def warm(self) -> None:
        """Make the vectors of the handbooks now; blocks for seconds."""
        self._retrieval.warm()

    async def answer(self, inquiry: Inquiry, repo: str) -> Answer:
        """Look it up. Raises `AgentUnavailable` if there is nothing to look in."""
        known = await asyncio.to_thread(self._known, repo)
        if not known and not self._books:
            raise AgentUnavailable(
                f"there is no handbook, and no settled answer of {repo} yet: name a folder with"
                " `knowledge` for a role in agents.yaml"
            )
        looked_in = (
            _counted(len(self._books), "handbook"),
            f"{_counted(len(known), 'settled answer')} of {repo}",
        )
        earlier = await asyncio.to_thread(self._recall, inquiry, known)
        found = [earlier] if earlier is not None else []
        for role in self._books:
            found.append(await self._retrieval.ask(replace(inquiry, role=role)))
        if not found:
            return nothing(self.name, "No earlier question is close to this one.", looked_in)
        best = max(found, key=lambda answer: answer.confidence)
        return replace(best, agent=f"tool/{self.name}", looked_in=looked_in)

    def _known(self, repo: str) -> list[Settled]:
        known = self._settled(repo)[:_MOST]
        return [one for one in known if one.question.strip() and _plain(one.answer)]

    def _recall(self, inquiry: Inquiry, known: Sequence[Settled]) -> Answer | None:
        """What was answered to the nearest earlier question, if one is near enough."""
        if not known or not inquiry.text.strip():
            return None
        vectors = self._embed([text[:_LONGEST] for text in _texts(inquiry, known)])
        cosines = vectors[1:] @ vectors[0]
        near = [
            _Near(one, float(cosine), cosine >= SAME and _pins(one.question) == _pins(inquiry.text))
            for one, cosine in zip(known, cosines, strict=True)
            if cosine >= SIMILAR
        ]
        if not near:
            return None
        best = max(near, key=lambda one: (one.confidence, one.cosine))
        return _said(inquiry, best, _otherwise(best, near))


def _texts(inquiry: Inquiry, known: Sequence[Settled]) -> list[str]:
    return [inquiry.text, *(one.question for one in known)]


def _pins(text: str) -> tuple[bool, frozenset[str]]:
    """Whether a question is turned round by a negation, and its numbers.

    Vectors hardly see these: “be encrypted” and “not be encrypted” have a cosine of 0.99.
    """
    return len(_NEGATION.findall(text)) % 2 == 1, frozenset(_NUMBER.findall(text))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _otherwise(best: _Near, near: Sequence[_Near]) -> Settled | None:
    """An earlier answer of the same weight to as close a question that says something else."""
    mine = Answer(_plain(best.settled.answer), "", 0)
    for one in near:
        as_close = one.cosine >= best.cosine - _LEVEL
        as_good = one.confidence == best.confidence
        if as_close and as_good and not same(mine, Answer(_plain(one.settled.answer), "", 0)):
            return one.settled
    return None


def _said(inquiry: Inquiry, near: _Near, other: Settled | None) -> Answer:
    settled = near.settled
    question, ref = foreign(settled.question, 300), foreign(settled.ref, 200)
    how = "a person validated it" if settled.validated else "no person has validated it"
    return Answer(
        content=_content(settled.answer, inquiry.choices),
        rationale=(
            f"It was asked before, “{question}” ({ref}); the answer is by"
            f" {foreign(settled.by, 100)}, and {how}."
        ),
        # Where people have decided both ways, a person decides again.
        confidence=near.confidence if other is None else min(60, near.confidence),
        uncertainty_reasons=tuple(_doubts(near, other)),
        sources=(Source(question, ref, foreign(settled.answer, 300)),),
        backend=Docs.name,
    )


def _doubts(near: _Near, other: Settled | None) -> list[str]:
    settled = near.settled
    doubts = []
    if not near.same:
        question = foreign(settled.question, 300)
        doubts.append(f"The earlier question is similar, not the same: “{question}”.")
    if not settled.validated:
        doubts.append("The earlier answer was accepted from an agent; no person has validated it.")
    if other is not None:
        ref, answer = foreign(other.ref, 200), foreign(other.answer, 200)
        doubts.append(f"It was also answered otherwise ({ref}): “{answer}”.")
    return doubts or ["What was decided then may have changed since."]


def _plain(answer: str) -> str:
    """An answer without the letter of its choice; empty if there is nothing else."""
    found = _LETTER.match(answer)
    return answer[found.end() :].strip() if found else answer.strip()


def _content(answer: str, choices: Sequence[Choice]) -> str:
    """The earlier answer in terms of the choices offered now.

    The letter that it had names a choice of the earlier question: what is `A` here may have been
    `B` there, so the letter follows from the words alone.
    """
    text = foreign(_plain(answer), 20_000)
    meant = [choice for choice in choices if _begins(text, choice.text)]
    if meant:
        return f"{max(meant, key=lambda choice: len(choice.text)).letter}: {text}"
    return f"“{text}”" if chosen(text, choices) else text


def _begins(text: str, with_: str) -> bool:
    words = with_.strip().rstrip(".")
    return bool(words) and bool(re.match(rf"{re.escape(words)}(?!\w)", text, re.IGNORECASE))
