"""The feature and its questions as the handlers see them: immutable, loaded before, saved after."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from app.features.types import TYPES, FeatureType, TypeSpec
from app.questions.model import (
    ENDED,
    NO_COST,
    SETTLED,
    Answer,
    Candidate,
    Choice,
    Cost,
    QuestionState,
    Routed,
)


class FeatureState(StrEnum):
    """Where a feature stands. The labels and the status comment are pictures of it."""

    NEW = "new"
    """Known, and nothing done yet."""
    SPECIFYING = "specifying"
    """@baron reads the issue and looks for what it leaves open."""
    ASKING = "asking"
    """An agent is being asked."""
    WAITING = "waiting"
    """Only people can go on."""
    WRITING = "writing"
    """Everything is settled, and the specification is being committed."""
    PLANNED = "planned"
    """The documents are on their branch; a person says `/go`."""
    BUILDING = "building"
    """Tasks are being done."""
    REVIEW = "review"
    """The pull request is complete and waits to be merged."""
    DONE = "done"
    """The pull request was merged."""
    STOPPED = "stopped"
    """The label was removed or the issue closed; it goes on when that is undone."""
    GONE = "gone"
    """The issue was deleted or transferred: nothing is written there any more."""
    FAILED = "failed"
    """Something needs a person; `problem` says what."""


RESTING = frozenset({FeatureState.STOPPED, FeatureState.GONE})
SPECIFIED = frozenset({FeatureState.PLANNED, FeatureState.BUILDING, FeatureState.REVIEW})
"""The documents stand, and the pull request is not merged yet."""


@dataclass(frozen=True, slots=True)
class Place:
    """An issue, and the installation through which it is reached."""

    installation: int
    repo_id: int
    repo: str
    """`owner/name`."""
    number: int

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"


@dataclass(frozen=True, slots=True)
class Feature:
    """A labelled issue. `run` counts how often the questions were generated."""

    id: int
    place: Place
    state: FeatureState = FeatureState.NEW
    type: FeatureType = FeatureType.FULL_STACK
    title: str = ""
    body: str = ""
    """The issue's text as it was when the label was set."""
    author: str = ""
    started_by: str = ""
    started_on: str = ""
    """The day it was started, ISO 8601, UTC."""
    branch: str = ""
    run: int = 0
    stopped_because: str = ""
    problem: str = ""
    spec_revision: int = 0
    commit: str = ""
    generated: int = 0
    """The run whose questions are there; generating may also find that nothing is open."""
    stopped_by: str = ""
    """What stopped it, and so what lets it go on: `label`, `closed` or `command`."""
    written: int = 0
    """The newest revision that stands on the branch."""
    default_branch: str = "main"
    alarm: str = ""
    """What in the issue speaks to a model rather than to people; empty for nothing."""
    drafted: str = ""
    """SHA-256 of the drafts of the newest revision: the same ones are not written again."""
    unwritten: str = ""
    """Why @baron's model did not write all documents, so that drafts have to do."""
    cost: Cost = NO_COST
    """What models cost for it so far."""
    near: tuple[str, ...] = ()
    """A line for each budget of which 80 % or more is spent."""
    unpaid: str = ""
    """Which budget keeps models from being asked; empty for none."""
    paused_at: str = ""
    """Since when all clocks stand still; ISO 8601, UTC."""
    tasks_blobs: tuple[str, ...] = ()
    """Git's names of tasks.md as we wrote it."""
    templates: tuple[str, ...] = ()
    """Documents that the repository has templates for."""
    listed: int = 0
    """The revision of the documents that its tasks were read from."""
    unread: tuple[str, ...] = ()
    """What in tasks.md could not be read, with its line."""
    approved_by: str = ""
    """Who said `/go`; `auto` where the repository wants nobody to."""
    asks: tuple[str, ...] = ()  # keys of the comments in which people are asked about tasks
    pull: int = 0
    """The number of its pull request; 0 for none."""
    unguarded: bool = False  # the default branch does not require `baron/scope`
    blocked: bool = False
    """The newest review found what must not be merged."""

    @property
    def spec(self) -> TypeSpec:
        return TYPES[self.type]

    @property
    def folder(self) -> str:
        """Where its documents stand on the branch."""
        return f"specs/{self.branch}"


@dataclass(frozen=True, slots=True)
class Added:
    """Something a person added with `/context`, said in a chat, or answered ahead of time."""

    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Clock:
    """The time that whoever is asked has. Moments are ISO 8601 in UTC, empty for none."""

    since: str = ""
    remind_at: str = ""
    deadline: str = ""
    reminded: bool = False
    snoozed: bool = False

    @property
    def next_at(self) -> str:
        """When something is to happen next."""
        return self.remind_at if self.remind_at and not self.reminded else self.deadline


NO_CLOCK = Clock()


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a feature, with everything known about it.

    `ask_round` counts how often an agent was asked, so that a late answer can be told apart.
    """

    number: int
    gid: str
    topic: str
    text: str
    target: str | None = None
    context: str = ""
    why: str = ""
    choices: tuple[Choice, ...] = ()
    recommended: str | None = None
    depends_on: tuple[int, ...] = ()
    category: str = ""
    state: QuestionState = QuestionState.PENDING
    routed: Routed | None = None
    ask_round: int = 0
    ask_role: str | None = None
    tried: tuple[str, ...] = ()
    """Roles asked in this round of asking, so that a fallback is asked once."""
    tentative: Answer | None = None
    asked: str | None = None
    """Who was asked, as written in a comment: a login, `team/slug`, or `maintainer`."""
    note: str = ""
    """Why a person is asked, one sentence."""
    answer: str = ""
    source: str = ""
    """Who the settled answer comes from: `@duc`, or a person's `@login`."""
    validated_by: str | None = None
    settled_by: str = ""
    added: tuple[Added, ...] = ()
    shown: bool = False
    """It has a comment of its own."""
    asker: str = ""
    """Who asked it with `/ask`, or the handle of the agent that left a gap; empty for @baron."""
    urgency: str = "normal"
    value: float = 0.0
    """Impact times uncertainty: which one is asked first when people have too much to answer."""
    rung: int = 0
    """Where in the chain of answerers it is."""
    clock: Clock = NO_CLOCK
    changed_at: str = ""
    """When what a person is to confirm changed last."""
    after: str = ""
    """What happens if nobody answers in time, the end of a sentence."""
    rerouted: str = ""
    """The answerer that somebody chose with `/route`, and so does the next asking."""
    rerouted_by: str = ""
    since_round: int = 1
    """The first round of asking that the present question and context were part of."""
    heard: tuple[int, ...] = ()
    """Rounds of asking that were answered."""
    others: tuple[Answer, ...] = ()
    """Answers of further agents that say something else."""
    unpaid: bool = False
    """No model was asked, because a budget is used up."""
    queued: Added | None = None
    """A person's answer that came while an agent was at work."""
    queued_comment: int | None = None
    chat_with: str = ""
    chat: tuple[Added, ...] = ()
    circle: str = ""
    """`Q1 → Q3 → Q1`, if it waits for itself."""
    candidates: tuple[Candidate, ...] = ()
    gap_of: int | None = None
    """The question whose agent could not go on without this one."""
    settled_at: str = ""
    warning: str = ""
    """Why the answer is to be taken with care: nobody looked at it in time."""
    entry: int = 0
    """Sequence number of the newest log entry about it, which the next one links to."""

    @property
    def name(self) -> str:
        return f"Q{self.number}"

    @property
    def settled(self) -> bool:
        return self.state in SETTLED

    @property
    def ended(self) -> bool:
        """It holds up nothing any more."""
        return self.state in ENDED

    @property
    def person_asking(self) -> str:
        """The login of whoever used `/ask`; empty for what @baron or an agent asked."""
        return "" if self.asker.startswith("@") else self.asker

    @property
    def waits_for_a_person(self) -> bool:
        """Somebody was asked; also when the time was up and nothing was decided."""
        return self.state in {QuestionState.ESCALATED, QuestionState.TIMEOUT}

    @property
    def digest(self) -> str:
        """Hex SHA-256 of what a person read: the question, its options, the tentative answer."""
        parts = [self.text]
        parts += [f"{choice.letter}: {choice.text}" for choice in self.choices]
        parts.append(self.tentative.content if self.tentative else "")
        text = unicodedata.normalize("NFC", "\n".join(parts)).replace("\r\n", "\n")
        return hashlib.sha256(text.replace("\r", "\n").encode()).hexdigest()

    def choice(self, letter: str | None) -> Choice | None:
        """The choice with that letter, or None."""
        wanted = (letter or "").strip().rstrip(".):").upper()
        return next((choice for choice in self.choices if choice.letter == wanted), None)


FULL = 900
"""Questions of one issue; the numbers of the global names end at a thousand."""

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_SPACE = 36**6
_STEP = 1_500_450_271  # a prime that does not divide 36**6, so that the walk visits every id once


def global_id(feature_id: int, number: int) -> str:
    """The global name of a question: `q-` and at least six of `0-9a-z`, unique by construction."""
    serial = feature_id * 1000 + number
    rounds, rest = divmod(serial, _SPACE)
    value = rounds * _SPACE + (rest * _STEP) % _SPACE
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = _ALPHABET[digit] + digits
    return "q-" + digits.rjust(6, "0")
