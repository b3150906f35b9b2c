"""Where a command is one, and where it is only shown."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.commands import SPECS, Confirm, Context, Correct, Located, Parsed, QuestionRef, parse
from app.commands.refs import RefKind

Q1 = QuestionRef(RefKind.NUMBER, 1)


def said(body: str) -> list[tuple[int, str, str]]:
    """Line, name and text of each command."""
    return [
        (located.line, located.command.name, getattr(located.command, "text", ""))
        for located in parse(body).commands
    ]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("/confirm", 1),
        ("   /confirm", 1),
        ("/CONFIRM", 1),
        ("/confirm.", 1),
        ("/baron confirm", 1),
        ("/Baron Confirm", 1),
        ("/baron /confirm", 1),
        ("@baron confirm", 1),
        ("@BARON /confirm", 1),
        ("@baron[bot] confirm", 1),
        ("Looks right.\n/confirm", 2),
        ("Looks right.\r\n\r\n/confirm\r\n", 3),
        ("a\r/confirm", 2),
        ("/confirm\n---", 1),
        ("/confirm\n===\nmore", 1),
        ("```\ncode\n```\n/confirm", 4),
        ("> quoted\n\n/confirm", 3),
        ("- one\n- two\n/confirm", 3),
        ("- one\n\n/confirm", 3),
        ("<details>\n\nx\n\n</details>\n/confirm", 6),
        ("<details>\n\nx\n\n</details>\n\n/confirm", 7),
        ("> <details> cut off\n\n/confirm", 3),
        ("<details>\n\n- <details>\n- </details></details>\n- x\n\n/confirm", 7),
        ("- <details> in an item\n\nx\n\n/confirm", 5),
        ("<!-- note -->\n/confirm", 2),
        ("<br>\n/confirm", 2),
        ("an unfinished <!-- is only text\n\n/confirm", 3),
        ("a \\` b\n/confirm\nc ` d", 2),
        ("a ` b\n\n/confirm\n\nc ` d", 3),
        ("a \\<details> b\n\n/confirm", 3),
        ("</details>\n\n/confirm", 3),
        ("# Title\n/confirm", 2),
        ("nul \x00\n/confirm", 2),
        ("Title\n--\n\n/confirm", 4),
        ("\x0c\n/confirm", 2),
    ],
)
def test_a_command(body: str, line: int) -> None:
    assert parse(body).commands == (Located(Confirm(), line),)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "please /confirm",
        "    /confirm",
        "\t/confirm",
        "text\n    /confirm",
        "/confirm-all",
        "/confirm/x",
        "/ confirm",
        "\\/confirm",
        "`/confirm`",
        "`a\n/confirm\nb`",
        "``a ` b\n/confirm\nb``",
        "```\n/confirm\n```",
        "```\n/confirm",
        "~~~ py\n/confirm\n```\n/confirm\n~~~",
        "> /confirm",
        "> quoted\n/confirm",
        "> - a\n> /confirm",
        "- > quoted\n  /confirm",
        "- /confirm",
        "1. /confirm",
        "* a\n    * /confirm",
        "# /confirm",
        "| /confirm |\n|---|",
        "/confirm | b\n--- | ---\n/confirm | c",
        "<!-- /confirm -->",
        "<!--\n/confirm\n-->",
        "<!--\n\n/confirm",
        "text <!--\n/confirm\n--> text",
        "text <!--\n\n/confirm\n\n--> text",
        "text <!--\n\n```\ncode\n```\n\n/confirm\n\n--> text",
        "<div><!--\n\n/confirm",
        "<details>\n/confirm\n</details>",
        "<details>\n\n/confirm\n\n</details>",
        "<DETAILS open>\n<summary>x</summary>\n\n/confirm",
        "a <details>\n\n/confirm",
        "<details>\n\n<details>\n\n</details>\n\n/confirm\n\n</details>",
        "<details>\n\n- </detail>\n\n/confirm",
        "<details>\n\n- <details>\n\n/confirm",
        "<details>\n\n```\n</details>\n```\n\n/confirm",
        "<blockquote>\n\n/confirm\n\n</blockquote>",
        "<pre>\n/confirm\n</pre>",
        "- /x\n\n<!-- a\n\n- -->\n\n```\n\n/confirm",
        "<script>\n/confirm\n</script>",
        "<?x\n/confirm\n?>",
        'a <img alt="\n/confirm\n">',
        "[x]:\n/confirm",
        "\u200b/confirm",
        "\u202e/confirm",
        "\ufeff/confirm",
        "\u00a0/confirm",
        "-- \n/confirm",
        "--\n/confirm",
        "On Mon, Jan 5, 2026 at 9:00 Ann <ann@example.org> wrote:\n\n/confirm",
        "On Mon, Jan 5, 2026 at 9:00 Ann <\nann@example.org> wrote:\n\n/confirm",
        "Le lun. 5 janv. 2026, Anne a écrit :\n/confirm",
        "Am 05.01.26 um 9:00 schrieb Anne:\n/confirm",
        "From: Ann\nSent: Monday\nTo: Bob\n\n/confirm",
        "**From:** Ann **Sent:** Monday\n\n/confirm",
        "-----Original Message-----\n/confirm",
        "Sent from my phone\n\n/confirm",
    ],
)
def test_no_command(body: str) -> None:
    assert parse(body) == Parsed((), ())


@pytest.mark.parametrize(
    "body",
    [
        "On balance it is fine:\n/confirm",
        "On 5 May\nwe met\n/confirm",
        "On",
        "From: the start\nall good\n/confirm",
        "```sql\n-- \n```\n/confirm",
        "Il est 9 heures\n/confirm",
        "---\n\n/confirm",
        "-- a dash\n/confirm",
    ],
)
def test_no_tail(body: str) -> None:
    assert len(parse(body).commands) == body.count("/confirm")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/confirm Q3 thanks!\nand more", [(1, "confirm", "thanks!")]),
        ("/correct Q1 a\n\nb\n/confirm\nc", [(1, "correct", "a\n\nb"), (4, "confirm", "")]),
        ("/correct\n\nbelow", [(1, "correct", "below")]),
        ("/correct “a b”", [(1, "correct", "a b")]),
        ('/correct Q1 "a"', [(1, "correct", "a")]),
        ('/correct ""a""', [(1, "correct", '"a"')]),
        ('/correct "a" or "b"', [(1, "correct", '"a" or "b"')]),
        ('/correct "say "hi" to all"', [(1, "correct", 'say "hi" to all')]),
        ('/correct “say "hi" to “all””', [(1, "correct", 'say "hi" to “all”')]),
        ("/correct “a” or “b”", [(1, "correct", "“a” or “b”")]),
        ('/correct "open', [(1, "correct", '"open')]),
        ('/correct "', [(1, "correct", '"')]),
        (
            "/correct Q1 Use this:\n```py\n/confirm\n```",
            [(1, "correct", "Use this:\n```py\n/confirm\n```")],
        ),
        ("/context a\n> quoted\n\n- /confirm", [(1, "context", "a\n> quoted\n\n- /confirm")]),
        ("/context a <!-- b --> c\n<!--\n/x\n-->\nd", [(1, "context", "a  c\n\nd")]),
        ("/context a\n/help\n<!-- b -->", [(1, "context", "a"), (2, "help", "")]),
        ("/context a\n-- \nAnn", [(1, "context", "a")]),
        ("/context a\n/usr/bin\n/lgtm", [(1, "context", "a\n/usr/bin\n/lgtm")]),
        ("/context a\n/confrim\nb", [(1, "context", "a")]),
        ("/correct 42", [(1, "correct", "42")]),
        ("/context #3 says so", [(1, "context", "#3 says so")]),
        ("/context q-learning-rate", [(1, "context", "q-learning-rate")]),
    ],
)
def test_text(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert said(body) == expected


def test_text_keeps_its_question() -> None:
    assert parse("/context Q1: a").commands == (Located(Context("a", Q1), 1),)
    assert parse("/correct `Q1` a").commands == (Located(Correct("a", Q1), 1),)


@pytest.mark.parametrize(
    ("body", "hint", "name"),
    [
        ("/confrim Q2", "Did you mean `/confirm`?", "confirm"),
        ("/confirmed", "`/confirm`", "confirm"),
        ("/hepl", "Did you mean `/help`?", "help"),
        ("/staus", "Did you mean `/status`?", "status"),
        ("/task", "Did you mean `/tasks`?", "tasks"),
        ("/baron", "Write a command", None),
        ("/baron 3", "Write a command", None),
        ("/baron dance", "`/help` lists", None),
        ("/baron unassign", "`/assign`", "assign"),
        ("@baron /dance", "`/help` lists", None),
        ("@baron hello", "`/help` lists", None),
        ("@baron confrim this for me now", "`/confirm`", "confirm"),
    ],
)
def test_unknown(body: str, hint: str, name: str | None) -> None:
    (error,) = parse(f"x\n{body}").errors
    assert hint in error.reason
    assert (error.line, error.name) == (2, name)


@pytest.mark.parametrize(
    "body",
    [
        *("/lgtm", "/assign-me", "/usr/bin", "/deploy", "/hold", "/cc @ann", "/unassign", "/close"),
        *("/etc", "/home", "/tmp", "/ready", "/retest", "/approve", "/merge", "/rebase", "/label"),
        *("@baron", "@baron what do you think", "@baron thanks", "@baron thank you", "@baron/team"),
        *("@baronet confirm", "hello @baron confirm", "/baronet confirm", "@baron, confirm"),
    ],
)
def test_not_for_us(body: str) -> None:
    assert parse(body) == Parsed((), ())


def test_another_name() -> None:
    commands = parse("@our-bot confirm\n@baron confirm", "our-bot").commands
    assert [located.line for located in commands] == [1]


MEAN = [
    "@ann",
    "`",
    "``",
    "<!--",
    "-->",
    "<details>",
    "</details>",
    ">",
    "- ",
    "\n",
    "\n\n",
    "    ",
]
MEAN += ["/confirm", "/correct", "/confrim", "/ask", "Q", "Q3", "Q3@", "@baron", "/baron", '"', "“"]
MEAN += [
    "```",
    "~~~",
    "|",
    "---",
    "\r",
    "\x00",
    "\u200b",
    "\ud800",
    "[x]:",
    "-- ",
    "text",
    " ",
    "\t",
]
MEAN += [f"/{name}" for name in SPECS] + ["T1", "R2", "L3", "reject", "<gap>", "On 1", "wrote:"]
MESS = st.lists(st.sampled_from(MEAN), max_size=40).map("".join)


def check_errors(parsed: Parsed, lines: int) -> None:
    for error in parsed.errors:
        assert 1 <= error.line <= lines
        assert len(error.reason) <= 200
        assert "\n" not in error.reason
        assert error.reason.count("`") % 2 == 0
        assert "@" not in re.sub("`[^`]*`", "", error.reason)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(), MESS))
def test_never_raises(body: str) -> None:
    parsed = parse(body)
    lines = len(re.split("\r\n?|\n", body))
    check_errors(parsed, lines)
    where = [located.line for located in parsed.commands]
    assert where == sorted(where)
    assert all(1 <= line <= lines for line in where)


@settings(max_examples=200, deadline=None)
@given(MESS)
def test_quoted_is_never_a_command(body: str) -> None:
    quoted = "\n".join(f"> {line}" for line in re.split("\r\n?|\n", body))
    assert parse(quoted) == Parsed((), ())


@pytest.mark.parametrize(
    "body",
    [
        *(">" * 60000, "[" * 60000, "<details>" * 7000, "`" * 65000, "/confirm\n" * 7000),
        *("/correct x\n" * 5900, "<!--" * 16000, "a <!-- \n" * 8000, "<a " * 20000, "- " * 30000),
        *("[a]: b\n" * 8000, "On 1 a\n" * 9000, "From:\n" * 9000, "\n" * 65000, "```\n" * 16000),
        *(" ".join("`" * n for n in range(1, 355)), '/ask a "' + '"' * 60000, "/x a\n\n" * 9000),
        "".join(f"/{a}{b}nfir\n" for a in "abcdefghijklmno" for b in "abcdefghij") * 40,
    ],
    ids=lambda body: body[:12],
)
def test_long_ones_are_quick(body: str) -> None:
    start = time.process_time()
    parse(body[:65536])
    assert time.process_time() - start < 60


def test_thousands_of_bad_ones_are_quick() -> None:
    start = time.process_time()
    for number in range(2000):
        picked = [MEAN[(number * 7 + step * step * 13) % len(MEAN)] for step in range(25)]
        body = "".join(picked)
        check_errors(parse(body), 1000)
    assert time.process_time() - start < 60
