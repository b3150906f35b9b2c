"""What a configuration may say, and what is said about one that it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.config.loader import Config, build_config, load_config
from app.config.models import Agents, Rule
from app.config.problems import ConfigInvalid, Problem, suggestion
from app.config.roster import ROSTER

SHIPPED = Path(__file__).parents[2] / "configs"


def found(answerers: str = "", agents: str | None = None, baron: str = "") -> list[str]:
    """The errors in these texts, as they are printed."""
    texts = {"answerers.yaml": answerers, "baron.yaml": baron}
    if agents is not None:
        texts["agents.yaml"] = agents
    with pytest.raises(ConfigInvalid) as caught:
        build_config(texts)
    errors = [str(error) for error in caught.value.errors]
    assert str(caught.value) == "\n".join(errors)
    return errors


def warned(answerers: str) -> list[str]:
    return [str(warning) for warning in build_config({"answerers.yaml": answerers}).warnings]


def test_without_files_the_defaults_are_in_force() -> None:
    config = build_config({})
    assert config.answerers.default == Rule(answerer="human/requester", sla="24h")
    assert (config.answerers.default_sla, config.answerers.check_interval) == ("24h", "1m")
    assert config.answerers.default_capability == "reviewing"
    assert (config.baron.comments, config.baron.questions.limit) == ("all", 6)
    assert config.agents == Agents.model_validate(ROSTER)
    assert config.warnings == ()


def test_the_shipped_files_are_valid_and_say_what_the_defaults_say() -> None:
    config = load_config(SHIPPED)
    assert config.warnings == ()
    assert config.agents == build_config({}).agents
    assert config.baron == build_config({}).baron
    assert config.agents.handles() == {
        "project-manager": "@baron",
        "architect": "@duc",
        "product": "@veuve",
        "qa": "@marie",
        "developer": "@dede",
        "devops": "@gustave",
        "reviewer": "@degaulle",
        "security-reviewer": "@duc",
    }


def test_the_example_of_the_specification_is_valid() -> None:
    text = """
version: "1"
routes:
  - {pattern: "api.semstreams.*", answerer: team/semstreams, sla: 4h,
     notify: slack://semstreams-team, escalate_to: human/tech-lead}
  - {pattern: "architecture.*", answerer: agent/architect, capability: planning, sla: 1h,
     escalate_to: team/architecture}
  - {pattern: "security.*", answerer: agent/security-reviewer, capability: reviewing, sla: 30m,
     escalate_to: team/security, notify: slack://security-alerts}
  - {pattern: "requirements.*", answerer: human/requester, sla: 24h, escalate_to: team/product}
  - {pattern: "knowledge.*", answerer: tool/web-search, sla: 5m}
default: {answerer: human/requester, sla: 24h}
"""
    assert warned(text) == [
        "answerers.yaml:5: routes[0].notify: nobody is told: the server maps no channel"
        ' "slack://semstreams-team"',
        "answerers.yaml:9: routes[2].notify: nobody is told: the server maps no channel"
        ' "slack://security-alerts"',
    ]


ROUTE = "routes:\n  - pattern: a.*\n    answerer: agent/architect\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('version: "2"', '1: version: must be "1", in quotes'),
        ("version: 1", '1: version: must be "1", in quotes'),
        ("version: '1'\nrotues: []", '2: rotues: unknown key (did you mean "routes"?)'),
        ("zzz: 1", "1: zzz: unknown key (known: allow_hosts, calendars, channels,"),
        (ROUTE + "    patern: x", '4: routes[0].patern: unknown key (did you mean "pattern"?)'),
        (ROUTE + "    sla: banana", '4: routes[0].sla: "banana" is not a duration'),
        (ROUTE + "    sla: 30", "4: routes[0].sla: 30 needs a unit: 30s, 30m, 30h or 30d"),
        (ROUTE + "    sla: true", "4: routes[0].sla: must be text"),
        (ROUTE + "    sla: [1h]", "4: routes[0].sla: must be text"),
        (ROUTE + "    threshold: 101", "4: routes[0].threshold: must be a whole number from 0 to"),
        (ROUTE + "    threshold: 90.0", "4: routes[0].threshold: must be a whole number"),
        (ROUTE + "    threshold: yes", "4: routes[0].threshold: must be a whole number"),
        (ROUTE + "    threshold: '90'", "4: routes[0].threshold: must be a whole number"),
        (ROUTE + "    on_timeout: wait", "4: routes[0].on_timeout: must be 'block' or 'use_answer"),
        (ROUTE + "    notify: alerts", '4: routes[0].notify: "alerts" is not a channel'),
        (ROUTE + "    capability: Big Thoughts", "4: routes[0].capability:"),
        (ROUTE + "    fallback: nobody", '4: routes[0].fallback: no role "nobody" in the roster'),
        (ROUTE + "    fallback: architect", '4: routes[0].fallback: "architect" cannot stand in'),
        (ROUTE + "    escalate_to: bob", '4: routes[0].escalate_to: "bob" is not an answerer'),
        (ROUTE + "    escalate_to: agent/bob", '4: routes[0].escalate_to: no role "bob"'),
        (ROUTE + "    escalate_to: 5", "4: routes[0].escalate_to: must be a list"),
        (
            ROUTE + "    escalate_to:\n      - {answerer: human/a}\n      - {answerer: agent/b}",
            '6: routes[0].escalate_to[1].answerer: no role "b"',
        ),
        (
            ROUTE + "    escalate_to:\n      - {answerer: human/a, slaa: 1h}",
            '5: routes[0].escalate_to[0].slaa: unknown key (did you mean "sla"?)',
        ),
        ("routes:\n  - pattern: a", "2: routes[0].answerer: is missing"),
        ("routes:\n  - answerer: human/a", "2: routes[0].pattern: is missing"),
        ("routes: {a: b}", "1: routes: must be a list"),
        ("routes:\n  - text", "2: routes[0]: must be a map"),
        ("routes: [{pattern: A.b, answerer: human/a}]", "1: routes[0].pattern: topics are lower"),
        ("routes: [{pattern: a*, answerer: human/a}]", '1: routes[0].pattern: "a*": a wildcard'),
        ("routes: [{pattern: a, answerer: architect}]", '1: routes[0].answerer: "architect" is no'),
        ("routes: [{pattern: a, answerer: bot/x}]", '1: routes[0].answerer: "bot/x" is not an'),
        ("routes: [{pattern: a, answerer: agent/X}]", '1: routes[0].answerer: "X" is not a name'),
        (
            "overrides:\n  - pattern: a\n    answerer: agent/architct",
            '3: overrides[0].answerer: no role "architct" in the roster (did you mean "archi',
        ),
        ("default: {answerer: agent/ghost}", '1: default.answerer: no role "ghost"'),
        ("default: {answerer: human/a, threshold: 90}", "1: default.threshold: unknown key"),
        ("default: human/a", "1: default: must be a map"),
        ("thresholds:\n  a: 90\n  b.**: 200", "3: thresholds.b.**: must be a whole number"),
        ("thresholds:\n  B: 90", '2: thresholds.B: topics are lower case: write "b"'),
        ("thresholds: 90", "1: thresholds: must be a map"),
        ("default_sla: soon", '1: default_sla: "soon" is not a duration'),
        ("a: 1\na: 2", "2: a: stands twice"),
        ("a: [", "1: is not valid YAML"),
    ],
)
def test_errors_in_answerers(text: str, error: str) -> None:
    errors = found(text)
    assert len(errors) == 1, errors
    assert errors[0].startswith(f"answerers.yaml:{error}")


ROLES = 'roles:\n  duc:\n    handle: "@duc"\n'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (ROLES + "    kind: boss", "4: roles.duc.kind: must be 'driver', 'knowledge' or 'exec"),
        (ROLES + "    backend: magic", "4: roles.duc.backend: must be 'auto', 'retrieval'"),
        (ROLES + "    timeout: 2", "4: roles.duc.timeout: 2 needs a unit"),
        (ROLES + "    capacity: 0", "4: roles.duc.capacity: must be 1 or more"),
        (ROLES + "    capacity: 101", "4: roles.duc.capacity: must be 100 or less"),
        (ROLES + "    capacity: many", "4: roles.duc.capacity: must be a whole number"),
        (ROLES + "    tools: []", "4: roles.duc.tools: unknown key (known: aliases, backend"),
        (ROLES + "    modell: x", '4: roles.duc.modell: unknown key (did you mean "model"?)'),
        (ROLES + "    fallback: ghost", '4: roles.duc.fallback: no role "ghost"'),
        (ROLES + "    fallback: duc", "4: roles.duc.fallback: goes round in a circle: duc → duc"),
        (ROLES + "    aliases: [duc]", '4: roles.duc.aliases[0]: "duc" is already a name of the'),
        (ROLES + "  b: {handle: b, aliases: [duc]}", '4: roles.b.aliases[0]: "duc" is already'),
        (ROLES + "apps: {x: {roles: [duc, ghost]}}", '4: apps.x.roles[1]: no role "ghost"'),
        ("roles: {Duc: {handle: x}}", '1: roles.Duc: "Duc" is not a name'),
        ("roles:\n  duc: {kind: driver}", "2: roles.duc.handle: is missing"),
        ("roles:\n  duc: {handle: 'a b'}", '2: roles.duc.handle: "@a b" is not a handle'),
        ("roles:\n  duc: {handle: @duc}", "2: is not valid YAML: found character"),
        ("roles: []", "1: roles: must be a map"),
    ],
)
def test_errors_in_agents(text: str, error: str) -> None:
    errors = found(agents=text)
    assert len(errors) == 1, errors
    assert errors[0].startswith(f"agents.yaml:{error}")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("comments: loud", "1: comments: must be 'all', 'outcomes' or 'none'"),
        ("comments: true", "1: comments: must be 'all'"),
        ("questions: {limit: 0}", "1: questions.limit: must be 1 or more"),
        ("questions: {limti: 5}", '1: questions.limti: unknown key (did you mean "limit"?)'),
        ("questions: 5", "1: questions: must be a map"),
    ],
)
def test_errors_in_baron(text: str, error: str) -> None:
    errors = found(baron=text)
    assert len(errors) == 1, errors
    assert errors[0].startswith(f"baron.yaml:{error}")


def test_a_circle_of_fallbacks_is_told_once() -> None:
    agents = """roles:
  a: {handle: a, fallback: b}
  b: {handle: b, fallback: see, aliases: [bee]}
  c: {handle: c, fallback: agent/bee, aliases: [see]}
  d: {handle: d, fallback: a}
"""
    assert found(agents=agents) == [
        "agents.yaml:3: roles.b.fallback: goes round in a circle: b → c → b"
    ]


def test_all_errors_of_all_files_are_told_together() -> None:
    assert found("version: 2\nx: 1", "roles: []", "comments: x") == [
        "agents.yaml:1: roles: must be a map",
        'answerers.yaml:1: version: must be "1", in quotes: this program knows no other version',
        "answerers.yaml:2: x: unknown key (known: allow_hosts, calendars, channels, check_interval,"
        " default, default_capability, default_sla, hooks, overrides, people, routes, thresholds,"
        " version)",
        "baron.yaml:1: comments: must be 'all', 'outcomes' or 'none'",
    ]


def test_values_are_not_repeated_where_they_may_be_secret() -> None:
    errors = found("channels: {x: [hunter2]}")
    assert errors == ["answerers.yaml:1: channels.x: must be text"]


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (
            "routes:\n  - {pattern: a.**, answerer: human/a}\n"
            "  - {pattern: a.b, answerer: human/b}",
            [
                'answerers.yaml:3: routes[1].pattern: "a.b" never matches:'
                ' "a.**" covers it at answerers.yaml:2'
            ],
        ),
        (
            "routes:\n  - {pattern: a, answerer: human/a}\n  - {pattern: a, answerer: human/b}",
            [
                'answerers.yaml:3: routes[1].pattern: "a" never matches:'
                " the same pattern stands at answerers.yaml:2"
            ],
        ),
        (
            "routes:\n  - {pattern: a, answerer: human/a}\n"
            "overrides:\n  - {pattern: '*', answerer: human/b}",
            [
                'answerers.yaml:2: routes[0].pattern: "a" never matches:'
                ' "*" covers it at answerers.yaml:4'
            ],
        ),
        (
            "thresholds:\n  a.**: 1\n  a: 2",
            ['answerers.yaml:3: thresholds.a: never counts: "a.**" covers it at answerers.yaml:2'],
        ),
        ("routes: [{pattern: a, answerer: human/a}, {pattern: a.b, answerer: human/a}]", []),
        (
            "routes: [{pattern: a, answerer: team/a, notify: slack://x}]\n"
            "channels: {'slack://x': 'slack://A/B/C'}",
            [],
        ),
        (
            "routes: [{pattern: a, answerer: team/a, notify: slack://x}]\n"
            "channels: {x: 'mailto://a:b@c'}",
            [],
        ),
        (
            "default: {answerer: human/a, notify: slack://x}",
            [
                "answerers.yaml:1: default.notify: nobody is told:"
                ' the server maps no channel "slack://x"'
            ],
        ),
    ],
)
def test_warnings(text: str, warnings: list[str]) -> None:
    assert warned(text) == warnings


def test_the_origin_of_every_word() -> None:
    config = build_config({"answerers.yaml": "version: '1'\n\ndefault:\n  answerer: human/a\n"})
    assert config.origins["answerers.default.answerer"] == "answerers.yaml:4"
    assert config.origins["agents"] == "built-in roster"


def test_which_model_answers() -> None:
    agents = """roles:
  architect: {handle: duc, model: opus, aliases: [guard]}
  product: {handle: veuve}
capabilities: {planning: big, reviewing: small}
"""
    config = build_config({"agents.yaml": agents})
    asked = [("architect", "planning"), ("guard", None), ("product", "planning"), ("product", None)]
    assert [config.model_for(*pair) for pair in asked] == ["opus", "opus", "big", "small"]
    assert config.model_for("ghost", "unheard-of") == "small"
    assert build_config({}).model_for("architect", "planning") is None


def test_suggestions() -> None:
    assert suggestion("ROUTES", ["routes", "default"]) == ' (did you mean "routes"?)'
    assert suggestion("zzz", []) == ""
    assert str(Problem("f", 3, "", "what")) == "f:3: what"


# Files


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_config(tmp_path / "nowhere")


def test_a_folder_with_nothing_of_ours(tmp_path: Path) -> None:
    config = load_config(tmp_path)
    assert isinstance(config, Config)
    assert [warning.what for warning in config.warnings] == [
        "is not here, nor is another of answerers.yaml, agents.yaml, baron.yaml:"
        " defaults are in force"
    ]


def test_a_file_with_the_wrong_ending_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "answerers.yml").write_text("routes: []")
    (tmp_path / "baron.yaml").write_text("comments: none")
    config = load_config(tmp_path)
    assert list(map(str, config.warnings)) == [
        "answerers.yml:1: is not read: its name must be answerers.yaml"
    ]
    assert config.baron.comments == "none"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_bytes(b"roles:\n  a: {handle: \xff}\n")
    (tmp_path / "answerers.yaml").write_text("routes: [{pattern: a, answerer: agent/a}]")
    with pytest.raises(ConfigInvalid) as caught:
        load_config(tmp_path)
    assert list(map(str, caught.value.errors)) == ["agents.yaml:2: is not UTF-8"]


def test_a_mark_at_the_beginning_is_no_content(tmp_path: Path) -> None:
    (tmp_path / "baron.yaml").write_bytes(b"\xef\xbb\xbfcomments: outcomes\n")
    assert load_config(tmp_path).baron.comments == "outcomes"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "baron.yaml").write_bytes(b"# " + "ö".encode() * 600_000)
    with pytest.raises(ConfigInvalid, match="larger than"):
        load_config(tmp_path)
