"""Which rule of a scope file decides on a path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.scopes import matching, parse
from app.scopes.matching import Globs
from tests.scopes import reference

NAMES = st.sampled_from(["a", "b", "ab", "a.md", "b.md", ".md", "ä", "a b", "a*", "a\nb", "#a"])
WILD = ["*", "**", "*.md", "a*", "*b*", "?", "a?", "??", "**b", "*\\ *"]
LEVELS = st.sampled_from(
    ["a", "b", "ab", "ä", "a.md", "a\\ b", "a\\*", "\\#a", "\\a", "a\\?b", *WILD]
)
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    levels = "/".join(draw(st.lists(LEVELS, min_size=1, max_size=5)))
    return f"{draw(st.sampled_from(['', '/']))}{levels}{draw(st.sampled_from(['', '/', '/']))}"


@settings(max_examples=400, deadline=None)
@given(st.lists(patterns(), min_size=1, max_size=12), st.lists(PATHS, min_size=1, max_size=12))
def test_the_last_match_is_the_one_of_the_plain_loop(rules: list[str], paths: list[str]) -> None:
    scopes = parse("\n".join(f"{rule} @acme/r{number}" for number, rule in enumerate(rules)))
    assert scopes.flaws == ()
    for path in paths:
        assert (scopes.owners(path).line or 0) == reference.last_match(rules, path), path


DOCUMENTED = [
    # pattern, what it covers, what it does not
    ("*", ["a", "a/b", ".x"], []),
    ("**", ["a", "a/b/c"], []),
    ("/**", ["a", "a/b/c"], []),
    ("*.js", ["a.js", "x/y/a.js", ".js", "lib.js/readme"], ["a.jsx", "a.js2", "ajs"]),
    ("/build/logs/", ["build/logs/a", "build/logs/a/b"], ["build/logs", "x/build/logs/a"]),
    ("*.tar.gz", ["a.tar.gz", "x/b.c.tar.gz", ".tar.gz"], ["tar.gz", "a.gz", "a.tar.gz2"]),
    ("docs/*", ["docs/start.md"], ["docs/app/help.md", "x/docs/start.md", "docs"]),
    ("/docs/*", ["docs/start.md"], ["docs/app/help.md"]),
    ("docs/", ["docs/a", "docs/x/a", "x/docs/a"], ["docs", "mydocs/a"]),
    ("apps/", ["apps/a", "x/apps/a", "x/y/apps/z/a"], ["apps", "x/apps"]),
    ("/docs/", ["docs/a", "docs/x/a"], ["x/docs/a"]),
    ("**/logs", ["logs", "build/logs", "deeply/nested/logs/a"], ["logs.md", "build/logs2"]),
    ("/apps/github", ["apps/github", "apps/github/a"], ["apps/githubs", "x/apps/github"]),
    ("apps/github", ["apps/github", "apps/github/a"], ["x/apps/github"]),
    ("src/**", ["src/a", "src/x/a"], ["src", "x/src/a"]),
    ("src/**/test.py", ["src/test.py", "src/x/y/test.py"], ["test.py", "src/xtest.py"]),
    ("src/**/**/a", ["src/a", "src/x/a"], ["a"]),
    ("src/*/", ["src/x/a", "src/x/y/a"], ["src/x", "src"]),
    ("src/**/", ["src/x/a"], ["src/a", "src"]),
    ("src/*/a", ["src/x/a", "src/x/a/b"], ["src/a", "src/x/y/a"]),
    ("src/*.d", ["src/x.d", "src/x.d/a"], ["src/y/x.d"]),
    ("src/a**z", ["src/az", "src/abcz"], ["src/a/z"]),
    ("file?.md", ["file1.md", "x/fileä.md"], ["file.md", "file12.md", "file/.md"]),
    ("read\\ me.md", ["read me.md", "x/read me.md"], ["read", "me.md", "read\\ me.md"]),
    ("\\#notes", ["#notes", "x/#notes"], ["notes", "\\#notes"]),
    ("c#.md", ["c#.md"], ["c"]),
    ("app/\\[slug\\]/", ["app/[slug]/page"], ["app/s/page"]),
    ("a\\*b", ["a*b"], ["axb"]),
    ("a\\/b", ["a/b"], ["x/a/b"]),
    ("a+(b|c).$", ["a+(b|c).$"], ["ab.$", "aab.x"]),
    ("/", [], ["a", "a/b"]),
    ("/src//a", [], ["src/a", "src/x/a"]),
    ("//", [], ["a"]),
    ("./src/", [], ["src/a"]),
    ("/SRC/", ["SRC/a"], ["src/a"]),
    ("größe/", ["größe/ä"], ["grösse/ä"]),
]


@pytest.mark.parametrize(("pattern", "covered", "other"), DOCUMENTED)
def test_what_a_pattern_covers(pattern: str, covered: list[str], other: list[str]) -> None:
    scopes = parse(f"{pattern} @dede")
    assert scopes.flaws == ()
    assert [path for path in covered if scopes.owners(path).line != 1] == []
    assert [path for path in other if scopes.owners(path).line is not None] == []


def test_a_line_end_in_a_name_is_part_of_it() -> None:
    scopes = parse("/src/*.py @dede\n/src/a?b @marie")
    assert scopes.owners("src/a\nb").owners == ("@marie",)
    assert scopes.owners("src/x\ny.py").owners == ("@dede",)
    assert scopes.owners("src/x.py\n").line is None


def test_globs_are_found_without_the_set_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The set finds nothing, or cannot be made, when it has too little memory."""
    monkeypatch.setattr(matching, "MAX_MEMORY", 20_000)
    assert Globs([f"{number}.*" for number in range(300)])._set is None
    scopes = parse("\n".join(f"*x{number}*.md @acme/r{number}" for number in range(300)))
    assert scopes.owners("docs/x7.md").line == 8
    assert scopes.owners("docs/x299.md").line == 300
    assert scopes.owners("docs/x300.txt").line is None


def test_an_empty_answer_of_the_set_is_not_believed() -> None:
    class Exhausted:
        def Match(self, text: bytes) -> None:
            return None

    globs = Globs([r"(?s:.*)\.md", "a(?s:.*)"])
    globs._set = Exhausted()
    assert globs.matching("a.md") == [0, 1]
    assert globs.matching("b.txt") == []


def test_forgetting_folders_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MAX_REMEMBERED", 3)
    rules = ["a/", "/b/**/c", "*.md", "/b/a/"]
    scopes = parse("\n".join(f"{rule} @dede" for rule in rules))
    paths = ["b/x/c", "x/a/y", "b/a/b/a/b/c", "b/a.md", "a/b/c/d/e/f/g.md", "b/x/c", "x/a/y"]
    for path in paths:
        assert (scopes.owners(path).line or 0) == reference.last_match(rules, path), path


def test_thousands_of_rules() -> None:
    rules = [f"/area{number}/**/part{number}.*" for number in range(5000)]
    scopes = parse("\n".join(f"{rule} @acme/t" for rule in rules))
    for number in (0, 17, 4999):
        assert scopes.owners(f"area{number}/x/y/part{number}.py").line == number + 1
        assert scopes.owners(f"area{number}/part0{number}.py").line is None
