"""The form in which a model answers a question, and what is checked before anybody believes it.

A confidence is never mended: what is no number from 0 to 100 is malformed (specs/1, FR-005).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from app.questions.model import Answer, Source

LONGEST = 50_000
"""Characters of an answer; a model that says more has lost its way."""


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a number from 0 to 100")
    if not 0 <= value <= 100:
        raise ValueError(f"must be a number from 0 to 100, and is {value}")
    return math.floor(value)


_PERCENT = {
    "type": "integer",
    "minimum": 0,
    "maximum": 100,
    "description": "How sure you are that it is right, a whole number from 0 to 100",
}


class Citation(BaseModel):
    """A passage that the answer rests on."""

    model_config = ConfigDict(extra="ignore")

    ref: Annotated[str, Field(max_length=400)] = Field(
        description="The passage's name as it was given, for example P2"
    )
    quote: Annotated[str, Field(max_length=4000)] = Field(
        default="", description="The words of the passage that say so, copied exactly; or empty"
    )


class Reply(BaseModel):
    """One answer as a model gives it."""

    model_config = ConfigDict(extra="ignore")

    content: Annotated[str, Field(min_length=1, max_length=LONGEST)] = Field(
        description="The answer itself, in Markdown; where options are given, begin with the letter"
    )
    rationale: Annotated[str, Field(max_length=LONGEST)] = Field(
        default="", description="Why this is the answer"
    )
    confidence: Annotated[int, BeforeValidator(_whole), WithJsonSchema(_PERCENT)]
    uncertainty_reasons: list[Annotated[str, Field(max_length=2000)]] = Field(
        default_factory=list, max_length=20, description="What keeps you from being sure"
    )
    sources: list[Citation] = Field(
        default_factory=list, max_length=40, description="The passages it rests on"
    )


class Cited(BaseModel):
    """A passage that the model was given and may cite."""

    model_config = ConfigDict(frozen=True)

    title: str
    ref: str
    """Where it stands for people: `architect/security.md#refresh-tokens`."""
    text: str


def checked(reply: Reply, given: Mapping[str, Cited], looked_in: tuple[str, ...] = ()) -> Answer:
    """The reply as an answer, believed as far as its sources are there.

    `given` are the passages by the names under which the model knows them. A citation of a passage
    that is not there, or of words that it does not have, takes all confidence away.
    """
    sources, wrong = [], []
    for citation in reply.sources:
        passage = _find(citation.ref, given)
        if passage is None:
            wrong.append(f"it cites “{citation.ref[:80]}”, which it was not given")
        elif not _says(passage, citation.quote):
            wrong.append(f"“{passage.title}” does not say what is quoted from it")
        else:
            sources.append(Source(passage.title, passage.ref, citation.quote[:600]))
    return Answer(
        content=reply.content,
        rationale=reply.rationale,
        confidence=0 if wrong else reply.confidence,
        uncertainty_reasons=(*dict.fromkeys(wrong), *reply.uncertainty_reasons),
        sources=tuple(dict.fromkeys(sources)),
        looked_in=looked_in,
        stated=reply.confidence,
        doubt=wrong[0] if wrong else "",
    )


def _find(ref: str, given: Mapping[str, Cited]) -> Cited | None:
    """By the short name, in brackets or not, or by where it stands."""
    name = ref.strip().strip("[]").strip()
    if name.upper() in given:
        return given[name.upper()]
    return next((passage for passage in given.values() if passage.ref == name), None)


def _says(passage: Cited, quote: str) -> bool:
    wanted = _plain(quote)
    return wanted in _plain(f"{passage.title} {passage.text}")


def _plain(text: str) -> str:
    """Letters and digits only: quotation marks, dashes and blanks differ for no reason."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
