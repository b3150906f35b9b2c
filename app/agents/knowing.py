"""A knowledge agent on a model: what it is told, and what is believed of its answer.

It is given the question and its context, the passages of its handbook that fit best, and nothing
of the repository (specs/1, FR-004). Everything has a budget, so that no text, however long, leaves
room for nothing else; the log keeps all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.agents.fences import Fence, seen
from app.agents.handbook import Passage
from app.agents.prompting import Prompts
from app.agents.protocols import NOBODY, Account, Model, Request
from app.agents.reply import Cited, Reply, checked
from app.questions.model import Answer, Inquiry
from app.texts.safe import cut
from app.texts.suspicious import suspicions

PER_TOKEN = 4
"""Characters of English in a token, roughly: enough for a budget."""
KNOWLEDGE = 6_000
"""Tokens of the handbook in a prompt."""
QUESTION = 8_000
"""Characters of the question; further down: of each other part, all its texts together."""
CONTEXT = 16_000
ADDED = 16_000
EARLIER = 24_000
SAID = 12_000

Relevant = Callable[[Inquiry], Sequence[Passage]]
"""All passages of the role's handbook, those first that fit the question best."""


@dataclass(frozen=True, slots=True)
class Persona:
    """Who answers, and what it is told about the others."""

    handle: str
    description: str
    roster: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


class KnowledgeBackend:
    """Answers for one role with a model."""

    def __init__(
        self,
        model: Model,
        prompts: Prompts,
        persona: Persona,
        relevant: Relevant = lambda inquiry: (),
        usual: str | None = None,
    ) -> None:
        """`usual` is the model where the configuration names none for the question."""
        self._model = model
        self._prompts = prompts
        self._persona = persona
        self._relevant = relevant
        self._usual = usual

    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        """See `Backend.ask`. Raises `AgentUnavailable`."""
        passages = await asyncio.to_thread(self._relevant, inquiry)
        alarm = await asyncio.to_thread(_alarm, inquiry)
        chosen = _within(passages, KNOWLEDGE * PER_TOKEN)
        given = _names(chosen, inquiry)
        fence = Fence()
        prompt = self._prompts.render(
            "knowledge", self._system(chosen), _user(inquiry, fence, given)
        )
        completion = await self._model.complete(
            Request(prompt, Reply, inquiry.model or self._usual, account, seconds or 120.0)
        )
        looked = tuple(dict.fromkeys(f"{one.title}, {one.heading}" for one in chosen))
        return replace(
            _doubted(checked(completion.value, given, looked[:4]), alarm),
            agent=inquiry.role,
            backend=self._model.name,
            model=completion.model,
            prompt=prompt.version,
            cost=completion.cost,
        )

    def _system(self, passages: Sequence[Passage]) -> dict[str, Any]:
        """Nothing in it comes from an issue or a comment."""
        return {
            "handle": self._persona.handle,
            "description": self._persona.description,
            "roster": self._persona.roster,
            "rules": self._persona.rules,
            "passages": [
                {"name": f"P{n}", "title": f"{one.title}: {one.heading}", "text": _said(one)}
                for n, one in enumerate(passages, start=1)
            ],
        }


def _alarm(inquiry: Inquiry) -> str:
    """Why no answer to this may be taken without a person; empty where all texts are normal.

    All texts together are one more: an order may begin in the title and end in a comment.
    """
    typed = [
        inquiry.topic, inquiry.text, inquiry.why, inquiry.feature_title, inquiry.context,
        *(part for one in inquiry.choices for part in (one.text, one.implication)),
        *inquiry.added_context,
        *(part for pair in (*inquiry.earlier, *inquiry.said) for part in pair),
    ]  # fmt: skip
    found = next(filter(None, map(suspicions, (*typed, "\n".join(typed)))), ())
    return f"a text that it was given speaks to the model: {found[0]}" if found else ""


def _doubted(answer: Answer, alarm: str) -> Answer:
    """The confidence stays as stated: it is the person who decides, and sees what was said."""
    if not alarm:
        return answer
    reasons = (alarm, *answer.uncertainty_reasons)
    return replace(answer, doubt=answer.doubt or alarm, uncertainty_reasons=reasons)


def _said(passage: Passage) -> str:
    return f"{passage.text} Unless: {passage.unless}" if passage.unless else passage.text


def _within(passages: Sequence[Passage], budget: int) -> list[Passage]:
    """The most relevant ones that fit into so many characters."""
    chosen, left = [], budget
    for passage in passages:
        size = len(passage.title) + len(passage.heading) + len(_said(passage)) + 10
        if size > left:
            break
        chosen.append(passage)
        left -= size
    return chosen


def _names(passages: Sequence[Passage], inquiry: Inquiry) -> Mapping[str, Cited]:
    """What may be cited, by the names in the prompt."""
    given = {
        f"P{n}": Cited(title=one.title, ref=one.ref, text=f"{one.heading} {_said(one)}")
        for n, one in enumerate(passages, start=1)
    }
    for n, (question, answer) in enumerate(inquiry.earlier, start=1):
        title = f"Earlier answer: {cut(question, 100)}"
        given[f"E{n}"] = Cited(title=title, ref=f"earlier answer {n}", text=seen(answer))
    return given


def _user(inquiry: Inquiry, fence: Fence, given: Mapping[str, Cited]) -> dict[str, Any]:
    """Everything that somebody typed, fenced and cut."""
    options = "\n".join(
        f"{one.letter}: {one.text}{f' ({one.implication})' if one.implication else ''}"
        for one in inquiry.choices
    )
    earlier = [
        f"[E{n}] {question}\n{answer}"
        for n, (question, answer) in enumerate(inquiry.earlier, start=1)
    ]
    known = inquiry.recommended if inquiry.recommended in _letters(inquiry) else None
    return {
        "topic": fence.data("topic", inquiry.topic, 200),
        "question": fence.data("question", inquiry.text, QUESTION),
        "why": fence.data("why", inquiry.why, 2_000) if inquiry.why else "",
        "choices": fence.data("options", options, QUESTION) if options else "",
        "recommended": known,
        "feature": fence.data("title of the issue", inquiry.feature_title or "none", 400),
        "context": fence.data("issue", inquiry.context, CONTEXT) if inquiry.context else "",
        "added": _all(fence, "added", inquiry.added_context, ADDED),
        "earlier": _all(fence, "earlier answers", earlier, EARLIER),
        "said": _all(fence, "said", [f"{who}: {text}" for who, text in inquiry.said], SAID),
    }


def _letters(inquiry: Inquiry) -> frozenset[str]:
    return frozenset(choice.letter for choice in inquiry.choices)


def _all(fence: Fence, label: str, texts: Sequence[str], budget: int) -> str:
    """Texts in their order, each within its share; the newest have the first claim."""
    kept: list[str] = []
    left = budget
    for text in reversed(texts):
        if left < 200:
            break
        part = cut(seen(text), max(200, min(left, budget // 2)))
        kept.append(part)
        left -= len(part)
    if not kept:
        return ""
    missing = len(texts) - len(kept)
    start = [f"(the oldest {missing} are left out)"] if missing else []
    return fence.data(label, "\n\n".join([*start, *reversed(kept)]), budget + 2_000)
