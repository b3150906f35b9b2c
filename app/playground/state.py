"""What the playground remembers: plain records, all in memory, no behaviour but look-ups."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from app.playground.state_pulls import CheckRun, Pull

Json = dict[str, Any]
H = TypeVar("H", bound="Hideable")

ROLES = ("none", "read", "triage", "write", "maintain", "admin")  # from the least to the most

hide_seconds: ContextVar[float] = ContextVar("hide_seconds", default=0.0)
"""How long what is created now stays invisible to readers (a fault's read-after-write lag)."""


def now() -> datetime:
    """The time, in whole seconds as GitHub shows it."""
    return datetime.now(UTC).replace(microsecond=0)


def shown_from() -> float:
    """The moment from which readers see what is created now."""
    return time.monotonic() + hide_seconds.get() if hide_seconds.get() else 0.0


class Hideable(Protocol):
    """A record that may not be visible yet."""

    visible_from: float


def visible(things: Iterable[H]) -> list[H]:
    """Those that readers can see by now."""
    moment = time.monotonic()
    return [thing for thing in things if thing.visible_from <= moment]


@dataclass
class User:
    """A person, or an App's bot (`kind` is `Bot`)."""

    id: int
    login: str
    name: str
    kind: str = "User"
    created: datetime = field(default_factory=now)


@dataclass
class Label:
    """A repository's label."""

    id: int
    name: str
    color: str = "ededed"
    description: str = ""


@dataclass
class Reaction:
    """One user's emoji on an issue or a comment."""

    id: int
    user: User
    content: str
    created: datetime = field(default_factory=now)


@dataclass
class Comment:
    """A comment in an issue's thread."""

    id: int
    user: User
    body: str
    via_app: bool = False
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)
    edited: bool = False
    reactions: list[Reaction] = field(default_factory=list)
    visible_from: float = field(default_factory=shown_from)


@dataclass
class Event:
    """A line in an issue's timeline that is not a comment, such as `labeled`."""

    id: int
    user: User
    kind: str
    text: str = ""
    at: datetime = field(default_factory=now)


@dataclass
class Issue:
    """An issue or a pull request."""

    id: int
    number: int
    user: User
    title: str
    body: str
    via_app: bool = False
    state: str = "open"
    state_reason: str | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)
    closed: datetime | None = None
    closed_by: User | None = None
    edited: bool = False
    pull: Pull | None = None
    visible_from: float = field(default_factory=shown_from)


@dataclass
class Role:
    """A collaborator's role; `name` differs from `base` for an organisation's own roles."""

    base: str
    name: str = ""


@dataclass
class Repo:
    """A repository; its git objects are on disk, in a bare repository named by its id."""

    id: int
    owner: str
    name: str
    description: str = ""
    private: bool = False
    default_branch: str = "main"
    collaborators: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    checks: list[CheckRun] = field(default_factory=list)
    required: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Names of required checks, by (`rules` or `classic`, branch)."""
    gone: set[int] = field(default_factory=set)
    next_number: int = 1
    created: datetime = field(default_factory=now)
    pushed: datetime = field(default_factory=now)
    hidden_refs: dict[str, float] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"

    def label(self, name: str) -> Label | None:
        """The label with this name in any case."""
        return self.labels.get(name.lower())

    def role(self, login: str) -> Role:
        """What somebody may do here; everybody reads a public repository."""
        return self.collaborators.get(login, Role("none" if self.private else "read"))


@dataclass
class Team:
    """A team of an organisation."""

    id: int
    slug: str
    name: str
    description: str = ""
    members: list[str] = field(default_factory=list)


@dataclass
class Org:
    """An organisation, which owns repositories."""

    id: int
    login: str
    name: str
    members: dict[str, str] = field(default_factory=dict)
    teams: dict[str, Team] = field(default_factory=dict)
    created: datetime = field(default_factory=now)


@dataclass
class Installation:
    """An App, installed on one account with all its repositories."""

    id: int
    account: str
    app: str
    """The App's number."""
    created: datetime = field(default_factory=now)


@dataclass
class Token:
    """An installation's access token."""

    installation: int
    expires: float


@dataclass
class World:
    """All of it. `counter` gives every record an id of its own, also over restarts."""

    counter: int
    users: dict[str, User] = field(default_factory=dict)
    orgs: dict[str, Org] = field(default_factory=dict)
    repos: dict[str, Repo] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)

    def new_id(self) -> int:
        """An id that nothing else has."""
        self.counter += 1
        return self.counter

    def repo(self, owner: str, name: str) -> Repo | None:
        """A repository by its name in any case."""
        return self.repos.get(f"{owner}/{name}".lower())

    def user(self, login: str) -> User | None:
        """A user by login in any case."""
        return self.users.get(login.lower())

    def installation_of(self, owner: str, app: str) -> Installation | None:
        """An App's installation on an account."""
        found = (i for i in self.installations.values() if (i.account, i.app) == (owner, app))
        return next(found, None)
