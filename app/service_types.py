"""What goes into and comes out of the service (specs/1, Key Entities and Service Interface)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from app.questions.model import Answer, Choice


class AgentStatus(StrEnum):
    """Where something that an agent was given stands."""

    QUEUED = "queued"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question as somebody puts it: topic and text; the router finds out who answers."""

    feature: str
    """`owner/repo#N`, known to the service."""
    topic: str
    text: str
    target: str | None = None
    context: str = ""
    why: str = ""
    choices: tuple[Choice, ...] = ()
    recommended: str | None = None


@dataclass(frozen=True, slots=True)
class AgentHandle:
    """Who has a question, and in which round of asking; also `gid:round` as one word."""

    question: str
    """The question's global name, `q-…`."""
    round: int
    answerer: str

    def __str__(self) -> str:
        return f"{self.question}:{self.round}"


@dataclass(frozen=True, slots=True)
class EscalationRequest:
    """Everything a person needs to decide (specs/1, FR-008)."""

    question: str
    digest: str
    """Binds the response to what was read."""
    text: str
    why: str
    context: str
    choices: tuple[Choice, ...]
    recommended: str | None
    asked: str
    because: str
    deadline: str
    """ISO 8601, UTC; empty for none."""
    tentative: Answer | None
    others: tuple[Answer, ...] = ()
    added: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer was sure enough."""

    question: str
    answer: str
    source: str


AcceptedOrEscalate = Accepted | EscalationRequest


@dataclass(frozen=True, slots=True)
class HumanResponse:
    """What a person does about an escalation; `text` is the answer or the context."""

    action: Literal["confirm", "correct", "add_context"]
    by: str
    text: str = ""
    digest: str = ""
    """Of the request that was read; a changed question refuses the response."""


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """A question's answer as it stands; with `settled` false an agent is being asked again."""

    question: str
    settled: bool
    state: str
    answer: str
    source: str
    validated_by: str | None


@dataclass(frozen=True, slots=True)
class RetroReport:
    """The plain figures of a feature's log (specs/1, US7)."""

    feature: str
    questions: int
    accepted: int
    escalated: int
    open: int
    acceptance_rate: int | None
    """Whole per cent of the questions that were accepted without a person; None without any."""
    average_confidence: float | None
    escalated_topics: tuple[str, ...]
    human_actions: Mapping[str, int] = field(default_factory=dict)
    by_agent: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Handle → answers, accepted, average confidence."""


class NotFound(LookupError):
    """There is no such feature or question; the text says how to name one."""


class Refused(ValueError):
    """It cannot be done as asked; the text says why, and what to do instead."""


Rule = Mapping[str, Any]
"""A routing rule as in `answerers.yaml`: pattern, answerer, sla, threshold…"""
