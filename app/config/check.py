"""What no single value shows: roles that nobody declared, circles, rules that never match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.config.document import Document, Path
from app.config.models import TOOLS, Agents, Answerers, Rule
from app.config.problems import Problem, suggestion
from app.questions import patterns


@dataclass(frozen=True, slots=True)
class Checked:
    """The two models that refer to each other, and the documents they were read from."""

    answerers: Answerers
    agents: Agents
    answerers_document: Document
    agents_document: Document


def errors(checked: Checked) -> list[Problem]:
    """Why these two must not come into force together."""
    return [
        *_undeclared(checked),
        *_no_tool(checked),
        *_own_fallback(checked),
        *_aliases(checked),
        *_circles(checked),
    ]


def warnings(checked: Checked) -> list[Problem]:
    """What works, but probably not as it was meant."""
    return sorted([*_never_matching(checked), *_shadowed_thresholds(checked), *_unmapped(checked)])


def _rules(answerers: Answerers) -> Iterator[tuple[Path, Rule]]:
    yield from ((("overrides", n), rule) for n, rule in enumerate(answerers.overrides))
    yield from ((("routes", n), rule) for n, rule in enumerate(answerers.routes))
    yield ("default",), answerers.default


def _undeclared(checked: Checked) -> Iterator[Problem]:
    names = frozenset(checked.agents.names())
    for document, path, role in (*_roles_in_rules(checked), *_roles_in_agents(checked)):
        if role not in names:
            yield document.problem(path, f'no role "{role}" in the roster{suggestion(role, names)}')


def _answerers(checked: Checked) -> Iterator[tuple[Path, str]]:
    for path, rule in _rules(checked.answerers):
        yield (*path, "answerer"), rule.answerer
        for number, step in enumerate(rule.escalate_to):
            yield (*path, "escalate_to", number, "answerer"), step.answerer


def _no_tool(checked: Checked) -> Iterator[Problem]:
    for path, answerer in _answerers(checked):
        kind, _, name = answerer.partition("/")
        if kind == "tool" and name not in TOOLS:
            what = f'no tool "{name}"{suggestion(name, TOOLS)}: {", ".join(sorted(TOOLS))}'
            yield checked.answerers_document.problem(path, what)


def _roles_in_rules(checked: Checked) -> Iterator[tuple[Document, Path, str]]:
    document = checked.answerers_document
    for place, answerer in _answerers(checked):
        if answerer.startswith("agent/"):
            yield document, place, answerer.removeprefix("agent/")
    for path, rule in _rules(checked.answerers):
        if rule.fallback:
            yield document, (*path, "fallback"), rule.fallback


def _roles_in_agents(checked: Checked) -> Iterator[tuple[Document, Path, str]]:
    document = checked.agents_document
    for name, role in checked.agents.roles.items():
        if role.fallback:
            yield document, ("roles", name, "fallback"), role.fallback
    for name, app in checked.agents.apps.items():
        for number, persona in enumerate(app.roles):
            yield document, ("apps", name, "roles", number), persona


def _own_fallback(checked: Checked) -> Iterator[Problem]:
    for path, rule in _rules(checked.answerers):
        if rule.fallback and rule.answerer == f"agent/{rule.fallback}":
            what = f'"{rule.fallback}" cannot stand in for itself'
            yield checked.answerers_document.problem((*path, "fallback"), what)


def _aliases(checked: Checked) -> Iterator[Problem]:
    """An alias must mean one role."""
    taken = {name: name for name in checked.agents.roles}
    for name, role in checked.agents.roles.items():
        for number, alias in enumerate(role.aliases):
            other = taken.setdefault(alias, name)
            if other != name or alias == name:
                path: Path = ("roles", name, "aliases", number)
                what = f'"{alias}" is already a name of the role "{other}"'
                yield checked.agents_document.problem(path, what)


def _circles(checked: Checked) -> Iterator[Problem]:
    """Roles that fall back to each other for ever; each circle is told once."""
    primary = {name: name for name in checked.agents.roles}
    for name, role in checked.agents.roles.items():
        primary.update(dict.fromkeys(role.aliases, name))
    following = {
        name: primary.get(role.fallback or "") for name, role in checked.agents.roles.items()
    }
    told: set[str] = set()
    for start in following:
        way: list[str] = []
        here: str | None = start
        while here is not None and here not in way and here not in told:
            way.append(here)
            here = following[here]
        if here is not None and here in way:
            circle = way[way.index(here) :]
            what = f"goes round in a circle: {' → '.join([*circle, circle[0]])}"
            yield checked.agents_document.problem(("roles", circle[0], "fallback"), what)
        told.update(way)


def _never_matching(checked: Checked) -> Iterator[Problem]:
    """Routes and overrides behind another that takes everything they match.

    A nearer route that goes before an inherited one is what inheritance is for, and no warning.
    """
    document, answerers = checked.answerers_document, checked.answerers
    rules = (*answerers.overrides, *answerers.routes)
    count = len(answerers.overrides)
    paths: list[Path] = [("overrides", n) for n in range(count)]
    paths += [("routes", n) for n in range(len(answerers.routes))]
    for later, earlier in patterns.shadowed([rule.pattern for rule in rules]):
        first, second = document.mark(paths[earlier]), document.mark(paths[later])
        if earlier >= count and first.file != second.file:
            continue
        same = rules[later].pattern == rules[earlier].pattern
        reason = "the same pattern stands" if same else f'"{rules[earlier].pattern}" covers it'
        what = f'"{rules[later].pattern}" never matches: {reason} at {first}'
        yield document.problem((*paths[later], "pattern"), what)


def _shadowed_thresholds(checked: Checked) -> Iterator[Problem]:
    document, names = checked.answerers_document, list(checked.answerers.thresholds)
    for later, earlier in patterns.shadowed(names):
        first = document.mark(("thresholds", names[earlier]))
        second = document.mark(("thresholds", names[later]))
        if first.file == second.file:
            what = f'never counts: "{names[earlier]}" covers it at {first}'
            yield document.problem(("thresholds", names[later]), what)


def _unmapped(checked: Checked) -> Iterator[Problem]:
    for path, rule in _rules(checked.answerers):
        if rule.notify and checked.answerers.channel_url(rule.notify) is None:
            what = f'nobody is told: the server maps no channel "{rule.notify}"'
            yield checked.answerers_document.problem((*path, "notify"), what)
