"""@baron's questions from a model, held to the form; the checklist where the model fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.agents.fences import Fence
from app.agents.prompting import Prompts
from app.agents.protocols import (
    NOBODY,
    Account,
    AgentUnavailable,
    Generated,
    Model,
    QuestionGenerator,
    Request,
)
from app.features.types import TYPES, FeatureRequest
from app.questions.model import Choice, Draft
from app.texts.safe import one_line, visible

BODY = 60_000
"""Characters of the issue that the model reads."""
_MOST = 30
_TOPIC = r"^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){0,5}$"
_LETTERS = "ABCDE"

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]
Category = Literal[
    "scope", "data", "flows", "quality", "integrations", "edge-cases", "constraints", "terms",
    "completion",
]  # fmt: skip


class Option(BaseModel):
    """An answer that is offered."""

    model_config = ConfigDict(extra="ignore")

    text: Line
    implication: Annotated[str, Field(max_length=600)] = ""


class Asked(BaseModel):
    """One question."""

    model_config = ConfigDict(extra="ignore")

    topic: Annotated[str, StringConstraints(pattern=_TOPIC, max_length=120)]
    question: Line
    target: Annotated[str, Field(max_length=60)] = ""
    why: Annotated[str, Field(max_length=1500)] = Field(
        default="", description="Why the answer changes the result"
    )
    quote: Annotated[str, Field(max_length=1500)] = Field(
        default="", description="The words of the request that leave it open, copied; or empty"
    )
    options: Annotated[list[Option], Field(max_length=len(_LETTERS))] = Field(default_factory=list)
    recommended: Annotated[int, Field(ge=0, le=len(_LETTERS))] = Field(
        default=0, description="Place of the recommended option, from 1; 0 for none"
    )
    depends_on: Annotated[list[int], Field(max_length=10)] = Field(default_factory=list)
    impact: Annotated[int, Field(ge=1, le=5)] = 3
    uncertainty: Annotated[float, Field(ge=0, le=1)] = 1.0
    category: Category = "scope"


class Questions(BaseModel):
    """All that the request leaves open."""

    model_config = ConfigDict(extra="ignore")

    questions: Annotated[list[Asked], Field(max_length=_MOST)]


class ModelGenerator:
    """Asks the model; where it cannot answer, the checklist does, and says why."""

    def __init__(
        self,
        model: Model,
        prompts: Prompts,
        fallback: QuestionGenerator,
        targets: Sequence[str],
        usual: str | None = None,
        seconds: float = 300.0,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._fallback = fallback
        self._targets = frozenset({*targets, "human"})
        self._usual = usual
        self._seconds = seconds

    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        """See `QuestionGenerator.generate`."""
        fence = Fence()
        prompt = self._prompts.render(
            "questions",
            {"targets": ", ".join(sorted(self._targets)), "limit": limit},
            {
                "kind": TYPES[request.type].title,
                "title": fence.data("title", request.title, 600),
                "body": fence.data("request", request.body, BODY),
            },
        )
        try:
            done = await self._model.complete(
                Request(prompt, Questions, self._usual, account, self._seconds)
            )
        except AgentUnavailable as error:
            found = await self._fallback.generate(request, limit, account)
            return replace(found, note=f"the model found no questions: {error}")
        drafts = self._drafts(done.value.questions, request, limit)
        return Generated(tuple(drafts), self._model.name, prompt=prompt.version)

    def _drafts(self, asked: Sequence[Asked], request: FeatureRequest, limit: int) -> list[Draft]:
        """At most `limit`, none twice, in the order that the model chose."""
        said = _plain(f"{request.title} {request.body}")
        kept: dict[str, int] = {}
        places: dict[int, int] = {}
        drafts: list[Draft] = []
        for place, one in enumerate(asked, start=1):
            same = _plain(one.question)
            if same in kept:
                places[place] = kept[same]
            elif len(drafts) < limit:
                drafts.append(self._draft(one, places, said))
                kept[same] = places[place] = len(drafts)
        return drafts

    def _draft(self, one: Asked, places: dict[int, int], said: str) -> Draft:
        choices = tuple(
            Choice(letter, _line(option.text), _line(option.implication))
            for letter, option in zip(_LETTERS, one.options, strict=False)
        )
        target = one.target.strip().lower()
        quoted = one.quote.strip() and _plain(one.quote) in said
        known = 1 <= one.recommended <= len(choices)
        return Draft(
            topic=one.topic,
            text=_line(one.question),
            target=target if target in self._targets else None,
            context=f"“{one_line(visible(one.quote), 300)}”" if quoted else "",
            why=_line(one.why),
            choices=choices if len(choices) > 1 else (),
            recommended=_LETTERS[one.recommended - 1] if known and len(choices) > 1 else None,
            depends_on=tuple(sorted({places[n] for n in one.depends_on if n in places})),
            impact=one.impact,
            uncertainty=round(one.uncertainty, 3),
            category=one.category,
        )


def _line(text: str) -> str:
    return one_line(visible(text), 1500)


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", visible(text)).casefold().strip()
