"""`answerers.yaml`, `agents.yaml` and `baron.yaml` as models: every key, its kind, its default."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.config.fields import (
    Answerer,
    Channel,
    Days,
    Duration,
    EnvironmentName,
    Handle,
    Holidays,
    Hours,
    Money,
    Name,
    Percent,
    RoleName,
    Text,
    TimeZone,
    TopicPattern,
    Version,
    Who,
)

TOOLS = frozenset({"docs", "code-search", "web-search"})
"""What `tool/NAME` may name: as in `app.tools.registry`; a test holds the two together."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Step(_Part):
    """The next answerer when time is up, and how long that one has."""

    answerer: Answerer
    sla: Duration | None = None


def _chain(value: object) -> object:
    """A single answerer is a chain of one."""
    return [{"answerer": value}] if isinstance(value, str) else value


class Rule(_Part):
    """What happens with a question, once it is known which rule is for it."""

    answerer: Answerer
    capability: Name | None = None
    """What the model must be good at, for agents: `planning`, `reviewing`."""
    sla: Duration | None = None
    """How long it may take before the next of `escalate_to` is asked."""
    escalate_to: Annotated[tuple[Step, ...], BeforeValidator(_chain)] = ()
    notify: Channel | None = None
    fallback: RoleName | None = None
    """The role that is asked when this agent is unavailable, before any person."""
    on_timeout: Literal["block", "use_answer_with_warning"] = "block"
    """What happens when nobody of the chain answered."""


class Route(Rule):
    """A rule for the topics that match a pattern. Overrides are routes that beat the target."""

    pattern: TopicPattern
    threshold: Percent | None = None


class CalendarRule(_Part):
    """When somebody can be expected to answer; clocks stand still at any other time."""

    timezone: TimeZone = "UTC"
    hours: Hours = ""
    """`09:00-17:00`, in the time zone; empty for the whole day."""
    days: Days = "mon-sun"
    holidays: Holidays = ""
    """A country, or a country and a part of it: `DE`, `DE-BY`."""
    closed: tuple[date, ...] = ()
    """Further days off."""


class Hook(_Part):
    """A webhook that is told what happens. Server only."""

    url: Text
    secret_env: Text = ""
    """Name of the environment variable that holds the secret it is signed with."""
    events: tuple[Text, ...] = ()
    """Types that it wants (`question.escalated`); none means all."""


class Answerers(_Part):
    """`answerers.yaml`: who answers which topic."""

    version: Version = "1"
    overrides: tuple[Route, ...] = ()
    routes: tuple[Route, ...] = ()
    default: Rule = Rule(answerer="human/requester", sla="24h")
    thresholds: Mapping[TopicPattern, Percent] = Field(default_factory=dict)
    """Confidence that an answer needs, first match in file order; 80 where nothing matches."""
    channels: Mapping[Text, Text] = Field(default_factory=dict)
    """Channel → apprise URL. Server only: the URLs hold secrets."""
    people: Mapping[Name, Who] = Field(default_factory=dict)
    """Alias → login, `human/LOGIN` or `team/SLUG`; `maintainer` is who `human/maintainer` means."""
    calendars: Mapping[Text, CalendarRule] = Field(default_factory=dict)
    """Answerer (`team/security`, `human/octocat`) or `default` → when they work."""
    hooks: Mapping[Name, Hook] = Field(default_factory=dict)
    """Webhooks that are told what happens. Server only."""
    allow_hosts: tuple[Text, ...] = ()
    """`host:port` of webhooks inside the own network. Server only."""
    default_sla: Duration = "24h"
    """For rules that name no `sla` of their own."""
    check_interval: Duration = "1m"
    default_capability: Name = "reviewing"

    def channel_url(self, notify: str) -> str | None:
        """The URL for a rule's `notify`; `channels` may name it with or without `slack://`."""
        return self.channels.get(notify) or self.channels.get(notify.partition("://")[2])


class Role(_Part):
    """A role of the roster and the persona that fills it."""

    handle: Handle
    description: Text | None = None
    """What it knows, in a sentence: where a topic names nobody, this tells who might know."""
    kind: Literal["driver", "knowledge", "execution"] = "knowledge"
    """Drives the workflow, answers questions, or writes files in its scope."""
    backend: Literal["auto", "retrieval", "claude", "llm", "command", "none"] = "auto"
    """What answers for it; `retrieval` reads the handbook and needs no account. `auto` is a model
    if there is a key for one, else the handbook."""
    model: Text | None = None
    """`opus`, `claude-opus-5-5`, `openai:gpt-5`, …"""
    timeout: Duration = "2m"
    fallback: RoleName | None = None
    """The role that is asked when this one is unavailable."""
    knowledge: Text | None = None
    """Folder of the handbook that `retrieval` reads."""
    turns: Annotated[int, Field(strict=True, ge=1, le=1000)] = 80
    """How often it may call its model for one task, for execution."""
    capacity: Annotated[int, Field(strict=True, ge=1, le=100)] = 5
    """How many tasks of one feature it does at a time, for execution."""
    aliases: tuple[Name, ...] = ()
    """Further role names by which routes and questions may call it."""
    command: tuple[Text, ...] = ()
    """Program and arguments for `backend: command`. Server only."""
    base_url: Text | None = None
    """Where the model of `backend: llm` is served, if not at its provider. Server only."""
    key: EnvironmentName | None = None
    """The variable that holds the key for `base_url`; without it none is sent. Server only."""


class Budget(_Part):
    """What models may cost, in USD; `null` is without a cap."""

    question: Money | None = 1.0
    """For one question, in all."""
    feature: Money | None = 10.0
    """For one issue, in all."""
    repository: Money | None = 200.0
    """For one repository and calendar month (UTC)."""
    day: Money | None = 50.0
    """For the whole service and day (UTC)."""
    person: Money | None = 20.0
    """For what one person sets off in a day (UTC)."""
    task: Money | None = 5.0
    """For one run of an execution task."""


class ModelPrice(_Part):
    """USD for a million tokens of a model that no public price list knows."""

    input: Money
    output: Money


class App(_Part):
    """A further GitHub App, under whose name some roles speak (`KR_APP_<NAME>_ID`)."""

    slug: Text | None = None
    """The App's name in its address; its comments are written by `SLUG[bot]`."""
    roles: tuple[Name, ...] = ()


class Agents(_Part):
    """`agents.yaml`: who there is."""

    roles: Mapping[Name, Role] = Field(default_factory=dict)
    capabilities: Mapping[Name, Text] = Field(default_factory=dict)
    """Capability → model."""
    budget: Budget = Budget()
    prices: Mapping[Text, ModelPrice] = Field(default_factory=dict)
    """Model → its price. Server only."""
    apps: Mapping[Name, App] = Field(default_factory=dict)

    def find(self, name: str) -> Role | None:
        """The role with this name or alias."""
        if name in self.roles:
            return self.roles[name]
        return next((role for role in self.roles.values() if name in role.aliases), None)

    def names(self) -> tuple[str, ...]:
        """All role names, then all aliases."""
        aliases = [alias for role in self.roles.values() for alias in role.aliases]
        return (*self.roles, *aliases)

    def handles(self) -> dict[str, str]:
        """Role or alias → handle: `{"architect": "@duc"}`."""
        return {name: role.handle for name in self.names() if (role := self.find(name))}


class Questions(_Part):
    """How @baron asks."""

    limit: Annotated[int, Field(strict=True, ge=1, le=30)] = 6
    """The most questions one reading of an issue may raise."""
    remind: Percent = 50
    """Per cent of the time after which whoever is asked is reminded, once; 0 never."""
    keep: Duration = "30d"
    """How long `/questions` lists a settled question; the log keeps it for ever."""


class HumanLoadRule(_Part):
    """How much one person or team is asked; what is more waits, the most valuable first."""

    open: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    """Open questions at a time."""
    per_day: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    """New questions a day (UTC)."""


class ScopesRule(_Part):
    """Whom the scope file binds."""

    people: bool = False
    """Whether `baron/scope` holds people's pull requests against it, too."""
    allow_for: Duration = "7d"
    """How long `/allow` holds."""


class ReviewRule(_Part):
    """How @degaulle reviews."""

    findings: Annotated[int, Field(strict=True, ge=0, le=50)] = 10
    """The most lines of a pull request that one review comments on."""


class Baron(_Part):
    """`baron.yaml`: how @baron behaves on an issue."""

    comments: Literal["all", "outcomes", "none"] = "all"
    """A comment for every question, only for what came of them, or the status alone."""
    questions: Questions = Questions()
    human_load: HumanLoadRule = HumanLoadRule()
    approval: Literal["go", "auto"] = "go"
    """Whether a person says `/go` before tasks are done."""
    scopes: ScopesRule = ScopesRule()
    review: ReviewRule = ReviewRule()
