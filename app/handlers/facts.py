"""What a handler may know: loaded before it decides, never asked for while it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, Protocol

from app.features.dispatch import ExecutionTask, Planned
from app.features.model import Feature, Question
from app.questions.calendars import ALWAYS, Calendar
from app.questions.caps import NO_CAPS, Caps
from app.questions.model import Routed
from app.scopes.pulls import Allowance, Pull


class Permission(IntEnum):
    """What somebody may do in a repository, in GitHub's order."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class Routes(Protocol):
    """Decides who answers: `app.questions.routing.Router`."""

    def route(self, topic: str, target: str | None = None) -> Routed:
        """By precedence: override, route, suggested target, default."""
        ...

    def answerer(self, name: str) -> str | None:
        """The agent that a role, an alias or a handle means: `agent/architect`; else None."""
        ...


@dataclass(frozen=True, slots=True)
class HumanLoad:
    """How much people are asked (specs/1, US3); None is without limit."""

    open: int | None = None
    """Open questions for one person."""
    per_day: int | None = None
    """New questions for one person and day."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the configuration says about this repository."""

    routes: Routes
    handles: Mapping[str, str]
    """Role → handle with its `@`: `{"architect": "@duc"}`."""
    question_limit: int = 6
    comments: str = "all"
    """`all`, `outcomes` (no comment for a single question) or `none` (only the status)."""
    default_sla: str = "24h"
    people: Mapping[str, str] = field(default_factory=dict)
    """Alias → login or `team/SLUG`."""
    calendars: Mapping[str, Calendar] = field(default_factory=dict)
    """Answerer, login or `default` → when they work."""
    model_for: Callable[[str, str | None], str | None] = lambda role, capability: None
    """(Role, capability of the route) → the model it is asked with; None for the provider's."""
    timeouts: Mapping[str, float] = field(default_factory=dict)
    """Role → seconds that it may take."""
    caps: Caps = NO_CAPS
    """What models may cost here."""
    without_model: frozenset[str] = frozenset()
    """Roles and aliases that the repository keeps away from models."""
    writer: bool = False
    """Whether @baron has a model that makes documents of drafts."""
    tools: frozenset[str] = frozenset()
    """Names of the tools there are."""
    load: HumanLoad = HumanLoad()
    keep: timedelta = timedelta(days=30)
    """How long a settled question is shown by `/questions`."""
    remind: int = 50
    """Per cent of the time after which whoever is asked is reminded; 0 never."""
    executors: frozenset[str] = frozenset()
    """Execution roles that something here can do the tasks of."""
    approval: str = "go"
    """`go`: a person approves the tasks; `auto`: nobody has to."""
    capacities: Mapping[str, int] = field(default_factory=dict)
    """Execution role → how many tasks of one feature it does at a time; without one, all."""
    turns: Mapping[str, int] = field(default_factory=dict)
    """Execution role → how often it may call its model for one task."""
    findings: int = 10
    """How many lines of a pull request a review comments on."""
    reviewer: bool = False
    """Whether @degaulle has a model."""
    prohibited: Callable[[ExecutionTask], str] = lambda task: ""
    """Why a task must not be done by an agent; empty if it may. Asked before it is sent."""
    people_scopes: bool = False
    """Whether the scope file binds people, too."""
    allow_for: timedelta = timedelta(days=7)
    """How long `/allow` holds."""
    hooks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Webhook that is told what happens → the types it wants; none means all."""
    explained: str = ""
    """The configuration with its origins, for `/config`."""

    def calendar(self, *names: str) -> Calendar:
        """The calendar of the first name that has one, else everybody's."""
        for name in (*names, "default"):
            if name in self.calendars:
                return self.calendars[name]
        return ALWAYS


@dataclass(frozen=True, slots=True)
class Line:
    """An entry of the log, for `/why`."""

    seq: int
    at: str
    kind: str
    question: str | None
    actor: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A mistake in a configuration that a pull request brings."""

    file: str
    line: int
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Load:
    """What a person has to answer already, in all repositories of the installation."""

    open: int = 0
    today: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """A pull request as it is now."""

    sha: str
    base: str = ""
    """The commit of the base branch."""
    into: str = ""
    """The base branch."""
    branch: str = ""
    """Of the head, in this repository; empty for one in a fork."""
    draft: bool = False
    author: str = ""
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """`permission` is the sender's; `next_seq` the number of the next log entry."""

    now: datetime
    policy: Policy
    bot: str = "baron[bot]"
    permission: Permission = Permission.NONE
    feature: Feature | None = None
    questions: tuple[Question, ...] = field(default_factory=tuple)
    tasks: tuple[ExecutionTask, ...] = ()
    templates: tuple[str, ...] = ()
    """Documents that the repository has templates for, if a feature begins."""
    planned: Planned | None = None
    """The documents on the feature's branch, if they are needed for this event."""
    next_seq: int = 1
    teams: frozenset[str] = frozenset()
    """Those of the asked teams, as `owner/slug`, that the sender is a member of."""
    load: Mapping[str, Load] = field(default_factory=dict)
    """Login or `owner/slug` in lower case → what they have to answer."""
    lines: tuple[Line, ...] = ()
    """The log, if it is needed for this event."""
    labels: tuple[str, ...] | None = None
    """The issue's labels as they are now; None if GitHub was not asked."""
    closed: bool | None = None
    """Whether the issue is closed now; deliveries may be late and out of order."""
    proposed: tuple[Wrong, ...] | None = None
    """What is wrong with the configuration a pull request brings; None if it brings none."""
    pull: Pull | None = None
    """What a pull request changes, if the event is about one."""
    others: tuple[Pull, ...] = ()
    """Further open pull requests of the same commit: a check is the commit's, and so all count."""
    head: Head | None = None
    """The pull request, if a command is about one."""
    allowed: tuple[Allowance, ...] = ()
    """What owners allowed for the pull request's newest commit."""
    required: frozenset[str] | None = None
    """Checks that the default branch requires; None if nobody asked or GitHub does not say."""
    quiet: bool = False
    """The sender has had enough attention for now: no reaction and no reply to them."""
