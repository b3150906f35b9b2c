"""Who answers a question: override, route, suggested target, default, in this order.

The router reads any configuration of the right shape (`app.config` has it), so that this room
depends on no file and no parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from app.questions import topics
from app.questions.model import Routed
from app.questions.patterns import PatternIndex

DEFAULT_THRESHOLD = 80

HUMANS = {
    "human": "human/requester",
    "human/requester": "human/requester",
    "human/maintainer": "human/maintainer",
}
"""People that a question may suggest by itself. Anybody else is named by the configuration
only, so that no text can call on a person of its choice."""


class StepLike(Protocol):
    """One answerer of the chain after the first."""

    @property
    def answerer(self) -> str: ...
    @property
    def sla(self) -> str | None: ...


class RuleLike(Protocol):
    """What a route, an override and the default have in common."""

    @property
    def answerer(self) -> str: ...
    @property
    def capability(self) -> str | None: ...
    @property
    def sla(self) -> str | None: ...
    @property
    def escalate_to(self) -> Sequence[StepLike]: ...
    @property
    def notify(self) -> str | None: ...
    @property
    def fallback(self) -> str | None: ...
    @property
    def on_timeout(self) -> str: ...


class RouteLike(RuleLike, Protocol):
    """A rule for the topics that match its pattern."""

    @property
    def pattern(self) -> str: ...
    @property
    def threshold(self) -> int | None: ...


class AnswerersLike(Protocol):
    """`answerers.yaml`, as far as routing reads it."""

    @property
    def overrides(self) -> Sequence[RouteLike]: ...
    @property
    def routes(self) -> Sequence[RouteLike]: ...
    @property
    def thresholds(self) -> Mapping[str, int]: ...
    @property
    def default(self) -> RuleLike: ...


class RoleLike(Protocol):
    """A role of the roster."""

    @property
    def handle(self) -> str: ...
    @property
    def aliases(self) -> Sequence[str]: ...
    @property
    def fallback(self) -> str | None: ...


class AgentsLike(Protocol):
    """`agents.yaml`, as far as routing reads it."""

    @property
    def roles(self) -> Mapping[str, RoleLike]: ...


class RoutingConfig(Protocol):
    """The two parts of a configuration that decide who answers."""

    @property
    def answerers(self) -> AnswerersLike: ...
    @property
    def agents(self) -> AgentsLike: ...


class Roster:
    """Finds a role by its name, an alias or its handle."""

    def __init__(self, roles: Mapping[str, RoleLike]) -> None:
        self._by_name: dict[str, RoleLike] = dict(roles)
        self._by_handle: dict[str, str] = {}
        for name, role in roles.items():
            self._by_handle.setdefault(role.handle.lower().lstrip("@"), name)
            for alias in role.aliases:
                self._by_name.setdefault(alias, role)

    def role(self, name: str) -> RoleLike | None:
        """The role with this name or alias."""
        return self._by_name.get(name)

    def answerer(self, target: str) -> str | None:
        """The answerer that a suggested target means, or None if nobody is called so."""
        name = target.strip().lower()
        if name in HUMANS:
            return HUMANS[name]
        name = name.removeprefix("agent/")
        if name not in self._by_name:
            name = self._by_handle.get(name.removeprefix("@"), "")
        return f"agent/{name}" if name else None


class Router:
    """Decides who answers. Made once from a configuration; a decision takes microseconds."""

    def __init__(self, config: RoutingConfig) -> None:
        answerers = config.answerers
        self._roster = Roster(config.agents.roles)
        self._overrides = tuple(answerers.overrides)
        self._override_index = PatternIndex(rule.pattern for rule in self._overrides)
        self._routes = tuple(answerers.routes)
        self._route_index = PatternIndex(rule.pattern for rule in self._routes)
        self._thresholds = tuple(answerers.thresholds.values())
        self._threshold_index = PatternIndex(answerers.thresholds)
        self._default = answerers.default

    def route(self, topic: str, target: str | None = None) -> Routed:
        """Who answers a question of this topic that suggests this target."""
        normal = topics.normalise(topic)
        levels = topics.levels(normal)
        shown = normal or topics.shown(topic)
        number = self._override_index.first(levels)
        if number is not None:
            return self._by_route(shown, levels, self._overrides[number], True)
        number = self._route_index.first(levels)
        if number is not None:
            return self._by_route(shown, levels, self._routes[number], False)
        threshold = self._threshold(levels)
        if not target or not target.strip():
            return self._by_rule(shown, self._default, "default", threshold, note=topics.UNKNOWN)
        answerer = self._roster.answerer(target)
        if answerer is None:
            return self._by_rule(shown, self._default, "default", threshold, note="unknown target")
        return self._by_target(shown, answerer, threshold)

    def answerer(self, name: str) -> str | None:
        """The answerer that a role, an alias or a handle means; None if nobody is called so."""
        return self._roster.answerer(name)

    def _threshold(self, levels: Sequence[str]) -> int:
        number = self._threshold_index.first(levels)
        return DEFAULT_THRESHOLD if number is None else self._thresholds[number]

    def _by_route(
        self, topic: str, levels: Sequence[str], route: RouteLike, override: bool
    ) -> Routed:
        own = route.threshold
        threshold = self._threshold(levels) if own is None else own
        return self._by_rule(topic, route, route.pattern, threshold, override=override)

    def _by_rule(
        self,
        topic: str,
        rule: RuleLike,
        name: str,
        threshold: int,
        *,
        override: bool = False,
        note: str | None = None,
    ) -> Routed:
        handle, fallback = self._agent(rule.answerer)
        return Routed(
            topic=topic,
            answerer=rule.answerer,
            agent=handle,
            rule=name,
            threshold=threshold,
            sla=rule.sla,
            override=override,
            note=note,
            fallback=rule.fallback or fallback,
            escalate_to=tuple((step.answerer, step.sla) for step in rule.escalate_to),
            capability=rule.capability,
            notify=rule.notify,
            on_timeout=rule.on_timeout,
        )

    def _by_target(self, topic: str, answerer: str, threshold: int) -> Routed:
        handle, fallback = self._agent(answerer)
        return Routed(topic, answerer, handle, "target", threshold, fallback=fallback)

    def _agent(self, answerer: str) -> tuple[str | None, str | None]:
        """Handle and fallback of an agent answerer; nothing for people, teams and tools."""
        kind, _, name = answerer.partition("/")
        role = self._roster.role(name) if kind == "agent" else None
        return (role.handle, role.fallback) if role else (None, None)
