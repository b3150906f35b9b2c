"""What a handler may decide. Closed unions: `perform()` and the store match over all of them.

State actions are applied in the transaction of the decision. Effects go into the outbox in the
same transaction and are performed after it; each has a key, and the same key is never done twice.
A later effect with the key of an earlier one replaces it: that is how a picture is redrawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.errands import (
    AskAgent,
    GenerateQuestions,
    JudgePull,
    LandTask,
    Notify,
    Publish,
    ReviewPull,
    RunTask,
    SuggestAgents,
    WriteDocuments,
)
from app.features.dispatch import ExecutionTask
from app.features.model import Feature, Place, Question
from app.scopes.pulls import Allowance

__all__ = [
    "Action",
    "AgentEffect",
    "AskAgent",
    "CommitFiles",
    "DropAgentWork",
    "DropEffects",
    "Effect",
    "GenerateQuestions",
    "GitHubEffect",
    "JudgePull",
    "LandTask",
    "LineNote",
    "Note",
    "Notify",
    "OutletEffect",
    "Publish",
    "React",
    "Record",
    "ReviewPull",
    "RunTask",
    "SaveAllowance",
    "SaveFeature",
    "SaveQuestion",
    "SaveTask",
    "ShowCheck",
    "ShowComment",
    "ShowLabel",
    "ShowPull",
    "StateAction",
    "SubmitReview",
    "SuggestAgents",
    "TaskEffect",
    "WriteDocuments",
]


@dataclass(frozen=True, slots=True)
class SaveFeature:
    feature: Feature


@dataclass(frozen=True, slots=True)
class SaveQuestion:
    feature_id: int
    question: Question


@dataclass(frozen=True, slots=True)
class SaveTask:
    feature_id: int
    task: ExecutionTask


@dataclass(frozen=True, slots=True)
class SaveAllowance:
    """A path may be changed by a commit of a pull request, although it is out of scope."""

    place: Place
    head: str
    allowance: Allowance


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
    ours: tuple[tuple[str, str], ...] = ()
    """Path and git's name of what we wrote there, ever: what people made of it is kept."""


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
class ShowPull:
    """Ensure that the feature has a pull request from `head` into `base`, and that it reads so."""

    key: str
    feature_id: int
    place: Place
    head: str
    base: str
    title: str
    body: str
    draft: bool
    number: int = 0
    """Of the one that is known; 0 to look for it, and to open one if there is none."""


@dataclass(frozen=True, slots=True)
class LineNote:
    """A comment on a line of a pull request."""

    path: str
    line: int
    body: str


@dataclass(frozen=True, slots=True)
class SubmitReview:
    """Ensure that one review says so about a commit; `resolve` are threads whose matter is gone."""

    key: str
    feature_id: int | None
    place: Place
    head: str
    body: str
    without_lines: str
    """The body where the notes cannot be placed."""
    notes: tuple[LineNote, ...] = ()
    resolve: tuple[str, ...] = ()
    blocking: bool = False
    """An App of @degaulle's own requests changes then."""


@dataclass(frozen=True, slots=True)
class DropAgentWork:
    """Forget what agents were to do for a feature, or one piece of it: it was stopped."""

    feature_id: int
    key: str = ""
    """Of the piece; empty for all of it."""


StateAction = (
    SaveFeature | SaveQuestion | SaveTask | SaveAllowance | Record | DropEffects | DropAgentWork
)
GitHubEffect = ShowComment | React | ShowLabel | CommitFiles | ShowCheck | ShowPull | SubmitReview
AgentEffect = GenerateQuestions | AskAgent | SuggestAgents | WriteDocuments | ReviewPull
TaskEffect = RunTask | LandTask | JudgePull
OutletEffect = Notify | Publish
Effect = GitHubEffect | AgentEffect | TaskEffect | OutletEffect
Action = StateAction | Effect
