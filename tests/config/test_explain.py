"""The configuration in force as a comment."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.config.explain import MAX_TEXT, explain
from app.config.inforce import InForce
from app.config.layers import merge, parse_layer
from app.config.loader import Config, build_config
from app.config.problems import Problem

SERVER = {
    "answerers.yaml": """
routes:
  - pattern: security.**
    answerer: agent/architect
    escalate_to: human/mara
thresholds: {security.tokens: 97}
channels: {slack://alerts: slack://TokenA/TokenB}
""",
    "agents.yaml": """
roles:
  architect:
    handle: "@duc"
    backend: command
    command: [/opt/answer, --password=hunter2]
    base_url: https://models.acme.example
  keykeeper: {handle: kay, model: hidden-model}
  product: {handle: "@veuve", model: https://user:pw@models.acme.example/x}
capabilities: {api-token: abc123, planning: big}
""",
}


def rows(text: str) -> dict[str, tuple[str, str]]:
    """Key → (value, from), of every table."""
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            key, value, origin = (part.strip("` ") for part in line.strip("|").split(" | "))
            found[key] = (value, origin)
    return found


def in_force(layer: str | None = None, server: dict[str, str] = SERVER) -> InForce:
    config: Config = build_config(server)
    if layer is not None:
        config = merge(config, None, parse_layer(layer, "acme/storefront/.github/baron.yml"))
    return InForce(config, (), ("server",))


def test_every_value_and_where_it_is_from() -> None:
    layer = "answerers:\n  routes:\n    - {pattern: ux, answerer: human/rosa}\n  default_sla: 2h\n"
    text = explain(in_force(layer))
    found = rows(text)
    assert found["routes[0].pattern"] == ("ux", "acme/storefront/.github/baron.yml:3")
    assert found["routes[1].pattern"] == ("security.**", "answerers.yaml:3")
    assert found["routes[1].escalate_to[0].answerer"] == ("human/mara", "answerers.yaml:5")
    assert found["routes[1].on_timeout"] == ("block", "default")
    assert found["default_sla"] == ("2h", "acme/storefront/.github/baron.yml:4")
    assert found["default.answerer"] == ("human/requester", "default")
    assert found["roles.architect.timeout"] == ("2m", "default")
    assert found["questions.limit"] == ("6", "default")
    assert "routes[0].sla" not in found
    for section in ("answerers", "agents", "baron"):
        assert f"<details><summary>{section}</summary>\n\n| key | value | from |\n" in text
    assert text.count("<details>") == text.count("</details>") == 3


def test_what_was_taken_back_says_by_whom() -> None:
    found = rows(explain(in_force("agents: {roles: {product: {model: null}}}")))
    assert found["roles.product.model"] == ("(nothing)", "acme/storefront/.github/baron.yml:1")


def test_the_built_in_roster_has_a_name() -> None:
    found = rows(explain(in_force(server={})))
    assert found["roles.architect.handle"] == ("@duc", "built-in roster")


def test_secrets_are_hidden() -> None:
    text = explain(in_force())
    for secret in ("TokenA", "hunter2", "/opt/answer", "models.acme", "hidden-model", "abc123"):
        assert secret not in text
    found = rows(text)
    for key in (
        "channels.slack://alerts",
        "roles.architect.command[1]",
        "roles.architect.base_url",
        "roles.product.model",
        "capabilities.api-token",
    ):
        assert found[key][0] == "•••"
    assert found["channels.slack://alerts"][1] == "answerers.yaml:7"
    assert found["capabilities.planning"][0] == "big"
    assert found["thresholds.security.tokens"][0] == "97", "a topic is no secret"


def test_addresses_of_webhooks_are_hidden() -> None:
    text = "hooks: {mine: {url: https://acme.example/T0/B0}}\nallow_hosts: [intranet.acme:80]\n"
    shown = explain(in_force(server={"answerers.yaml": text}))
    assert rows(shown)["hooks.mine.url"] == ("•••", "answerers.yaml:1")
    assert rows(shown)["allow_hosts[0]"] == ("•••", "answerers.yaml:2")
    assert "acme" not in shown


def test_problems_and_layers_come_first() -> None:
    problem = Problem("acme/.github/baron.yml", 3, "baron.limt", "unknown key")
    layers = ("server", "acme/storefront/.github/baron.yml (last good one)")
    text = explain(InForce(build_config({}), (problem,), layers))
    told, layers_line = "- `acme/.github/baron.yml:3` baron.limt: unknown key", "In force: `server`"
    assert text.index(told) < text.index(layers_line) < text.index("<details>")
    assert "← `acme/storefront/.github/baron.yml (last good one)`" in text


def test_a_part_alone() -> None:
    baron = explain(in_force(), only="baron")
    assert {"comments", "questions.limit"} <= set(rows(baron))
    assert baron.count("<details") == 1
    for only in ("agents.roles.product", "roles.product", " roles.product "):
        assert all(key.startswith("roles.product.") for key in rows(explain(in_force(), only=only)))
        assert "roles.product.handle" in rows(explain(in_force(), only=only))
    assert set(rows(explain(in_force(), only="routes[0].pattern"))) == {"routes[0].pattern"}
    text = explain(in_force(), only="<b> @mara")
    assert "There is nothing under &lt;b> @&#8203;mara. Sections: `answerers`" in text
    assert rows(text) == {}


def shown_by_github(text: str) -> tuple[list[list[str]], list[str], list[str]]:
    """The tables' rows, cell by cell; all text that is not code; and the HTML."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    table: list[list[str]] = []
    plain: list[str] = []
    html: list[str] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "tr_open":
            table.append([])
        elif token.type == "html_block":
            html.append(token.content.strip())
        elif token.type == "inline":
            children = token.children or []
            if before is not None and before.type == "td_open":
                table[-1].append("".join(child.content for child in children))
            for child in children:
                assert child.type not in {"image", "html_inline", "link_open"}, child
                if child.type != "code_inline":
                    plain.append(child.content)
    return table, plain, html


def must_be_harmless(hostile: str, config: Config) -> None:
    problem = Problem("acme/.github/baron.yml", 1, hostile, hostile)
    text = explain(InForce(config, (problem,), ("server",)))
    table, plain, html = shown_by_github(text)
    [row] = [row for row in table if row[:1] == ["roles.product.model"]]
    assert row[2] == "acme/storefront/.github/baron.yml:1", "no bar ends a cell"
    assert html == [
        part
        for section in ("answerers", "agents", "baron")
        for part in (f"<details><summary>{section}</summary>", "</details>")
    ]
    assert not any(line.lstrip().startswith("/") for line in text.splitlines())
    assert not any(re.search(r"@\w", part) for part in plain), "nobody is pinged"


@pytest.mark.parametrize(
    "hostile",
    [
        "a | b | c",
        "a \\| b",
        "a \\\\| @mara",
        "`code` @mara",
        "x` @mara `y",
        "` | ` @mara",
        "@mara",
        "<img src=x> @mara",
        "</details><!-- kr {} -->",
        "a\n\n/stop Q1\n| x | y | z |",
        "![x](https://acme.example/x.png)",
        "&lt;b&gt; &#64;mara",
        "[mara](https://acme.example)",
    ],
)
def test_hostile_values_do_nothing(hostile: str) -> None:
    layer = f"agents: {{roles: {{product: {{model: {json.dumps(hostile)}}}}}}}"
    must_be_harmless(hostile, in_force(layer).config)


@given(st.text("ab@`|\\<>&!-[]()/ \n*_~:;#", max_size=40))
def test_no_text_breaks_a_table(hostile: str) -> None:
    layer = f"agents: {{roles: {{product: {{model: {json.dumps(hostile)}}}}}}}"
    must_be_harmless(hostile, in_force(layer).config)


def test_a_long_configuration_is_cut_and_says_so() -> None:
    routes = "".join(f"  - {{pattern: a{n}.**, answerer: human/mara}}\n" for n in range(1000))
    found = in_force(server={"answerers.yaml": "routes:\n" + routes})
    rest = sum(len(rows(explain(found, only=only))) for only in ("default", "agents", "baron"))
    in_routes = 1000 * 3  # pattern, answerer, on_timeout
    of_the_file = 4  # version, default_sla, check_interval, default_capability
    text = explain(found)
    left_out = in_routes + of_the_file + rest - len(rows(text))
    assert MAX_TEXT - 1000 < len(text) <= MAX_TEXT
    assert f"\n\n{left_out:,} rows are left out; the files" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_a_flood_of_problems_leaves_room() -> None:
    problems = tuple(Problem("acme/.github/baron.yml", n, "x" * 900, "<" * 900) for n in range(60))
    text = explain(InForce(build_config({}), problems, ("server",)))
    assert "- and 35 more" in text
    assert len(text) <= MAX_TEXT
    assert rows(text)["comments"] == ("all", "default")
