"""What can happen: GitHub's events as far as we use them, and our own (`app.outcomes`). Pure."""

from __future__ import annotations

from dataclasses import dataclass

from app.features.model import Place
from app.outcomes import (
    FREE,
    AgentAnswered,
    AgentsSuggested,
    AllowanceEnded,
    ClockStruck,
    DocumentsWritten,
    EffectFailed,
    FilesCommitted,
    Notified,
    PullJudged,
    PullShown,
    QuestionAsked,
    QuestionsGenerated,
    Reviewed,
    Spending,
    TaskLanded,
    TaskRan,
    ToPeople,
    Written,
)

__all__ = [
    "FREE",
    "AgentAnswered",
    "AgentsSuggested",
    "AllowanceEnded",
    "ClockStruck",
    "Closed",
    "Commented",
    "DocumentsWritten",
    "EffectFailed",
    "Event",
    "FilesCommitted",
    "GitHubEvent",
    "Issue",
    "Labeled",
    "Notified",
    "OwnEvent",
    "Person",
    "PullChanged",
    "PullClosed",
    "PullJudged",
    "PullShown",
    "Pushed",
    "PushedCommit",
    "QuestionAsked",
    "QuestionsGenerated",
    "Reopened",
    "Reviewed",
    "Spending",
    "TaskLanded",
    "TaskRan",
    "ToPeople",
    "Unlabeled",
    "Vanished",
    "Written",
]


@dataclass(frozen=True, slots=True)
class Person:
    """Who did it: always the event's `sender`."""

    login: str
    bot: bool = False


@dataclass(frozen=True, slots=True)
class Issue:
    """The issue as the payload shows it."""

    place: Place
    title: str
    body: str
    author: str
    labels: tuple[str, ...] = ()
    closed: bool = False
    pull_request: bool = False
    default_branch: str = "main"


@dataclass(frozen=True, slots=True)
class Labeled:
    delivery: str
    sender: Person
    issue: Issue
    label: str


@dataclass(frozen=True, slots=True)
class Unlabeled:
    delivery: str
    sender: Person
    issue: Issue
    label: str


@dataclass(frozen=True, slots=True)
class Closed:
    delivery: str
    sender: Person
    issue: Issue


@dataclass(frozen=True, slots=True)
class Reopened:
    delivery: str
    sender: Person
    issue: Issue


@dataclass(frozen=True, slots=True)
class Vanished:
    """The issue was deleted or transferred away."""

    delivery: str
    sender: Person
    issue: Issue
    how: str


@dataclass(frozen=True, slots=True)
class Commented:
    """A comment was written, or its author changed it; `before` is the text it had then."""

    delivery: str
    sender: Person
    issue: Issue
    comment_id: int
    body: str
    before: str | None = None
    at: str = ""
    """When it was written or changed; ISO 8601."""


@dataclass(frozen=True, slots=True)
class PullChanged:
    """A pull request has a new head: opened, pushed to, or reopened."""

    delivery: str
    sender: Person
    issue: Issue
    head: str
    """The commit, SHA-1 in hex."""
    base: str = ""
    """The commit of the base branch that it was opened or pushed against."""
    into: str = ""
    """The base branch: its rules count as they are now."""
    branch: str = ""
    """Of the head, in this repository; empty for one in a fork."""
    draft: bool = False
    reopened: bool = False


@dataclass(frozen=True, slots=True)
class PullClosed:
    """A pull request was merged, or closed without."""

    delivery: str
    sender: Person
    issue: Issue
    branch: str
    merged: bool
    head: str = ""


@dataclass(frozen=True, slots=True)
class PushedCommit:
    """A commit of a push: its message, the login of who wrote it, the paths it touches."""

    sha: str
    message: str
    author: str = ""
    paths: tuple[str, ...] = ()
    fresh: bool = True
    """No other branch had it before."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """Commits came onto the branch of a feature; `issue` is that feature's."""

    delivery: str
    sender: Person
    issue: Issue
    branch: str
    head: str
    commits: tuple[PushedCommit, ...] = ()


GitHubEvent = (
    Labeled
    | Unlabeled
    | Closed
    | Reopened
    | Vanished
    | Commented
    | PullChanged
    | PullClosed
    | Pushed
)
OwnEvent = (
    QuestionsGenerated
    | AgentAnswered
    | DocumentsWritten
    | AgentsSuggested
    | ClockStruck
    | QuestionAsked
    | ToPeople
    | Notified
    | FilesCommitted
    | TaskRan
    | TaskLanded
    | PullShown
    | PullJudged
    | AllowanceEnded
    | Reviewed
    | EffectFailed
)
Event = GitHubEvent | OwnEvent
