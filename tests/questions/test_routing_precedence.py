"""Who answers: the shipped configuration as specified, precedence, and a naive second router."""

from __future__ import annotations

import dataclasses
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.loader import Config, build_config, load_config
from app.config.models import Agents, Answerers, Baron
from app.questions.model import Routed
from app.questions.routing import Router

SHIPPED = Path(__file__).parents[2] / "configs"

ROSTER = {
    "architect": {"handle": "@duc", "aliases": ["security-reviewer"], "fallback": "product"},
    "product": {"handle": "@Veuve"},
}


def config(**answerers: Any) -> Config:
    return Config(
        Answerers.model_validate(answerers), Agents.model_validate({"roles": ROSTER}), Baron()
    )


def brief(routed: Routed) -> tuple[str, str, int, str | None]:
    return routed.answerer, routed.rule, routed.threshold, routed.note


@pytest.fixture(scope="module")
def shipped() -> Router:
    return Router(load_config(SHIPPED))


@pytest.mark.parametrize(
    ("topic", "target", "answerer", "agent", "rule", "threshold"),
    [
        ("authentication", None, "agent/architect", "@duc", "authentication.**", 80),
        ("authentication.methods", "architect", "agent/architect", "@duc", "authentication.**", 80),
        ("feature-scope", "product", "agent/product", "@veuve", "target", 80),
        ("scope", "product", "agent/product", "@veuve", "scope.**", 80),
        ("budget", "architect", "human/requester", None, "budget.**", 80),
        ("budget.cloud", "@duc", "human/requester", None, "budget.**", 80),
        ("security.tokens", None, "agent/security-reviewer", "@duc", "security.**", 90),
        ("security", None, "agent/security-reviewer", "@duc", "security.**", 90),
        ("compliance", None, "agent/architect", "@duc", "compliance.**", 95),
        ("compliance.gdpr", None, "agent/architect", "@duc", "compliance.**", 95),
        ("compliance.legal.terms", None, "human/requester", None, "compliance.legal.**", 95),
        ("architecture.auth", None, "agent/architect", "@duc", "architecture.**", 80),
        ("api.semstreams", None, "agent/architect", "@duc", "api.**", 80),
        ("data.retention", None, "agent/architect", "@duc", "data.**", 80),
        ("integration.erp", None, "agent/architect", "@duc", "integration.**", 80),
        ("operations.alerts", None, "agent/architect", "@duc", "operations.**", 80),
        ("quality.load", None, "agent/architect", "@duc", "quality.**", 80),
        ("product.users", None, "agent/product", "@veuve", "product.**", 80),
        ("ux.empty-state", None, "agent/product", "@veuve", "ux.**", 80),
        ("requirements.scope", None, "human/requester", None, "requirements.**", 80),
        ("knowledge.postgres", "architect", "agent/architect", "@duc", "target", 80),
        ("knowledge.postgres", None, "human/requester", None, "default", 80),
    ],
)
def test_the_shipped_configuration(
    shipped: Router,
    topic: str,
    target: str | None,
    answerer: str,
    agent: str | None,
    rule: str,
    threshold: int,
) -> None:
    routed = shipped.route(topic, target)
    assert (routed.topic, routed.answerer, routed.agent) == (topic, answerer, agent)
    assert (routed.rule, routed.threshold) == (rule, threshold)
    assert routed.override is topic.startswith("budget")
    assert routed.note == ("unknown topic" if rule == "default" else None)


@pytest.mark.parametrize("text", ["", "   ", "a..b", "what about money?", "größe", "x" * 500])
def test_a_topic_that_is_none_goes_to_the_default(shipped: Router, text: str) -> None:
    routed = shipped.route(text)
    assert brief(routed) == ("human/requester", "default", 80, "unknown topic")
    assert len(routed.topic) <= 200
    assert shipped.route(text, "architect").answerer == "agent/architect"


def test_a_topic_that_is_none_does_not_slip_past_a_rule_for_any_topic() -> None:
    router = Router(config(overrides=[{"pattern": "**", "answerer": "human/alice"}]))
    assert router.route("no topic!", "architect").answerer == "human/alice"


def test_topics_are_matched_in_lower_case(shipped: Router) -> None:
    assert shipped.route(" Security.Tokens ").topic == "security.tokens"
    assert shipped.route("BUDGET", "architect").override is True


@pytest.mark.parametrize(
    ("target", "answerer", "agent", "rule", "note"),
    [
        ("architect", "agent/architect", "@duc", "target", None),
        (" Architect ", "agent/architect", "@duc", "target", None),
        ("agent/architect", "agent/architect", "@duc", "target", None),
        ("security-reviewer", "agent/security-reviewer", "@duc", "target", None),
        ("@duc", "agent/architect", "@duc", "target", None),
        ("duc", "agent/architect", "@duc", "target", None),
        ("@veuve", "agent/product", "@Veuve", "target", None),
        ("human", "human/requester", None, "target", None),
        ("human/maintainer", "human/maintainer", None, "target", None),
        ("human/alice", "human/requester", None, "default", "unknown target"),
        ("team/security", "human/requester", None, "default", "unknown target"),
        ("@", "human/requester", None, "default", "unknown target"),
        ("nobody", "human/requester", None, "default", "unknown target"),
        ("", "human/requester", None, "default", "unknown topic"),
        ("  ", "human/requester", None, "default", "unknown topic"),
        (None, "human/requester", None, "default", "unknown topic"),
    ],
)
def test_what_a_target_means(
    target: str | None, answerer: str, agent: str | None, rule: str, note: str | None
) -> None:
    routed = Router(config()).route("somewhere", target)
    assert (routed.answerer, routed.agent, routed.rule, routed.note) == (
        answerer,
        agent,
        rule,
        note,
    )


def test_a_rule_is_handed_on_whole() -> None:
    rule = {
        "answerer": "agent/product",
        "capability": "planning",
        "sla": "1h",
        "escalate_to": [{"answerer": "team/ux", "sla": "4h"}, {"answerer": "human/lead"}],
        "notify": "slack://ux",
        "fallback": "agent/architect",
        "on_timeout": "use_answer_with_warning",
    }
    routed = Router(config(routes=[{"pattern": "ux.*", "threshold": 0, **rule}])).route("ux.menu")
    assert routed == Routed(
        topic="ux.menu",
        answerer="agent/product",
        agent="@Veuve",
        rule="ux.*",
        threshold=0,
        sla="1h",
        fallback="architect",
        escalate_to=(("team/ux", "4h"), ("human/lead", None)),
        capability="planning",
        notify="slack://ux",
        on_timeout="use_answer_with_warning",
    )
    by_default = Router(config(default=rule)).route("x")
    assert dataclasses.replace(
        by_default, topic="ux.menu", rule="ux.*", threshold=0, note=None
    ) == (routed)


def test_a_role_brings_its_fallback() -> None:
    router = Router(config(routes=[{"pattern": "a", "answerer": "agent/security-reviewer"}]))
    assert router.route("a").fallback == "product"
    assert router.route("b", "architect").fallback == "product"
    assert router.route("b", "human").fallback is None


def test_a_single_escalation_is_a_chain_of_one() -> None:
    route = {"pattern": "a", "answerer": "team/x", "escalate_to": "human/lead"}
    assert Router(config(routes=[route])).route("a").escalate_to == (("human/lead", None),)


def test_thresholds_come_from_the_rule_then_from_the_first_pattern_then_80() -> None:
    router = Router(
        config(
            overrides=[{"pattern": "o.*", "answerer": "human/alice", "threshold": 70}],
            routes=[
                {"pattern": "r.own", "answerer": "agent/product", "threshold": 100},
                {"pattern": "r.*", "answerer": "agent/product"},
            ],
            thresholds={"*.x": 91, "r.*": 92, "t": 93, "o.*": 94},
        )
    )
    found = [router.route(t).threshold for t in ("o.a", "r.own", "r.x", "r.y", "t", "u", "u.x")]
    assert found == [70, 100, 91, 92, 93, 80, 91]


def test_an_answerer_that_the_roster_lacks_has_no_handle() -> None:
    router = Router(config(routes=[{"pattern": "a", "answerer": "agent/ghost"}]))
    assert router.route("a").agent is None


# The same decision once more, written to be read rather than to be quick.


def _matches(pattern: list[str], topic: list[str]) -> bool:
    if not pattern or not topic:
        return all(level == "**" for level in pattern) and not topic
    if pattern[0] == "**":
        return _matches(pattern[1:], topic) or _matches(pattern, topic[1:])
    return pattern[0] in ("*", topic[0]) and _matches(pattern[1:], topic[1:])


def reference(
    c: dict[str, Any], topic: str, target: str | None
) -> tuple[str, str, int, str | None]:
    levels = topic.lower().split(".") if "!" not in topic else []

    def first(patterns: list[str]) -> int | None:
        hits = [n for n, p in enumerate(patterns) if _matches(p.split("."), levels)]
        return hits[0] if hits else None

    number = first(list(c["thresholds"]))
    usual = 80 if number is None else list(c["thresholds"].values())[number]
    for kind in ("overrides", "routes"):
        number = first([rule["pattern"] for rule in c[kind]])
        if number is not None:
            rule = c[kind][number]
            own = rule.get("threshold")
            return rule["answerer"], rule["pattern"], usual if own is None else own, None
    known = {
        "architect": "agent/architect",
        "@duc": "agent/architect",
        "@veuve": "agent/product",
        "human": "human/requester",
    }
    if target in known:
        return known[target], "target", usual, None
    return "human/maintainer", "default", usual, "unknown target" if target else "unknown topic"


LEVEL = st.sampled_from(["a", "b", "c"])
PATTERN = st.lists(st.one_of(LEVEL, st.sampled_from(["*", "**"])), min_size=1, max_size=4).map(
    ".".join
)
THRESHOLD = st.integers(0, 100)
RULE = st.fixed_dictionaries(
    {
        "pattern": PATTERN,
        "answerer": st.sampled_from(["agent/architect", "agent/product", "team/x", "human/alice"]),
    },
    optional={"threshold": THRESHOLD},
)
ANSWERERS = st.fixed_dictionaries(
    {
        "overrides": st.lists(RULE, max_size=2),
        "routes": st.lists(RULE, max_size=5),
        "thresholds": st.dictionaries(PATTERN, THRESHOLD, max_size=3),
    }
)
TOPIC = st.one_of(
    st.lists(st.sampled_from(["a", "b", "C"]), min_size=1, max_size=4).map(".".join), st.just("a!")
)
TARGET = st.sampled_from([None, "", "architect", "@duc", "@veuve", "human", "nobody"])
QUESTIONS = st.lists(st.tuples(TOPIC, TARGET), min_size=20, max_size=20)


@settings(max_examples=500, deadline=None)  # of twenty questions each
@given(ANSWERERS, QUESTIONS)
def test_the_router_agrees_with_the_naive_one(
    answerers: dict[str, Any], questions: list[tuple[str, str | None]]
) -> None:
    router = Router(config(**answerers, default={"answerer": "human/maintainer"}))
    for topic, target in questions:
        assert brief(router.route(topic, target)) == reference(answerers, topic, target)


def test_a_hostile_number_of_wildcards_stays_cheap() -> None:
    generator = random.Random(1)
    patterns = {".".join(generator.choices(["*", "**"], k=16)) + "" for _ in range(1000)}
    routes = [{"pattern": f"{p[: p.rindex('.')]}.z", "answerer": "human/a"} for p in patterns]
    router = Router(config(routes=routes))
    start = time.process_time()
    router.route(".".join("a" * 100))
    assert time.process_time() - start < 60  # it ends; how quickly is measured elsewhere


def test_it_can_be_built_from_texts() -> None:
    text = "routes: [{pattern: a, answerer: agent/architect}]"
    assert Router(build_config({"answerers.yaml": text})).route("a").agent == "@duc"
