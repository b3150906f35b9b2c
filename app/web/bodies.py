"""What the API takes and what it answers a mistake with: shapes, bounds, patterns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Json = dict[str, Any]
NAME = r"[A-Za-z0-9._-]{1,100}"
FEATURE = rf"^{NAME}/{NAME}#[0-9]{{1,9}}$"


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the database cannot hold the character U+0000: leave it out")
    return text


Plain = Annotated[str, AfterValidator(_storable)]
Handle = Annotated[str, Path(pattern=r"^[!-~]{1,80}$", description="`q-…`, the global name")]
FeatureName = Annotated[str, Field(pattern=FEATURE, examples=["acme/storefront#7"])]
OwnerOrRepo = Annotated[str, Path(pattern=rf"^{NAME}$")]
IssueNumber = Annotated[int, Path(ge=1, le=999_999_999)]
TASK = r"^T\d{3,6}[a-z]?$"
TaskName = Annotated[str, Path(pattern=TASK)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ChoiceBody(_Body):
    """An answer that is offered with a question."""

    letter: str = Field(pattern="^[A-Z]$")
    text: Plain = Field(min_length=1, max_length=2_000)
    implication: Plain = Field(default="", max_length=2_000)


class QuestionBody(_Body):
    """A question to be routed."""

    feature: FeatureName
    topic: Plain = Field(min_length=1, max_length=200)
    text: Plain = Field(min_length=1, max_length=10_000)
    target: Plain | None = Field(default=None, max_length=100)
    context: Plain = Field(default="", max_length=50_000)
    why: Plain = Field(default="", max_length=10_000)
    choices: list[ChoiceBody] = Field(default=[], max_length=26)
    recommended: str | None = Field(default=None, pattern="^[A-Z]$")


class AnswerBody(_Body):
    """An agent's answer."""

    confidence: int = Field(ge=0, le=100)
    content: Plain = Field(min_length=1, max_length=10_000)
    rationale: Plain = Field(default="", max_length=10_000)
    uncertainty_reasons: list[Annotated[Plain, Field(max_length=1_000)]] = Field(
        default=[], max_length=20
    )
    agent: Plain = Field(default="", max_length=100)


class TaskBody(_Body):
    """A task of a feature (`owner/repo#N`, `T003`), and the role that is to do it."""

    feature: str = Field(pattern=FEATURE)
    task: str = Field(pattern=TASK)
    role: Plain = Field(min_length=1, max_length=60)


class EscalateBody(_Body):
    """Why a person is to decide."""

    because: Plain = Field(min_length=1, max_length=2_000)


class ResponseBody(_Body):
    """What a person decided; `digest` is that of the question as they read it."""

    action: Literal["confirm", "correct", "add_context"]
    text: Plain = Field(default="", max_length=10_000)
    digest: str = Field(default="", pattern="^([0-9a-fA-F]{4,64})?$")


class RoutingBody(_Body):
    """Rules as in `answerers.yaml`."""

    rules: list[Json] = Field(max_length=500)


class Problem(BaseModel):
    """What went wrong, one sentence."""

    detail: str
