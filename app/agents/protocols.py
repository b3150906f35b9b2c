"""What a backend, a language model, a meter and a question generator are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from app.features.types import FeatureRequest
from app.questions.model import Answer, Cost, Draft, Inquiry

T = TypeVar("T", bound=BaseModel)


class AgentUnavailable(Exception):
    """The agent timed out, crashed or cannot be reached; the text says which, for the log."""


class Malformed(AgentUnavailable):
    """It answered, and the answer has not the form that was asked for, however often asked."""


class Declined(AgentUnavailable):
    """It answered that it will not answer."""


class OverBudget(AgentUnavailable):
    """A cap is reached, or cannot be kept because nobody knows the price; nothing was spent."""


@dataclass(frozen=True, slots=True)
class Account:
    """On whose account a call goes: what the caps count by. `question` 0 is none in particular."""

    feature_id: int = 0
    question: int = 0
    repo: str = ""
    person: str = ""
    role: str = ""
    key: str = ""
    """Names the piece of work; tried again, it is still the same one."""
    task: bool = False
    """It is the run of an execution task."""


NOBODY = Account()


@dataclass(frozen=True, slots=True)
class Tokens:
    """How much a call of a model read and wrote, as the provider counted it."""

    read: int = 0
    """Tokens of the prompt, without those below."""
    written: int = 0
    cache_read: int = 0
    cache_written: int = 0


class Meter(Protocol):
    """Keeps the caps. Every call of a model is begun before, and ended after it."""

    async def begin(self, account: Account, provider: str, model: str, most: Tokens) -> int:
        """Set aside what the call may cost at most. Returns its number. Raises `OverBudget`."""
        ...

    async def end(self, call: int, tokens: Tokens | None) -> float | None:
        """What it cost in USD; without `tokens` what was set aside stays spent.

        None if the price of the model is not known.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told. Nothing that somebody typed into GitHub is ever in `system`."""

    system: str
    user: str
    version: str
    """Name and version of the files it was made from: `knowledge/1-3fa91c20`."""


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """One thing that a model is asked for, in the form of `shape`."""

    prompt: Prompt
    shape: type[T]
    model: str | None = None
    """The model by name or alias (`opus`); None for the provider's usual one."""
    account: Account = NOBODY
    seconds: float = 120.0
    """How long it may take, without the time it waits for its turn."""
    most: int = 8_000
    """Tokens that it may write."""


@dataclass(frozen=True, slots=True)
class Completion(Generic[T]):
    """What came back: `value` has the form that was asked for."""

    value: T
    model: str
    """The model that answered, by its full name."""
    cost: Cost


class Model(Protocol):
    """A language model: a CLI, an API, a program."""

    name: str
    """`claude`, `llm` or `command`, for the log."""

    async def complete(self, request: Request[T]) -> Completion[T]:
        """Ask, and ask again at most twice if what comes back does not fit.

        Raises `AgentUnavailable`; of its kinds `Malformed`, `Declined`, `OverBudget`.
        """
        ...


class Backend(Protocol):
    """Answers questions for a role: a handbook, a model, a program."""

    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        """Answer one question. Raises `AgentUnavailable`.

        `seconds` bounds the work, not the wait for a turn; 0 is without limit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Generated:
    """Questions, and what found them: `checklist`, or the name of the model's backend."""

    drafts: tuple[Draft, ...]
    generator: str
    note: str = ""
    """Why it was not the usual generator."""
    prompt: str = ""


class QuestionGenerator(Protocol):
    """@baron's way of finding what an issue leaves open."""

    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        """At most `limit` questions, most worth asking first; none that the issue answers.

        Raises `AgentUnavailable`.
        """
        ...
