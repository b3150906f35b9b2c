"""Reading a scope file: comments, owners, flaws."""

from __future__ import annotations

import pytest

from app.scopes import Flaw, Rule, Scopes, parse
from app.scopes.rules import MAX_BYTES


def test_comments_blanks_and_owners() -> None:
    text = (
        "\ufeff# who\r\n\r\n  \t\r\n/src/\t@dede   @acme/devs dev@acme.example # why @mara\r\n *.md"
    )
    assert parse(text).rules == (
        Rule(4, "/src/", ("@dede", "@acme/devs", "dev@acme.example")),
        Rule(5, "*.md", ()),
    )


@pytest.mark.parametrize(
    ("line", "pattern", "owners"),
    [
        ("/src/ #@dede", "/src/", ()),
        ("/src/ @dede #", "/src/", ("@dede",)),
        ("\\#a @dede", "\\#a", ("@dede",)),
        ("a#b @dede", "a#b", ("@dede",)),
        ("my\\ file @dede", "my\\ file", ("@dede",)),
        ("my\\ file\\ @dede", "my\\ file\\ @dede", ()),
        ("my\\ #file @dede", "my\\ #file", ("@dede",)),
        ("a\\\\ @dede", "a\\\\", ("@dede",)),
        ("* @renovate[bot] @A-b_1", "*", ("@renovate[bot]", "@A-b_1")),
    ],
)
def test_a_line(line: str, pattern: str, owners: tuple[str, ...]) -> None:
    assert parse(line).rules == (Rule(1, pattern, owners),)


@pytest.mark.parametrize("text", ["", "\n\n", "# a\n  # b\n", "\ufeff"])
def test_a_file_without_rules_gives_nobody_anything(text: str) -> None:
    scopes = parse(text)
    assert (scopes.rules, scopes.flaws) == ((), ())
    assert scopes.owners("src/a").line is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("!/src/ @dede", '"!"'),
        ("src/[ab].py @dede", '"[ ]"'),
        ("src/ab].py @dede", '"[ ]"'),
        ("[Section] @dede", '"[ ]"'),
        ("/src/*** @dede", "three stars"),
        ("/src/\\", "backslash"),
        ("/src/ dede", '"dede" is no owner'),
        ("my file.md @dede", '"file.md" is no owner'),
        ("/src/ @", '"@" is no owner'),
        ("/src/ @dede, @mara", '"@dede," is no owner'),
        ("/src/ @dede#why", "is no owner"),
        ("/src/ @dede\r/tests/ @marie", "is no owner"),
        ("/src/ @a/b/c", "is no owner"),
        ("/src/ @\u212aim", "is no owner"),
        ("/src/\u00a0@dede", "invisible"),
        ("/src/\0", "invisible"),
        ("a" * 4097, "longer"),
    ],
)
def test_flaws(line: str, reason: str) -> None:
    scopes = parse(f"# first\n/src/ @dede\n{line}\n/tests/ @marie")
    (flaw,) = scopes.flaws
    assert flaw.line == 3
    assert reason in flaw.reason


def test_all_flaws_are_told_and_nothing_is_anybodys() -> None:
    scopes = parse("* @dede\n!a\n\nb c")
    assert [flaw.line for flaw in scopes.flaws] == [2, 4]
    assert scopes.rules == (Rule(1, "*", ("@dede",)),)
    assert scopes.owners("a").owners == ()
    assert scopes.owners("a").line is None


def test_a_huge_file_is_not_read() -> None:
    scopes = parse("* @dede\n" + "#" * MAX_BYTES)
    assert [flaw.line for flaw in scopes.flaws] == [1]
    assert "3 MB" in scopes.flaws[0].reason


def test_flaws_given_by_hand_count_too() -> None:
    scopes = Scopes((Rule(1, "*", ("@dede",)),), (Flaw(2, "no"),))
    assert scopes.owners("a").line is None
