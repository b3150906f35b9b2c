"""What can happen: GitHub's events as far as we use them, and our own. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from app.features.model import Place
from app.questions.model import Answer, Candidate, Cost, Draft


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


@dataclass(frozen=True, slots=True)
class Spending:
    """What a piece of work cost, and where its caps stand now."""

    cost: Cost | None = None
    """None where no model was called."""
    near: tuple[str, ...] = ()
    """A line for each cap of which 80 % or more is used."""


FREE = Spending()


@dataclass(frozen=True, slots=True)
class QuestionsGenerated:
    feature_id: int
    run: int
    drafts: tuple[Draft, ...] = ()
    generator: str = ""
    error: str = ""
    note: str = ""
    """Why it was not the usual generator that found them."""
    prompt: str = ""
    spending: Spending = FREE


@dataclass(frozen=True, slots=True)
class AgentAnswered:
    """An agent's answer, or the error that stands for it."""

    feature_id: int
    question: int
    ask_round: int
    role: str
    answer: Answer | None = None
    error: str = ""
    chat: int = 0
    """Which turn of a conversation it answers; 0 for the question itself."""
    unpaid: bool = False
    """A budget did not allow the call; `error` says which."""
    spending: Spending = FREE


@dataclass(frozen=True, slots=True)
class Written:
    """A document, and what wrote it; `error` says why it is the draft after all."""

    name: str
    text: str
    model: str = ""
    prompt: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class DocumentsWritten:
    feature_id: int
    revision: int
    documents: tuple[Written, ...] = ()
    spending: Spending = FREE


@dataclass(frozen=True, slots=True)
class AgentsSuggested:
    """Who might be able to answer a question of no clear topic, the best first."""

    feature_id: int
    question: int
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class ClockStruck:
    """The moment `at` (ISO 8601, UTC) that a question's clock was set to has come."""

    feature_id: int
    question: int
    at: str


@dataclass(frozen=True, slots=True)
class Notified:
    """What came of telling a channel; `reason` says why it did not work."""

    feature_id: int
    question: int
    channel: str
    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A question through the service: routed like any other."""

    feature_id: int
    draft: Draft
    by: str


@dataclass(frozen=True, slots=True)
class ToPeople:
    """Through the service: a person is to decide, whatever an agent says."""

    feature_id: int
    question: int
    because: str
    by: str


@dataclass(frozen=True, slots=True)
class FilesCommitted:
    feature_id: int
    revision: int
    commit: str


@dataclass(frozen=True, slots=True)
class EffectFailed:
    """Something could not be written to GitHub, for good; `reason` is for people."""

    feature_id: int
    what: str
    reason: str


GitHubEvent = Labeled | Unlabeled | Closed | Reopened | Vanished | Commented | PullChanged
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
    | EffectFailed
)
Event = GitHubEvent | OwnEvent
