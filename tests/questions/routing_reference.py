"""Routing once more, from the contract alone, written to be read rather than to be quick.

A witness for `app.questions.routing`, with which it shares no line. It takes plain maps, as YAML
gives them, and returns what `kr route --json` prints. Everything follows "Configuration",
"Precedence" and "Patterns" of the contract, but for what the contract leaves open; there it
follows what the program documents:

- a suggested target may be an alias or a handle, in any case, and `human`, `human/requester` or
  `human/maintainer` (specs/1: "architect, product, human");
- a target that means nobody is noted as `unknown target`;
- text that is no topic has no levels, so that only `**` matches it.

Tests replace single functions by wrong ones, to show that each of them matters. The second half
makes the configurations and questions on which the two are compared.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import yaml

Map = dict[str, Any]
Question = tuple[str, str | None]

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
USUAL_THRESHOLD = 80
USUAL_DEFAULT: Map = {"answerer": "human/requester", "sla": "24h"}
PEOPLE = {
    "human": "human/requester",
    "human/requester": "human/requester",
    "human/maintainer": "human/maintainer",
}


def route(answerers: Map, roles: Map, topic: str, target: str | None = None) -> Map:
    """Who answers, with this `answerers.yaml` and these `roles` of `agents.yaml`."""
    levels = levels_of(topic)
    shown = ".".join(levels) or " ".join(topic.split())
    threshold = threshold_for(answerers, levels)
    for kind in ("overrides", "routes"):
        rule = first_rule(answerers.get(kind, []), levels)
        if rule is not None:
            own = own_threshold(rule, threshold)
            return decision(shown, rule, roles, rule["pattern"], own, override=kind == "overrides")
    suggested = (target or "").strip().lower()
    who = meant(suggested, roles)
    if who is not None:
        return decision(shown, {"answerer": who}, roles, "target", threshold)
    default = answerers.get("default", USUAL_DEFAULT)
    note = "unknown target" if suggested else "unknown topic"
    return decision(shown, default, roles, "default", threshold, note=note)


def decision(
    topic: str,
    rule: Map,
    roles: Map,
    name: str,
    threshold: int,
    override: bool = False,
    note: str | None = None,
) -> Map:
    """The document that `kr route --json` prints."""
    return {
        "topic": topic,
        "answerer": rule["answerer"],
        "agent": handle_of(rule["answerer"], roles),
        "rule": name,
        "threshold": threshold,
        "sla": rule.get("sla"),
        "override": override,
        "note": note,
    }


def levels_of(topic: str) -> list[str]:
    """The levels of a topic in lower case; none for text that is no topic."""
    levels = topic.strip().lower().split(".")
    return levels if all(is_level(level) for level in levels) else []


def is_level(text: str) -> bool:
    """Letters, digits, `-` and `_`, with a letter or a digit first."""
    return text[:1] in set(LETTERS) and all(letter in LETTERS + "-_" for letter in text)


def matches(pattern: list[str], levels: list[str]) -> bool:
    """Whether the levels of a pattern match those of a topic."""
    if not pattern:
        return not levels
    if pattern[0] == "**":
        nothing = matches(pattern[1:], levels)
        return nothing or (bool(levels) and matches(pattern, levels[1:]))
    if not levels:
        return False
    return pattern[0] in ("*", levels[0]) and matches(pattern[1:], levels[1:])


def first_rule(rules: list[Map], levels: list[str]) -> Map | None:
    """The first rule, in file order, whose pattern matches."""
    for rule in rules:
        if matches(rule["pattern"].split("."), levels):
            return rule
    return None


def threshold_for(answerers: Map, levels: list[str]) -> int:
    """The first match in `thresholds`, else 80."""
    for pattern, number in answerers.get("thresholds", {}).items():
        if matches(pattern.split("."), levels):
            return int(number)
    return USUAL_THRESHOLD


def own_threshold(rule: Map, otherwise: int) -> int:
    """The override's or route's own threshold goes before the others; 0 is one, too."""
    return int(rule["threshold"]) if "threshold" in rule else otherwise


def meant(target: str, roles: Map) -> str | None:
    """The answerer that a target in lower case means: a name goes before a handle."""
    if target in PEOPLE:
        return PEOPLE[target]
    if target.startswith("agent/"):
        target = target[len("agent/") :]
    if role_named(target, roles) is not None:
        return f"agent/{target}"
    for name, role in roles.items():
        handle = handle_shown(role).lower()
        if target and target in (handle, handle[1:]):
            return f"agent/{name}"
    return None


def role_named(name: str, roles: Map) -> Map | None:
    """The role with this name or alias."""
    if name in roles:
        return dict(roles[name])
    for role in roles.values():
        if name in role.get("aliases", []):
            return dict(role)
    return None


def handle_of(answerer: str, roles: Map) -> str | None:
    """The handle of an agent that the roster has; nothing for people, teams and tools."""
    kind, name = answerer.split("/", 1)
    role = role_named(name, roles) if kind == "agent" else None
    return handle_shown(role) if role else None


def handle_shown(role: Map) -> str:
    """`@duc`, be it written with the `@` or without."""
    handle = str(role["handle"])
    return handle if handle.startswith("@") else f"@{handle}"


# Configurations and questions, made by chance from few names, so that matches, near misses and
# collisions of names are all frequent.

QUESTIONS = 20
NAMES = ("duc", "product", "qa", "security-reviewer")
HANDLES = ("@duc", "Duc", "@Veuve", "product", "@QA", "@legal")
ALIASES = ("legal", "veuve", "sec")
NO_TOPICS = ("", "  ", "a..b", "a.", ".a", "a b", "a.*", "a.**", "a._b", "é.b", "a\n b!")
NO_TARGETS = ("nobody", "@", "agent/", "@nobody", "human/mara", "human/author", "team/core")
PEOPLE_ASKED = ("human", "Human", "human/requester", " human/maintainer ")


def roles(chance: random.Random) -> Map:
    """Some roles. A handle may be another role's name or alias; no alias means two roles."""
    names = chance.sample(NAMES, chance.randint(1, 4))
    aliases = chance.sample(ALIASES, chance.randint(0, 3))
    made: Map = {}
    for name in names:
        role: Map = {"handle": chance.choice(HANDLES)}
        if aliases and chance.random() < 0.5:
            role["aliases"] = [aliases.pop()]
        if made and chance.random() < 0.4:
            role["fallback"] = chance.choice(list(made))
        made[name] = role
    return made


def pattern(chance: random.Random) -> str:
    levels = ("a", "a", "b", "b", "c", "*", "*", "**")
    return ".".join(chance.choices(levels, k=chance.choice((1, 1, 2, 2, 3, 4))))


def called(roster: Map) -> list[str]:
    """All names and aliases."""
    return [*roster, *(alias for role in roster.values() for alias in role.get("aliases", []))]


def rule(chance: random.Random, roster: Map) -> Map:
    people = ("team/core", "human/mara", "human/requester", "tool/docs")
    agent = f"agent/{chance.choice(called(roster))}"
    made: Map = {"answerer": agent if chance.random() < 0.7 else chance.choice(people)}
    if chance.random() < 0.5:
        made["sla"] = chance.choice(("5m", "30m", "4h", "24h"))
    if chance.random() < 0.3:
        made["escalate_to"] = "human/maintainer"
    if chance.random() < 0.2:
        made |= {"answerer": "human/rosa", "fallback": chance.choice(list(roster))}
    return made


def rules(chance: random.Random, roster: Map, most: int) -> list[Map]:
    made = []
    for _ in range(chance.randint(0, most)):
        one = {"pattern": pattern(chance), **rule(chance, roster)}
        if chance.random() < 0.3:
            one["threshold"] = chance.choice((0, 50, 80, 100))
        made.append(one)
    return made


def answerers(chance: random.Random, roster: Map) -> Map:
    thresholds = {
        pattern(chance): chance.choice((0, 1, 70, 95, 100)) for _ in range(chance.randint(0, 3))
    }
    made: Map = {
        "version": "1",
        "overrides": rules(chance, roster, 3),
        "routes": rules(chance, roster, 6),
        "thresholds": thresholds,
        "default": rule(chance, roster),
    }
    return {key: value for key, value in made.items() if chance.random() < 0.8}


def topic(chance: random.Random) -> str:
    if chance.random() < 0.05:
        return chance.choice(NO_TOPICS)
    levels = ("a", "a", "a", "b", "b", "b", "c", "d", "ab")
    text = ".".join(chance.choices(levels, k=chance.choice((1, 1, 2, 2, 3, 4, 5))))
    return chance.choice((text, text, text, text.upper(), f" {text.title()} "))


def target(chance: random.Random, roster: Map) -> str | None:
    kind = chance.random()
    if kind < 0.3:
        return chance.choice((None, None, "", "  "))
    if kind < 0.5:
        return chance.choice(NO_TARGETS)
    if kind < 0.6:
        return chance.choice(PEOPLE_ASKED)
    name = chance.choice((*called(roster), *(role["handle"] for role in roster.values())))
    at = f"@{name.lstrip('@')}"
    return chance.choice((name, name, name.upper(), f" {name.title()} ", f"agent/{name}", at))


@dataclass(frozen=True, slots=True)
class Case:
    """A configuration and questions to it."""

    answerers: Map
    roles: Map
    questions: tuple[Question, ...]

    @property
    def texts(self) -> dict[str, str]:
        """The files of the configuration."""
        documents = {"answerers.yaml": self.answerers, "agents.yaml": {"roles": self.roles}}
        return {
            name: yaml.safe_dump(document, sort_keys=False) for name, document in documents.items()
        }

    def expected(self) -> list[Map]:
        """What the reference says."""
        return [
            route(self.answerers, self.roles, topic, target) for topic, target in self.questions
        ]


def case(chance: random.Random) -> Case:
    roster = roles(chance)
    asked = tuple((topic(chance), target(chance, roster)) for _ in range(QUESTIONS))
    return Case(answerers(chance, roster), roster, asked)
