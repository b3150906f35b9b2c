"""The events that are told, one model for each type; their JSON Schemas are published (specs/2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
)

LONGEST = 4000
"""Characters of an answer; the log has all of it."""


def _in_utc(text: str) -> str:
    """The text as it is, if it is a moment in UTC. Raises `ValueError`."""
    if datetime.fromisoformat(text).utcoffset() != timedelta(0):
        raise ValueError("give the moment in UTC, for example 2026-01-31T09:00:00+00:00")
    return text


def _bounded(value: object) -> object:
    return value[:LONGEST] if isinstance(value, str) else value


Moment = Annotated[str, AfterValidator(_in_utc), Field(json_schema_extra={"format": "date-time"})]
"""ISO 8601, UTC."""
Id = Annotated[str, Field(pattern=r"\A[!-~]{1,200}\z")]
"""Printable ASCII without blanks, for it is sent as a header."""
Bounded = Annotated[str, BeforeValidator(_bounded), Field(max_length=LONGEST)]
Percent = Annotated[int, Field(ge=0, le=100)]


class Data(BaseModel):
    """What is special to a type of event."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Created(Data):
    """A question was asked."""

    topic: str
    text: str
    target: str | None = None
    urgency: str = "normal"


class Answered(Data):
    """An agent answered; `verdict` says what came of it."""

    by: str
    confidence: Percent
    verdict: str


class Accepted(Data):
    """The confidence of an answer reached the threshold."""

    by: str
    confidence: Percent
    threshold: Percent


class TimedOut(Data):
    """Nobody answered in time."""

    answerer: str | None = None
    sla: str | None = None


class Escalated(Data):
    """A person was asked."""

    to: str
    because: str


class Settled(Data):
    """A question has its answer."""

    state: str
    source: str
    validated_by: str | None = None
    answer: Bounded


class Sent(Data):
    """A channel was told, or could not be."""

    channel: str
    ok: bool
    reason: str | None = None


class Task(Data):
    """A tool was asked."""

    tool: str
    round: int


DATA: Mapping[str, type[Data]] = {
    "question.created": Created,
    "question.answered": Answered,
    "question.accepted": Accepted,
    "question.timeout": TimedOut,
    "question.escalated": Escalated,
    "question.settled": Settled,
    "notification.sent": Sent,
    "tool.task": Task,
}
"""Type → what its `data` holds."""
Type = Literal[
    "question.created",
    "question.answered",
    "question.accepted",
    "question.timeout",
    "question.escalated",
    "question.settled",
    "notification.sent",
    "tool.task",
]


class Envelope(BaseModel):
    """One event. `id` is unique: whoever gets it twice can tell."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Id
    type: Type
    at: Moment
    feature: Annotated[str, Field(pattern=r"\A[^/\s#]+/[^/\s#]+#[0-9]+\z")]
    """`owner/repo#N`."""
    question: Annotated[str, Field(pattern=r"\AQ[0-9]+\z")] | None = None
    gid: Annotated[str, Field(pattern=r"\Aq-\S+\z")] | None = None
    data: SerializeAsAny[Data]

    @field_validator("data", mode="before")
    @classmethod
    def _of_its_type(cls, value: object, info: ValidationInfo) -> object:
        """`type` says which model `data` must fit; a wrong type has its own complaint."""
        model = DATA.get(info.data.get("type", ""))
        return model.model_validate(value) if model else Data()


def envelope(
    type: Type,
    *,
    id: str,
    at: str,
    feature: str,
    data: Mapping[str, Any],
    question: str | None = None,
    gid: str | None = None,
) -> Envelope:
    """One event, checked. Raises `pydantic.ValidationError`, which is a `ValueError`."""
    return Envelope.model_validate(
        {
            "id": id,
            "type": type,
            "at": at,
            "feature": feature,
            "question": question,
            "gid": gid,
            "data": dict(data),
        }
    )


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of every type's whole envelope."""
    return {name: _schema(name, data) for name, data in DATA.items()}


def _schema(name: str, data: type[Data]) -> dict[str, Any]:
    whole = Envelope.model_json_schema()
    whole.pop("$defs", None)
    fields = {"type": {"const": name}, "data": data.model_json_schema()}
    return {**whole, "title": name, "properties": {**whole["properties"], **fields}}
