"""Server ← organisation ← repository."""

from __future__ import annotations

import pytest

from app.config.document import Unreadable
from app.config.layers import merge, parse_layer
from app.config.loader import Config, build_config
from app.config.problems import ConfigInvalid
from app.questions.routing import Router

SERVER = build_config(
    {
        "answerers.yaml": """
overrides: [{pattern: budget, answerer: human/cfo}]
routes:
  - {pattern: security.**, answerer: agent/architect, sla: 30m}
  - {pattern: ux.*, answerer: agent/product}
default: {answerer: human/requester, sla: 24h}
thresholds: {security.**: 90, api: 70}
""",
        "baron.yaml": "questions: {limit: 6}",
    }
)


def layered(organisation: str | None = None, repository: str | None = None) -> Config:
    return merge(
        SERVER,
        None if organisation is None else parse_layer(organisation, "org/baron.yml"),
        None if repository is None else parse_layer(repository, "repo/baron.yml"),
    )


def errors(repository: str) -> list[str]:
    with pytest.raises(ConfigInvalid) as caught:
        layered(repository=repository)
    return [str(error) for error in caught.value.errors]


def test_without_layers_nothing_changes() -> None:
    same = layered()
    assert (same.answerers, same.agents, same.baron) == (
        SERVER.answerers,
        SERVER.agents,
        SERVER.baron,
    )
    assert layered("", "").answerers == SERVER.answerers


def test_nearer_routes_first_and_inherited_overrides_first() -> None:
    config = layered(
        "answerers:\n  routes:\n    - {pattern: security.*, answerer: team/org}\n"
        "  overrides:\n    - {pattern: law, answerer: human/org}\n",
        "answerers:\n  routes:\n    - {pattern: security.tls, answerer: team/repo}\n"
        "  overrides:\n    - {pattern: '*', answerer: human/repo}\n",
    )
    assert [route.pattern for route in config.answerers.routes] == [
        "security.tls",
        "security.*",
        "security.**",
        "ux.*",
    ]
    assert [rule.answerer for rule in config.answerers.overrides] == [
        "human/cfo",
        "human/org",
        "human/repo",
    ]
    router = Router(config)
    topics = ["security.tls", "security.x", "security.x.y", "budget", "law", "other"]
    assert [router.route(topic).answerer for topic in topics] == [
        "team/repo",
        "team/org",
        "agent/architect",
        "human/cfo",
        "human/org",
        "human/repo",
    ]
    assert config.warnings == ()


def test_maps_merge_key_by_key() -> None:
    config = layered(
        "agents: {roles: {architect: {model: opus}}, capabilities: {planning: big}}",
        "answerers: {thresholds: {api: 99, new: 1}, default: {answerer: human/alice}}\n"
        "agents: {roles: {architect: {handle: dux}}, capabilities: {reviewing: small}}\n"
        "baron: {comments: none, questions: {limit: 3}}\n",
    )
    architect = config.agents.roles["architect"]
    assert (architect.handle, architect.model, architect.backend) == ("@dux", "opus", "auto")
    assert config.agents.roles["product"] == SERVER.agents.roles["product"]
    assert config.agents.capabilities == {"planning": "big", "reviewing": "small"}
    assert config.answerers.thresholds == {"api": 99, "new": 1, "security.**": 90}
    assert (config.answerers.default.answerer, config.answerers.default.sla) == (
        "human/alice",
        "24h",
    )
    assert (config.baron.comments, config.baron.questions.limit) == ("none", 3)


def test_a_repository_may_choose_among_the_backends() -> None:
    config = layered(repository="agents: {roles: {architect: {backend: llm, timeout: 90s}}}")
    assert config.agents.roles["architect"].backend == "llm"


def test_a_list_that_is_no_rules_is_replaced() -> None:
    config = layered(repository="agents: {roles: {architect: {aliases: [guard]}}}")
    assert config.agents.roles["architect"].aliases == ("guard",)


def test_every_word_keeps_its_origin() -> None:
    config = layered(
        repository="answerers:\n  routes:\n    - pattern: a\n      answerer: team/a\n"
        "  default:\n    answerer: human/b\n"
    )
    assert config.origins["answerers.routes[0].answerer"] == "repo/baron.yml:4"
    assert config.origins["answerers.routes[1].sla"] == "answerers.yaml:4"
    assert config.origins["answerers.default.answerer"] == "repo/baron.yml:6"
    assert config.origins["answerers.default.sla"] == "answerers.yaml:6"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("answerers:\n  channels: {x: y}", "2: answerers.channels: only the server"),
        ("agents:\n  apps: {}", "2: agents.apps: only the server"),
        (
            "agents:\n  roles:\n    product:\n      knowledge: /etc",
            "4: agents.roles.product.knowledge: only the server",
        ),
        (
            "agents: {roles: {product: {base_url: 'http://x'}}}",
            "1: agents.roles.product.base_url: only the server",
        ),
        (
            "agents: {roles: {product: {command: [sh]}}}",
            "1: agents.roles.product.command: only the server",
        ),
        (
            "agents: {roles: {product: {backend: command}}}",
            '1: agents.roles.product.backend: only the server may set "command"',
        ),
        (
            "agents: {roles: {product: {sandbox: none}}}",
            "1: agents.roles.product.sandbox: unknown key",
        ),
        ("baron: {questions: {limit: 7}}", "1: baron.questions.limit: may not be above 6"),
        (
            "agents: {roles: {product: {timeout: 3m}}}",
            "1: agents.roles.product.timeout: may not be above 2m, which it inherits",
        ),
        (
            "agents: {roles: {product: {capacity: 9}}}",
            "1: agents.roles.product.capacity: may not be above 5",
        ),
        (
            "agents: {roles: {mine: {handle: x, capacity: 6}}}",
            "1: agents.roles.mine.capacity: may not be above 5",
        ),
        (
            "agents: {roles: {product: {timeout: 1s}}}",
            "1: agents.roles.product.timeout: may not be under 10s",
        ),
        ("agents: {budget: {day: 60}}", "1: agents.budget.day: may not be above 50.0"),
        ("agents: {budget: {feature: null}}", "1: agents.budget.feature: may not be above 10.0"),
        ("agents: {budget: {day: much}}", "1: agents.budget.day: must be a number of US dollars"),
        (
            "agents: {prices: {x: {input: 0, output: 0}}}",
            "1: agents.prices: only the server's configuration may set this",
        ),
        (
            "agents: {roles: {product: {key: MY_KEY}}}",
            "1: agents.roles.product.key: only the server's configuration may set this",
        ),
        ("agents: {roles: {product: {timeout: x}}}", '1: agents.roles.product.timeout: "x" is not'),
        (
            "agents: {roles: {product: {timeout: [x]}}}",
            "1: agents.roles.product.timeout: must be text",
        ),
        ("agents: {roles: 5}", "1: agents.roles: must be a map"),
        (
            "answerers:\n  routes:\n    - {pattern: a, answerer: agent/ghost}",
            '3: answerers.routes[0].answerer: no role "ghost"',
        ),
        ("anwserers: {}", '1: anwserers: unknown section (did you mean "answerers"?)'),
        ("answerers: []", "1: answerers: must be a map"),
    ],
)
def test_what_a_repository_may_not_say(text: str, error: str) -> None:
    found = errors(text)
    assert len(found) == 1, found
    assert found[0].startswith(f"repo/baron.yml:{error}")


def test_limits_do_not_rise_again_behind_the_organisation() -> None:
    organisation = "baron: {questions: {limit: 3}}"
    assert layered(organisation, "baron: {questions: {limit: 2}}").baron.questions.limit == 2
    with pytest.raises(ConfigInvalid, match="may not be above 3"):
        layered(organisation, "baron: {questions: {limit: 4}}")


def test_sections_of_other_rooms_are_left_alone() -> None:
    assert layered(repository="knowledge: {x: 1}\nrouting:\nanswerers:\n").baron == SERVER.baron
    with pytest.raises(Unreadable):
        parse_layer("a: [", "repo/baron.yml")


def test_what_is_hidden_by_inheritance() -> None:
    """A nearer route may hide an inherited one; an override that hides a route is worth a word."""
    assert (
        layered(repository="answerers: {routes: [{pattern: '**', answerer: human/a}]}").warnings
        == ()
    )
    assert layered(repository="answerers: {thresholds: {'**': 85}}").warnings == ()
    hidden = layered(
        repository="answerers:\n  routes:\n    - {pattern: budget, answerer: human/a}\n"
    )
    assert [str(warning) for warning in hidden.warnings] == [
        'repo/baron.yml:3: answerers.routes[0].pattern: "budget" never matches:'
        " the same pattern stands at answerers.yaml:2"
    ]
