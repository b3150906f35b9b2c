"""`<gap>` blocks in an agent's output."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.questions.gaps import Gap, GapError, Gaps, parse_gaps

WHOLE = "<gap><topic>api.auth</topic><question>Which one?</question></gap>"
GAP = Gap("api.auth", "Which one?")


def block(inner: str) -> str:
    return f"<gap>{inner}</gap>"


def test_all_fields() -> None:
    text = """# Plan

<gap>
  <topic>API.Loops</topic>
  <question>
    Is a &lt; b &amp;&amp; "c"?

    Or not?
  </question>
  <context>The type is List<String>; &#x41;&#66; &amp;lt; &copy &#0;</context>
  <urgency> High </urgency>
</gap>

Rest.
"""
    found = parse_gaps(text)
    question = 'Is a < b && "c"?\n\n    Or not?'
    context = "The type is List<String>; AB &lt; &copy &#0;"
    assert found == Gaps((Gap("api.loops", question, context, "high", 3),), "# Plan\n\nRest.\n", ())


@pytest.mark.parametrize(
    ("text", "rest", "line"),
    [
        (WHOLE, "", 1),
        (f"a {WHOLE} b", "a  b", 1),
        (f"a\n{WHOLE}\nb", "a\nb", 2),
        (f"a\n\n{WHOLE}\n\nb", "a\n\nb", 3),
        (f"a\n\n\n{WHOLE}\n\n\nb", "a\n\n\n\nb", 4),
        (f"a\r\n\r\n  {WHOLE}  \r\n\r\nb\r\n", "a\r\n\r\nb\r\n", 3),
        (f"{WHOLE}\n\nb", "b", 1),
        (f"a\n\n{WHOLE}", "a\n\n", 3),
        (f"- {WHOLE}\n- b", "- \n- b", 1),
        (WHOLE.upper().replace("API.AUTH", "api.auth").replace("WHICH ONE", "Which one"), "", 1),
        (WHOLE.replace(">", " >"), "", 1),
        (f"`<gap>` marks it. {WHOLE}", "`<gap>` marks it. ", 1),
        (f"<!-- {block('x')} -->\n\n{WHOLE}", f"<!-- {block('x')} -->\n\n", 3),
    ],
)
def test_cut(text: str, rest: str, line: int) -> None:
    found = parse_gaps(text)
    assert found == Gaps((Gap(GAP.topic, GAP.question, line=line),), rest, ())


def test_several() -> None:
    found = parse_gaps(f"a\n\n{WHOLE}\n{WHOLE}\n\nb {WHOLE}{WHOLE}\n")
    assert [gap.line for gap in found.gaps] == [3, 4, 6, 6]
    assert found.text == "a\n\nb \n"


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("\n<gap><topic>x</topic><question>y</question>", 2, "not closed"),
        ("a </gap>", 1, "closes nothing"),
        (block("<topic>x</topic>"), 1, "no `<question>`"),
        (block("<topic> </topic><question>y</question>"), 1, "no `<topic>`"),
        (block("<topic>x y</topic><question>y</question>"), 1, "names joined by dots"),
        (WHOLE.replace("</gap>", "<urgency>now</urgency></gap>"), 1, "low, normal, high"),
        (WHOLE.replace("<gap>", "<gap id='1'>"), 1, "no attributes"),
        ("<gap/>", 1, "not closed"),
        (WHOLE.replace("<topic>", "<topic a=1>"), 1, "no attributes"),
        (WHOLE.replace("</gap>", "<why>x</why></gap>"), 1, "no element `<why>`"),
        (WHOLE.replace("</gap>", "</context></gap>"), 1, "closes nothing"),
        (WHOLE.replace("</gap>", "<topic>x</topic></gap>"), 1, "twice"),
        (WHOLE.replace("<gap>", "<gap>Hm. "), 1, "text between"),
        (WHOLE.replace("</gap>", " Hm.</gap>"), 1, "text between"),
        (WHOLE.replace("</topic>", ""), 1, "not closed before"),
        (WHOLE.replace("</question>", ""), 1, "`<question>` is not closed"),
        (block(f"a{WHOLE}b"), 1, "inside this one"),
        (block(f"a{WHOLE}{WHOLE}b"), 1, "inside this one"),
        (f"a\n```\n{WHOLE}\n```", 3, "code block"),
        (f"a\n\n    {WHOLE}\n", 3, "code block"),
    ],
)
def test_broken_blocks_stay(text: str, line: int, hint: str) -> None:
    found = parse_gaps(text)
    assert found.gaps == ()
    assert found.text == text
    (error,) = found.errors
    assert error.line == line
    assert hint in error.reason


@pytest.mark.parametrize(
    "text",
    ["", "no gap", f"`{WHOLE}`", f"<!-- {WHOLE} -->", "<gaps>", "&lt;gap&gt;", "<gap", "<b>"],
)
def test_no_block(text: str) -> None:
    assert parse_gaps(text) == Gaps((), text, ())


def test_one_broken_block_spares_the_others() -> None:
    found = parse_gaps(f"<gap>\nunclosed\n\n{WHOLE}\n\n</gap >x</gap>\n\n```\n</gap>\n<gap>\n```\n")
    assert found.gaps == ()
    assert [error.line for error in found.errors] == [1, 6, 10]
    found = parse_gaps(f"<gap>\nunclosed\n\n{WHOLE}\n\n{WHOLE}\n")
    assert [gap.line for gap in found.gaps] == [4, 6]
    assert found.text == "<gap>\nunclosed\n\n"
    assert found.errors == (GapError(1, "The `<gap>` block is not closed: `</gap>` is missing."),)


PIECES = ["<gap>", "</gap>", "<topic>", "</topic>", "<question>", "</question>", "x", " ", "\n"]
PIECES += ["```", "`", "<!--", "-->", "\r\n", "\n\n", "    ", "> ", "- ", WHOLE, WHOLE, "<urgency>"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_nothing_is_lost(text: str) -> None:
    found = parse_gaps(text)
    rest = re.sub(r"\s", "", text)
    kept = re.sub(r"\s", "", found.text)
    for _ in found.gaps:
        assert len(rest) >= len(kept)
    cut = len(rest) - len(kept)
    assert (cut > 0) == bool(found.gaps)
    if all(gap == Gap(GAP.topic, GAP.question, line=gap.line) for gap in found.gaps):
        assert cut == len(found.gaps) * len(re.sub(r"\s", "", WHOLE))
    assert all(1 <= error.line <= len(re.split("\r\n?|\n", text)) for error in found.errors)
    assert found.text == text or found.gaps


@settings(deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    assert parse_gaps(text).gaps == ()


@pytest.mark.parametrize(
    "text",
    [
        "<gap>" * 13000,
        "<gap></gap>" * 5900,
        WHOLE * 1000,
        f"{WHOLE}\n" * 1000,
        "&#1" * 20000,
        block("<topic>" * 9000),
        block("x" * 60000),
        " " * 60000 + WHOLE,
        "<gap " * 13000,
    ],
    ids=lambda text: text[:20],
)
def test_long_ones_are_quick(text: str) -> None:
    start = time.process_time()
    parse_gaps(text)
    assert time.process_time() - start < 60
