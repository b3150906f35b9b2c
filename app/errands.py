"""What others are sent to do: agents, models, execution agents, channels. Pure records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.features.dispatch import ExecutionTask
from app.features.model import Place
from app.features.types import FeatureRequest
from app.questions.model import Inquiry
from app.scopes.pulls import Allowance, Pull


@dataclass(frozen=True, slots=True)
class GenerateQuestions:
    key: str
    feature_id: int
    run: int
    request: FeatureRequest
    limit: int
    repo: str = ""
    person: str = ""
    """Who set it off, for the budget."""
    model: bool = True
    """False where the repository keeps models out."""


@dataclass(frozen=True, slots=True)
class AskAgent:
    """Have a role or a tool answer; `chat` numbers the turn of a conversation, 0 is none."""

    key: str
    feature_id: int
    question: int
    ask_round: int
    inquiry: Inquiry
    repo: str = ""
    installation: int = 0
    chat: int = 0
    seconds: float = 0.0
    """How long it may take; 0 is the role's own limit."""
    person: str = ""
    """Who set it off, for the budget."""
    model: bool = True
    """False where the repository keeps models out."""
    handbook: bool = True
    """Whether the handbook answers where the model cannot; otherwise somebody else is asked."""


@dataclass(frozen=True, slots=True)
class WriteDocuments:
    """Have @baron's model make documents of drafts; without a model the drafts have to do.

    `drafts` are (file name, text), `answers` the settled ones: (name, question, answer, source).
    """

    key: str
    feature_id: int
    revision: int
    drafts: tuple[tuple[str, str], ...]
    request: FeatureRequest
    answers: tuple[tuple[str, str, str, str], ...]
    repo: str = ""
    person: str = ""
    place: Place | None = None
    base: str = ""
    """The branch whose templates count."""
    templates: tuple[str, ...] = ()
    """Documents that the repository has templates of its own for."""
    model: bool = True
    """False where no model writes, and the drafts only take the form of the templates."""


@dataclass(frozen=True, slots=True)
class SuggestAgents:
    """Find out which roles might answer a question whose topic nobody is named for."""

    key: str
    feature_id: int
    question: int
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class RunTask:
    """Have an execution agent do a task in its scope; what it changed comes back as a commit."""

    key: str
    feature_id: int
    place: Place
    task: ExecutionTask
    title: str
    """The feature's."""
    branch: str
    base: str
    """The branch whose scopes count."""
    folder: str
    answers: tuple[tuple[str, str, str, str], ...] = ()
    """Those that it rests on: (name, question, answer, source)."""
    testers: str = ""
    """Whose files are the tests: a handle."""
    model: str | None = None
    seconds: float = 0.0
    """How long it may take; 0 is the role's own limit."""
    turns: int = 0
    person: str = ""
    """Who set it off, for the budget."""


@dataclass(frozen=True, slots=True)
class LandTask:
    """Merge a task's commit into the feature's branch, and push that."""

    key: str
    feature_id: int
    place: Place
    task: str
    run: int
    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class JudgePull:
    """Hold a pull request against the scopes from git: it is larger than GitHub lists."""

    key: str
    feature_id: int
    place: Place
    head: str
    base: str
    pull: Pull
    """What is known of it; its paths and commits are read from git."""
    allowed: tuple[Allowance, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewPull:
    """Look through a pull request; what is found comes back as an event."""

    key: str
    feature_id: int
    place: Place
    """Its own."""
    head: str
    folder: str = ""
    """Where the feature's documents are; empty for no feature."""
    draft: bool = False
    model: str | None = None
    """The model of @degaulle's; None for rules alone."""
    answers: tuple[tuple[str, str, str, str], ...] = ()
    person: str = ""
    most: int = 10
    """Lines that are commented on."""
    allowed: tuple[str, ...] = ()
    """Paths that an owner lets this commit change."""
    asked: bool = False
    """Somebody said `/review`, and gets an answer whatever was found."""


@dataclass(frozen=True, slots=True)
class Notify:
    """Tell a channel of the configuration (`slack://security-alerts`)."""

    key: str
    feature_id: int
    question: int
    channel: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Publish:
    """Tell one of the configured webhooks; `event` is the envelope as JSON."""

    key: str
    feature_id: int
    hook: str
    event: Mapping[str, Any]
