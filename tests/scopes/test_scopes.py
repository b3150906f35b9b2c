"""Whose a path is, and what an agent may not write."""

from __future__ import annotations

import pytest

from app.scopes import DEFAULT, Verdict, check, is_guarded, parse


def test_the_last_match_wins_and_an_empty_one_takes_away() -> None:
    scopes = parse("* @mara\n/apps/ @dede @mara\n/apps/github\n/apps/github/docs/ @rosa")
    assert scopes.owners("README.md") == Verdict("README.md", ("@mara",), 1)
    assert scopes.owners("apps/x") == Verdict("apps/x", ("@dede", "@mara"), 2)
    assert scopes.owners("apps/github/x") == Verdict("apps/github/x", (), 3)
    assert scopes.owners("apps/github/docs/x").owners == ("@rosa",)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "/",
            "/src/a",
            "src//a",
            "src/",
            "./src/a",
            "src/./a",
            "src/../k8s/a",
            "..",
            "src/..",
        ),
        *("src\\a", "src/..\\..\\k8s\\a", "src/a\0", "C:/src/a", "src/\udcff", "src/" + "a" * 4096),
        '"src/caf\\303\\251"',
    ],
)
def test_a_path_that_is_not_plain_is_nobodys(path: str) -> None:
    scopes = parse("* @dede\n** @dede")
    assert scopes.owners(path) == Verdict(path, (), None)
    assert check(scopes, "@dede", [path]) == (Verdict(path, (), None),)


@pytest.mark.parametrize("path", ["src/a b", "src/ü", "src/a\nb", "src/...", "src/.a", "src/ "])
def test_an_odd_but_plain_path_follows_the_rules(path: str) -> None:
    assert parse("/src/ @dede").owners(path).owners == ("@dede",)


def test_a_very_deep_path_is_no_trouble() -> None:
    assert parse("/src/ @dede\n**/z/b @marie").owners("src" + "/a" * 2000).owners == ("@dede",)


def test_the_default_scopes() -> None:
    """specs/1, FR-018."""
    scopes = parse(DEFAULT)
    assert scopes.flaws == ()
    own = {
        "@marie": ["tests/test_a.py", "tests/x/y.py"],
        "@dede": ["src/a.py", "src/tests/a.py"],
        "@gustave": ["k8s/a", "argocd/a", "kustomize/a", "helm/x/a", ".github/workflows/ci.yml"],
        "@degaulle": [],
    }
    everything = [path for paths in own.values() for path in paths]
    outside = ["README.md", "app/tests/a.py", ".github/dependabot.yml", "x/src/a", "Src/a", "src"]
    for agent, paths in own.items():
        refused = [found.path for found in check(scopes, agent, everything + outside)]
        assert refused == [p for p in everything if p not in paths] + outside


@pytest.mark.parametrize("agent", ["@dede", "dede", "@DeDe"])
def test_a_handle_in_any_case(agent: str) -> None:
    assert check(parse("/src/ @mara @Dede"), agent, ["src/a"]) == ()


@pytest.mark.parametrize("agent", ["@ded", "@dedee", "@acme/dede", "acme", "", "@", "@mara"])
def test_nobody_else(agent: str) -> None:
    scopes = parse("* @mara\n/src/ @dede @acme/devs dede@acme.example")
    assert [found.path for found in check(scopes, agent, ["src/a"])] == ["src/a"]


GUARDED = [
    ".github/AGENT_SCOPES",
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".git/config",
    ".git",
    "vendor/lib/.git/hooks/pre-commit",
    ".GitHub/agent_scopes",
    ".GIT/config",
    "git~1/config",
    ".git./config",
    ".g\u200cit/config",
    ".git::$INDEX_ALLOCATION/config",
    ".github",
    "CODEOWNERS/a",
]


@pytest.mark.parametrize("path", GUARDED)
def test_what_decides_on_scopes_is_in_nobodys(path: str) -> None:
    scopes = parse("* @dede\n/.github/ @dede\n.git/ @dede")
    verdict = scopes.owners(path)
    assert verdict.owners == ("@dede",)  # the rule is still shown
    assert check(scopes, "@dede", [path, "src/a"]) == (verdict,)


@pytest.mark.parametrize(
    "path", ["src/CODEOWNERS", ".github/workflows/ci.yml", ".gitignore", "docs/a", "AGENT_SCOPES"]
)
def test_what_is_not_guarded(path: str) -> None:
    assert not is_guarded(path)


def test_a_flaw_allows_nothing() -> None:
    scopes = parse("/src/ @dede\n!x")
    assert [found.path for found in check(scopes, "@dede", ["src/a", "x"])] == ["src/a", "x"]
