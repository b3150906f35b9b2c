"""The events that are told, one model a type; their JSON Schemas are published."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Created(_Part):
    topic: str
    text: str
    target: str | None = None
    urgency: str = "normal"


class Answered(_Part):
    by: str
    confidence: int
    verdict: Literal["accepted", "escalated", "late"]


class AcceptedAnswer(_Part):
    by: str
    confidence: int
    threshold: int


class TimedOut(_Part):
    answerer: str | None = None
    sla: str | None = None


class Escalated(_Part):
    to: str
    because: str


class Settled(_Part):
    state: str
    source: str
    validated_by: str | None = None
    answer: Annotated[str, Field(max_length=4000)]


class Sent(_Part):
    channel: str
    ok: bool
    reason: str | None = None


class Task(_Part):
    tool: str
    round: int


DATA: dict[str, type[_Part]] = {
    "question.created": Created,
    "question.answered": Answered,
    "question.accepted": AcceptedAnswer,
    "question.timeout": TimedOut,
    "question.escalated": Escalated,
    "question.settled": Settled,
    "notification.sent": Sent,
    "tool.task": Task,
}
"""Type → what its `data` holds."""


class Envelope(_Part):
    """One event. `id` is unique: whoever gets it twice can tell."""

    id: str
    type: str
    at: str
    """ISO 8601, UTC."""
    feature: str
    question: str | None = None
    gid: str | None = None
    data: dict[str, Any]


def check(event: dict[str, Any]) -> Envelope:
    """The event as a model. Raises `pydantic.ValidationError`, `KeyError` for an unknown type."""
    envelope = Envelope.model_validate(event)
    DATA[envelope.type].model_validate(envelope.data)
    return envelope


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of every type's whole envelope."""
    found: dict[str, dict[str, Any]] = {}
    for name, data in DATA.items():
        envelope = TypeAdapter(Envelope).json_schema()
        properties = {**envelope["properties"], "type": {"const": name}}
        properties["data"] = TypeAdapter(data).json_schema()
        found[name] = {**envelope, "title": name, "properties": properties}
    return found
