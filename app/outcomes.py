"""What came of what we had others do, and what our own clocks and service tell. Pure records."""

from __future__ import annotations

from dataclasses import dataclass

from app.actions import LineNote, Note
from app.features.dispatch import Stopped
from app.features.model import Place
from app.questions.model import Answer, Candidate, Cost, Draft
from app.scopes.pulls import Allowance, Judged


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
class TaskRan:
    """What came of sending an agent: a commit of what was kept, or why there is none."""

    feature_id: int
    task: str
    run: int
    commit: str = ""
    files: tuple[str, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    said: str = ""
    error: str = ""
    blocked: str = ""
    """Why the agent says that it cannot be done."""
    unpaid: bool = False
    missing: bool = False
    """Nothing here can carry tasks out; `error` says what is missing."""
    model: str = ""
    notes: tuple[str, ...] = ()
    spending: Spending = FREE


@dataclass(frozen=True, slots=True)
class TaskLanded:
    """The task's commit is on the feature's branch, or why it is not."""

    feature_id: int
    task: str
    run: int
    head: str = ""
    conflict: tuple[str, ...] = ()
    """Paths that others changed, too."""
    lost: bool = False
    """The commit is not here any more: the task is done again."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class PullShown:
    """The feature's pull request stands."""

    feature_id: int
    number: int


@dataclass(frozen=True, slots=True)
class AllowanceEnded:
    """What an owner allowed for a commit holds no more; `feature_id` is 0."""

    feature_id: int
    place: Place
    head: str


@dataclass(frozen=True, slots=True)
class PullJudged:
    """A large pull request was read from git; `feature_id` is 0."""

    feature_id: int
    place: Place
    head: str
    bound: bool
    """Whether the scopes bind it at all."""
    own: bool
    """Whether the base branch has a scope file."""
    paths: int
    judged: Judged
    allowed: tuple[Allowance, ...] = ()
    owners: str | None = None
    """CODEOWNERS of the base branch."""
    error: str = ""
    """Why it could not be read."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A pull request was looked through: the check, and what the review says."""

    feature_id: int
    place: Place
    head: str
    key: str
    """Of the review."""
    conclusion: str
    title: str
    summary: str
    notes: tuple[Note, ...] = ()
    """Annotations of the check."""
    body: str = ""
    without_lines: str = ""
    lines: tuple[LineNote, ...] = ()
    resolve: tuple[str, ...] = ()
    found: int = 0
    news: bool = False
    """Something is there to be said that was not said before."""
    asked: bool = False
    draft: bool = False
    """Tasks were still being done: it ends no review."""
    by: str = ""
    """The model that looked, too."""
    spending: Spending = FREE


@dataclass(frozen=True, slots=True)
class EffectFailed:
    """Something could not be written to GitHub, for good; `reason` is for people."""

    feature_id: int
    what: str
    reason: str
