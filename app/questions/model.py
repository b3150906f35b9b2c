"""What a question and an answer are (specs/1, Key Entities)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class QuestionState(StrEnum):
    """Where a question stands; also the `state` in its comment's hidden marker."""

    PENDING = "pending"
    """Waits for its turn: an earlier question it depends on is not settled."""
    ASKING = "asking"
    """An agent or a tool has been asked and has not answered yet."""
    ANSWERED = "answered"
    """An answer is there, and nobody has judged it yet."""
    ACCEPTED = "accepted"
    """The agent's confidence reached the threshold: settled."""
    ESCALATED = "escalated"
    """A person has been asked."""
    CONFIRMED = "confirmed"
    """A person confirmed the tentative answer: settled."""
    CORRECTED = "corrected"
    """A person gave the answer: settled."""
    DEFERRED = "deferred"
    """Whoever is to be asked has enough to answer; it is put to them later."""
    TIMEOUT = "timeout"
    """Nobody of the chain answered in time. It still waits, and can still be answered."""
    CANCELLED = "cancelled"
    """Given up with `/stop Q`."""


SETTLED = frozenset({QuestionState.ACCEPTED, QuestionState.CONFIRMED, QuestionState.CORRECTED})
"""States in which the answer may be written into the specification."""

ENDED = SETTLED | {QuestionState.CANCELLED}
"""States that hold up nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer offered with a question, named by a letter from `A`."""

    letter: str
    text: str
    implication: str = ""
    """What follows from choosing it, one sentence."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as a generator proposes it, before it has a number.

    `depends_on` counts drafts of the same batch from 1. `impact` is 1 to 5, how much of the
    feature hangs on the answer; `uncertainty` is 0 to 1, how little the issue says of it.
    """

    topic: str
    text: str
    target: str | None
    """The role that @baron suggests: `architect`, `product`, `human`, or None."""
    context: str = ""
    why: str = ""
    choices: tuple[Choice, ...] = ()
    recommended: str | None = None
    """The letter of the choice that @baron would take."""
    depends_on: tuple[int, ...] = ()
    impact: int = 3
    uncertainty: float = 1.0
    category: str = ""
    """The part of the clarify taxonomy it covers, for example `data`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A role that might be able to answer a question of no clear topic, and why."""

    role: str
    handle: str
    because: str


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer rests on."""

    title: str
    ref: str
    """Where it stands: `handbook/architect/security.md#refresh-tokens`."""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls of a model cost. `usd` is None where the model's price is not known."""

    usd: float | None = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Cost(
            usd,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
        )


NO_COST = Cost()


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent, a tool or a person answered (specs/1: Answer).

    `confidence` is a whole number from 0 to 100; `uncertainty_reasons` says why it is not 100.
    """

    content: str
    rationale: str
    confidence: int
    uncertainty_reasons: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    agent: str = ""
    """The role that answered, or a login for a person."""
    backend: str = ""
    model: str = ""
    looked_in: tuple[str, ...] = ()
    """Where it was looked up, for a person to see before being asked."""
    stated: int | None = None
    """The confidence that the model itself stated, where the checks took some of it away."""
    doubt: str = ""
    """Why this answer goes to a person however low the threshold is: a passage it cites is not
    there, for example."""
    prompt: str = ""
    """Name and version of the prompt that it answers: `knowledge/1-3fa91c20`."""
    cost: Cost | None = None
    """None for what costs nothing: a handbook, a tool, a person."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a knowledge agent is given: the question and its context, nothing of the repository."""

    role: str
    topic: str
    text: str
    context: str = ""
    why: str = ""
    choices: tuple[Choice, ...] = ()
    recommended: str | None = None
    feature_title: str = ""
    added_context: tuple[str, ...] = ()
    """What people added with `/context`, oldest first."""
    earlier: tuple[tuple[str, str], ...] = ()
    """Settled answers that it depends on: (question, answer)."""
    capability: str | None = None
    model: str | None = None
    """The model that the configuration names for this role or capability (specs/1, FR-023)."""
    said: tuple[tuple[str, str], ...] = ()
    """The conversation so far, where a person talks with @baron: (who, text)."""


@dataclass(frozen=True, slots=True)
class Routed:
    """Who answers a question, and by which rule (JSON of `kr route` in the contracts)."""

    topic: str
    answerer: str
    """`agent/architect`, `team/security`, `human/requester`, `tool/docs`."""
    agent: str | None
    """The handle of an agent answerer, `@duc`; else None."""
    rule: str
    """The pattern that matched, or `target`, or `default`."""
    threshold: int
    sla: str | None = None
    override: bool = False
    note: str | None = None
    fallback: str | None = None
    """The agent role that is asked when this one is unavailable."""
    escalate_to: tuple[tuple[str, str | None], ...] = ()
    """The chain after this answerer: (answerer, sla), nearest first."""
    capability: str | None = None
    notify: str | None = None
    on_timeout: str = "block"
