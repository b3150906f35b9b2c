"""The configuration as the handlers know it: one policy for each repository, always fresh."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from typing import Any

from app.agents.choosing import DRIVER, REVIEWER, executors, has_model
from app.config.explain import explain
from app.config.inforce import Configurations, Fetch, InForce, Unreachable
from app.config.loader import Config
from app.config.models import TOOLS, CalendarRule
from app.config.problems import Problem
from app.config.shipped import config_folder
from app.handlers.facts import HumanLoad, Policy, Wrong
from app.questions.calendars import Calendar, parse_days, parse_hours
from app.questions.caps import Caps
from app.questions.durations import duration
from app.questions.routing import Router
from app.settings import Settings
from app.store.engine import Engine
from app.store.layers import Layers

Rule = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Able:
    """What the server's own roster can do here: nobody else's configuration adds to it."""

    writer: bool = False
    """@baron has a model."""
    reviewer: bool = False
    """@degaulle has one."""
    executors: frozenset[str] = frozenset()
    """Execution roles that something carries the tasks of out."""

    def within(self, config: Config) -> frozenset[str]:
        """Executors that a repository does not keep out."""
        roles = config.agents.roles
        return frozenset(
            name for name in self.executors if name in roles and roles[name].backend not in _OUT
        )


_OUT = frozenset({"none", "retrieval"})


def policy_of(config: Config, explained: str = "", able: Able | None = None) -> Policy:
    """What the handlers know of a configuration."""
    able = able or Able()
    baron, budget = config.baron, config.agents.budget
    return Policy(
        routes=Router(config),
        handles=config.agents.handles(),
        question_limit=baron.questions.limit,
        comments=baron.comments,
        default_sla=config.answerers.default_sla,
        people={name.lower(): who for name, who in config.answerers.people.items()},
        calendars=calendars_of(config.answerers.calendars),
        model_for=config.model_for,
        timeouts={
            name: duration(role.timeout).total_seconds()
            for name in config.agents.names()
            if (role := config.agents.find(name))
        },
        caps=Caps(**budget.model_dump()),
        without_model=frozenset(
            name
            for name in config.agents.names()
            if (role := config.agents.find(name)) and role.backend in {"retrieval", "none"}
        ),
        writer=able.writer and not _kept_out(config, DRIVER),
        executors=able.within(config),
        reviewer=able.reviewer and not _kept_out(config, REVIEWER),
        approval=baron.approval,
        capacities={name: role.capacity for name, role in config.agents.roles.items()},
        turns={name: role.turns for name, role in config.agents.roles.items()},
        findings=baron.review.findings,
        people_scopes=baron.scopes.people,
        allow_for=duration(baron.scopes.allow_for),
        tools=TOOLS,
        load=HumanLoad(baron.human_load.open, baron.human_load.per_day),
        keep=duration(baron.questions.keep),
        remind=baron.questions.remind,
        hooks={name: frozenset(hook.events) for name, hook in config.answerers.hooks.items()},
        explained=explained,
    )


def _kept_out(config: Config, name: str) -> bool:
    role = config.agents.roles.get(name)
    return role is None or role.backend in _OUT


def calendars_of(rules: Mapping[str, CalendarRule]) -> dict[str, Calendar]:
    """Answerer → when they work."""
    return {name: calendar_of(rule) for name, rule in rules.items()}


def calendar_of(rule: CalendarRule) -> Calendar:
    """One calendar. Raises `ValueError`; the configuration has checked that it does not."""
    opens, closes = parse_hours(rule.hours) if rule.hours else (time(0, 0), None)
    return Calendar(
        timezone=rule.timezone,
        opens=opens,
        closes=closes,
        days=parse_days(rule.days),
        holidays=rule.holidays,
        closed=frozenset(rule.closed),
    )


async def _unreachable(repo: str, path: str) -> str | None:
    raise Unreachable(repo)


class Policies:
    """Every repository's policy. Built once; `of` asks GitHub at most every few seconds."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self._settings = settings
        layers = Layers(engine)
        self._configurations = Configurations(
            config_folder(settings), layers, rules=layers.newest_rules
        )
        self._knowing = threading.Lock()
        self._known: dict[int, tuple[InForce, Policy]] = {}
        self._server: tuple[Config, Policy] | None = None
        self._ability: tuple[Config, Able] | None = None

    def _able(self) -> Able:
        """By the server's own files: a repository adds no program and no key."""
        config = self._configurations.server()
        if self._ability is None or self._ability[0] is not config:
            able = Able(
                writer=has_model(config, self._settings),
                reviewer=has_model(config, self._settings, REVIEWER),
                executors=executors(config, self._settings),
            )
            self._ability = (config, able)
        return self._ability[1]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why the server's files as they are now are not in force."""
        return self._configurations.server_problems

    def server(self) -> Policy:
        """The server's own, without what organisations and repositories add."""
        config = self._configurations.server()
        if self._server is None or self._server[0] is not config:
            self._server = (config, policy_of(config, able=self._able()))
        return self._server[1]

    def known(self, repo: str) -> Policy:
        """What was last heard to be in force in a repository, without asking GitHub."""
        with self._knowing:  # the locks within belong to one event loop at a time
            return asyncio.run(self.of(repo, _unreachable))

    async def wrong_with(
        self, repo: str, path: str, text: str | None, fetch: Fetch
    ) -> tuple[Wrong, ...]:
        """What would be wrong with a layer, put on what surrounds it; nothing if it is deleted."""
        problems = await self._configurations.try_layer(repo, path, text, fetch)
        return tuple(Wrong(one.file, one.line, one.where, one.what) for one in problems)

    def try_rules(self, rules: Sequence[Rule], by: str) -> None:
        """Raises `ConfigInvalid` if these rules could not come into force."""
        policy_of(self._configurations.with_rules(rules, by))

    def server_config(self) -> Config:
        """The server's own configuration, with the rules set while running."""
        return self._configurations.server()

    async def in_force(self, repo: str, fetch: Fetch) -> InForce:
        """The configuration in force in a repository."""
        return await self._configurations.of(repo, fetch)

    async def of(self, repo: str, fetch: Fetch) -> Policy:
        """What is in force in a repository."""
        in_force = await self.in_force(repo, fetch)
        known = self._known.get(id(in_force))
        if known is None or known[0] is not in_force:
            if len(self._known) > 1000:
                self._known.clear()
            config = in_force.config
            known = (in_force, policy_of(config, explain(in_force), self._able()))
            self._known[id(in_force)] = known
        return known[1]
