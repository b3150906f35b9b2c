"""What a handler may decide. Closed unions: `perform()` and the store match over all of them.

State actions are applied in the transaction of the decision. Effects go into the outbox in the
same transaction and are performed after it; each has a key, and the same key is never done twice.
A later effect with the key of an earlier one replaces it: that is how a picture is redrawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.features.model import Feature, Place, Question
from app.features.types import FeatureRequest
from app.questions.model import Inquiry


@dataclass(frozen=True, slots=True)
class SaveFeature:
    feature: Feature


@dataclass(frozen=True, slots=True)
class SaveQuestion:
    feature_id: int
    question: Question


@dataclass(frozen=True, slots=True)
class Record:
    """An entry of the log; `links` are sequence numbers of entries it answers or follows."""

    feature_id: int
    seq: int
    kind: str
    actor: str
    question: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DropEffects:
    """Forget what waits to be written for a feature: its issue is gone."""

    feature_id: int


@dataclass(frozen=True, slots=True)
class ShowComment:
    """Ensure that a comment with this key stands under the issue and reads so."""

    key: str
    feature_id: int | None
    place: Place
    body: str


@dataclass(frozen=True, slots=True)
class React:
    """Ensure a reaction, on the issue itself where `comment_id` is None."""

    key: str
    feature_id: int | None
    place: Place
    content: str
    comment_id: int | None = None


@dataclass(frozen=True, slots=True)
class ShowLabel:
    """Ensure that of our own labels the issue bears this one (or none)."""

    key: str
    feature_id: int
    place: Place
    label: str | None


@dataclass(frozen=True, slots=True)
class CommitFiles:
    """Ensure that the files stand so on the branch; it is made from `base` if it is missing."""

    key: str
    feature_id: int
    place: Place
    branch: str
    base: str
    files: tuple[tuple[str, str], ...]
    message: str
    revision: int


@dataclass(frozen=True, slots=True)
class Note:
    """An annotation of a check: what is wrong in which line."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ShowCheck:
    """Ensure that a check run of this name stands so on a commit. `key` is its `external_id`."""

    key: str
    feature_id: int | None
    place: Place
    name: str
    head: str
    conclusion: str
    title: str
    summary: str
    notes: tuple[Note, ...] = ()


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


@dataclass(frozen=True, slots=True)
class SuggestAgents:
    """Find out which roles might answer a question whose topic nobody is named for."""

    key: str
    feature_id: int
    question: int
    topic: str
    text: str


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


@dataclass(frozen=True, slots=True)
class DropAgentWork:
    """Forget what agents were to do for a feature, or one piece of it: it was stopped."""

    feature_id: int
    key: str = ""
    """Of the piece; empty for all of it."""


StateAction = SaveFeature | SaveQuestion | Record | DropEffects | DropAgentWork
GitHubEffect = ShowComment | React | ShowLabel | CommitFiles | ShowCheck
AgentEffect = GenerateQuestions | AskAgent | SuggestAgents | WriteDocuments
OutletEffect = Notify | Publish
Effect = GitHubEffect | AgentEffect | OutletEffect
Action = StateAction | Effect
