"""Routing against its contract: ten thousand questions, decided twice.

The second opinion is `tests.questions.routing_reference`. The questions come from a generator
with a seed: few names, so that matches, near misses and collisions are all frequent.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from app import cli
from app.config.layers import merge, parse_layer
from app.config.loader import build_config
from app.questions.model import Routed
from app.questions.routing import Router
from tests.questions import routing_reference as reference
from tests.questions.routing_reference import ALIASES, Case, Map, Question, called, case, rules

CONFIGURATIONS = 500
FIELDS = ("topic", "answerer", "agent", "rule", "threshold", "sla", "override", "note")


def as_map(routed: Routed) -> Map:
    return {field: getattr(routed, field) for field in FIELDS}


@cache
def decided() -> list[tuple[Case, list[Map]]]:
    """Five hundred configurations, read from YAML, and what the router says to each question."""
    chance = random.Random(20)
    cases = [case(chance) for _ in range(CONFIGURATIONS)]
    return [(one, routed(Router(build_config(one.texts)), one.questions)) for one in cases]


def routed(router: Router, questions: tuple[Question, ...]) -> list[Map]:
    return [as_map(router.route(topic, target)) for topic, target in questions]


def disagreements() -> int:
    return sum(
        said != meant
        for one, decisions in decided()
        for said, meant in zip(decisions, one.expected(), strict=True)
    )


def kinds(one: Case, question: Question, meant: Map) -> list[str]:
    """What a decision is an example of."""
    levels = reference.levels_of(question[0])
    usual = reference.threshold_for(one.answerers, levels)
    own = usual != meant["threshold"]
    placed_by_target = meant["rule"] in ("target", "default")
    return [
        *(by_target if placed_by_target else by_pattern)(one, question, meant),
        "own threshold" if own else "threshold 80" if usual == 80 else "threshold of the topic",
        *["no topic"] * (not levels),
        *["capitals"] * (question[0] != question[0].lower()),
        *["an agent"] * (meant["agent"] is not None),
        *["by alias"] * (meant["answerer"].removeprefix("agent/") in ALIASES),
    ]


def by_pattern(one: Case, question: Question, meant: Map) -> list[str]:
    parts, levels = meant["rule"].split("."), reference.levels_of(question[0])
    wildcard = "with **" if "**" in parts else "with *" if "*" in parts else "literal"
    nothing = ["** for no level"] * ("**" in parts and len(parts) > len(levels))
    return ["override" if meant["override"] else "route", wildcard, *nothing]


def by_target(one: Case, question: Question, meant: Map) -> list[str]:
    if meant["rule"] == "default":
        return [meant["note"]]
    name = (question[1] or "").strip().lower().removeprefix("agent/")
    if name in reference.PEOPLE:
        return ["target", "target by human"]
    return ["target", "target by name" if name in called(one.roles) else "target by handle"]


def test_the_router_decides_as_the_contract_says() -> None:
    assert sum(len(decisions) for _, decisions in decided()) == 10_000
    for one, decisions in decided():
        for question, said, meant in zip(one.questions, decisions, one.expected(), strict=True):
            assert said == meant, f"{question} with\n{yaml.safe_dump(one.texts)}"


def test_the_questions_cover_every_kind_of_decision() -> None:
    seen = Counter(
        kind
        for one, _ in decided()
        for question, meant in zip(one.questions, one.expected(), strict=True)
        for kind in kinds(one, question, meant)
    )
    wanted = """override, route, target, unknown topic, unknown target, with **, with *, literal,
        ** for no level, target by name, target by handle, target by human, own threshold,
        threshold 80, threshold of the topic, no topic, capitals, an agent, by alias"""
    rare = [kind for kind in map(str.strip, wanted.split(",")) if seen[kind] < 300]
    assert not rare, seen


# A reference that is subtly wrong must be found out; else the agreement above would mean little.


def any_needs_a_level(pattern: list[str], levels: list[str]) -> bool:
    if not pattern or not levels:
        return not pattern and not levels
    if pattern[0] == "**":
        return any(any_needs_a_level(pattern[1:], levels[n + 1 :]) for n in range(len(levels)))
    return pattern[0] in ("*", levels[0]) and any_needs_a_level(pattern[1:], levels[1:])


def one_takes_many(pattern: list[str], levels: list[str]) -> bool:
    if not pattern:
        return not levels
    if pattern[0] in ("*", "**"):
        least = len(pattern[0]) % 2  # `*` one, `**` none
        return any(one_takes_many(pattern[1:], levels[n:]) for n in range(least, len(levels) + 1))
    return levels[:1] == pattern[:1] and one_takes_many(pattern[1:], levels[1:])


def prefixes_match(pattern: list[str], levels: list[str]) -> bool:
    return any(MATCHES(pattern, levels[:n]) for n in range(len(levels) + 1))


def last_rule(rules: list[Map], levels: list[str]) -> Map | None:
    return FIRST_RULE(rules[::-1], levels)


def longest_rule(rules: list[Map], levels: list[str]) -> Map | None:
    return FIRST_RULE(sorted(rules, key=lambda rule: -len(rule["pattern"].split("."))), levels)


MATCHES, FIRST_RULE = reference.matches, reference.first_rule
WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "** needs a level": ("matches", any_needs_a_level),
    "* takes several levels": ("matches", one_takes_many),
    "a pattern matches what is below it": ("matches", prefixes_match),
    "the last rule wins": ("first_rule", last_rule),
    "the most specific rule wins": ("first_rule", longest_rule),
    "thresholds go before the rule's own": ("own_threshold", lambda rule, otherwise: otherwise),
    "0 is no threshold": ("own_threshold", lambda rule, usual: rule.get("threshold") or usual),
    "no target is known": ("meant", lambda target, roles: None),
    "no alias is known": ("role_named", lambda name, roles: roles.get(name)),
    "topics keep their case": ("levels_of", lambda topic: topic.strip().split(".")),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_subtly_wrong_reference_is_found_out(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert disagreements() == 0
    monkeypatch.setattr(reference, *WRONG[wrong])
    assert disagreements() > 20


@pytest.mark.parametrize("which", ["routes before overrides", "target before routes"])
def test_a_wrong_precedence_is_found_out(which: str) -> None:
    wrong = 0
    for one, decisions in decided():
        for (topic, target), said in zip(one.questions, decisions, strict=True):
            c, swapped = one.answerers, dict(one.answerers)
            if which == "routes before overrides":
                swapped |= {"routes": c.get("overrides", []), "overrides": c.get("routes", [])}
            elif reference.meant((target or "").strip().lower(), one.roles):
                swapped["routes"] = []
            other = reference.route(swapped, one.roles, topic, target)
            wrong += other["answerer"] != said["answerer"]
    assert wrong > 300


def test_nearer_routes_and_farther_overrides_go_first() -> None:
    chance = random.Random(21)
    for _ in range(100):
        one = case(chance)
        outer = {"version": "1", **one.answerers}
        inner = [
            {"overrides": rules(chance, one.roles, 2), "routes": rules(chance, one.roles, 2)}
            for _ in range(2)
        ]
        organisation, repository = (
            parse_layer(yaml.safe_dump({"answerers": layer}), "baron.yml") for layer in inner
        )
        config = merge(build_config(Case(outer, one.roles, ()).texts), organisation, repository)
        layers = [outer, *inner]
        whole = outer | {
            "overrides": [rule for layer in layers for rule in layer.get("overrides", [])],
            "routes": [rule for layer in layers[::-1] for rule in layer.get("routes", [])],
        }
        expected = Case(whole, one.roles, one.questions).expected()
        assert routed(Router(config), one.questions) == expected


@pytest.mark.parametrize("seed", [15, 43, 55])  # each has every kind of decision
def test_the_command_agrees(
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KR_CONFIG_DIR", str(tmp_path))
    one = case(random.Random(seed))
    for name, text in one.texts.items():
        (tmp_path / name).write_text(text)
    for (topic, target), meant in zip(one.questions, one.expected(), strict=True):
        words = ["route", topic, "--json"] + ([] if target is None else ["--target", target])
        assert cli.main(words) == 0
        assert json.loads(capsys.readouterr().out) == meant


# The sample file and the examples of specs/2.

SAMPLE = """
version: "1"
default: {answerer: human/requester, sla: 24h}
routes:
  - {pattern: knowledge.*, answerer: tool/web-search, sla: 5m}
  - {pattern: requirements.*, answerer: human/requester, sla: 24h, escalate_to: team/product}
  - pattern: security.*
    answerer: agent/security-reviewer
    capability: reviewing
    sla: 30m
    escalate_to: team/security
    notify: slack://security-alerts
  - pattern: architecture.*
    answerer: agent/architect
    capability: planning
    sla: 1h
    escalate_to: [{answerer: team/architecture, sla: 4h}, {answerer: human/tech-lead, sla: 24h}]
  - pattern: api.semstreams.*
    answerer: team/semstreams
    sla: 4h
    notify: slack://semstreams-team
    escalate_to: human/tech-lead
"""
FORGOTTEN = "  - {pattern: api.semstreams, answerer: team/semstreams, sla: 4h}\n"
"""`/ask api.semstreams` is to reach the team; the sample's own pattern wants one level more."""
DEFAULT = ("human/requester", None, "default", "24h", "unknown topic")


@pytest.mark.parametrize(
    ("topic", "answerer", "agent", "rule", "sla", "note"),
    [
        ("api.semstreams", "team/semstreams", None, "api.semstreams", "4h", None),
        ("api.semstreams.loop", "team/semstreams", None, "api.semstreams.*", "4h", None),
        ("api.semstreams.model", "team/semstreams", None, "api.semstreams.*", "4h", None),
        ("architecture.auth", "agent/architect", "@duc", "architecture.*", "1h", None),
        ("architecture.db", "agent/architect", "@duc", "architecture.*", "1h", None),
        ("requirements.scope", "human/requester", None, "requirements.*", "24h", None),
        ("security.xss", "agent/security-reviewer", "@duc", "security.*", "30m", None),
        ("knowledge.http", "tool/web-search", None, "knowledge.*", "5m", None),
        ("api.auth", *DEFAULT),
        ("api.semstreams.loop.info", *DEFAULT),
        ("architecture.auth.refresh", *DEFAULT),
        ("architecture", *DEFAULT),
    ],
)
def test_the_sample_of_the_specification(
    topic: str, answerer: str, agent: str | None, rule: str, sla: str, note: str | None
) -> None:
    text = SAMPLE + FORGOTTEN
    said = as_map(Router(build_config({"answerers.yaml": text})).route(topic))
    wanted = (topic, answerer, agent, rule, 80, sla, False, note)
    assert said == dict(zip(FIELDS, wanted, strict=True))
    duc = {"architect": {"handle": "@duc", "aliases": ["security-reviewer"]}}
    assert said == reference.route(yaml.safe_load(text), duc, topic)


def test_the_sample_as_it_stands() -> None:
    router = Router(build_config({"answerers.yaml": SAMPLE}))
    assert router.route("api.semstreams").rule == "default"
    asked = router.route("architecture.auth")
    assert (asked.capability, asked.sla) == ("planning", "1h")
    assert asked.escalate_to == (("team/architecture", "4h"), ("human/tech-lead", "24h"))
    assert router.route("security.xss").notify == "slack://security-alerts"


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("api.*", "api.auth api.users", "api apis.auth api.users.list"),
        ("api.semstreams.*", "api.semstreams.loop api.semstreams.model", "api.semstreams"),
        ("architecture.**", "architecture.db architecture.auth.refresh architecture", "db"),
        ("*", "api requirements", "api.auth"),
        ("**", "api api.auth architecture.auth.refresh", ""),
    ],
)
def test_the_table_of_patterns(pattern: str, matching: str, others: str) -> None:
    answerers = {"routes": [{"pattern": pattern, "answerer": "human/mara"}]}
    router = Router(build_config({"answerers.yaml": yaml.safe_dump(answerers)}))
    for topic in (matching + " " + others).split():
        rule = pattern if topic in matching.split() else "default"
        assert router.route(topic).rule == reference.route(answerers, {}, topic)["rule"] == rule
