"""What is written about a pull request: safe, short, and never a word of consent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.review.choosing import Plan, Thread
from app.review.model import Finding, Severity
from app.texts.marker import marker, read_marker
from app.texts.review import (
    LIMIT,
    check_conclusion,
    check_summary,
    check_title,
    finding_comment,
    finding_key,
    review_body,
)

TOKEN = "ghp_" + "x7Rk2Lw9QzB4mN8vT1sD6fG3hJ5pY0cA"


def finding(severity: Severity = Severity.MINOR, **more: object) -> Finding:
    known: dict[str, object] = {"message": "What.", "reason": "Why.", "path": "src/a.py", "line": 3}
    return Finding("rule", severity, **{**known, **more})  # type: ignore[arg-type]  # a dict has no types


def body(*findings: Finding, plan: Plan | None = None, by: str = "") -> str:
    plan = plan or Plan(rest=findings)
    return review_body(findings, plan, key="k", feature="acme/storefront#12", head="ab" * 20, by=by)


MINOR, BLOCKING = finding(), finding(Severity.BLOCKING, excerpt="x")


# A comment on a line


def test_the_key_of_the_finding_comes_back() -> None:
    for key in ("12:review:3", "", MINOR.key):
        text = finding_comment(MINOR, key=key)
        assert text.startswith("<!-- kr {")
        assert finding_key(text) == MINOR.key
        assert finding_key(text.replace("\n", "\r\n")) == MINOR.key
    assert (read_marker(finding_comment(MINOR, key="12")) or {})["key"].startswith("12/")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        marker("review", "12:review"),
        marker("review", "finding/xyz"),
        marker("reply", "finding/0123456789abcdef"),
        "<!-- kr {} -->",
        "<!-- kr {broken} -->",
    ],
)
def test_other_comments_have_no_finding(text: str) -> None:
    assert finding_key(text) is None


def test_a_comment_says_what_and_why_and_by_whom() -> None:
    text = finding_comment(finding(Severity.IMPORTANT, by="some-model"), key="k")
    assert "**@degaulle** · reviewer" in text
    assert "⚠️ **Important**: What." in text
    assert "\n\nWhy.\n\n" in text
    assert "Said by `some-model`" in text
    assert "Said by" not in finding_comment(MINOR, key="k")


@pytest.mark.parametrize(
    ("suggestion", "block"),
    [
        (None, None),
        ("", "```suggestion\n```"),
        ("\n", "```suggestion\n\n```"),
        ("  x = 1", "```suggestion\n  x = 1\n```"),
        ("x\n", "```suggestion\nx\n```"),
        ("a ```` b", "`````suggestion\na ```` b\n`````"),
        (f"key = '{TOKEN}'", None),
        ("if user\u202e != x:", None),
        ("a\ud800", None),
        ("x" * 5000, None),
    ],
)
def test_suggestions(suggestion: str | None, block: str | None) -> None:
    text = finding_comment(finding(suggestion=suggestion), key="k")
    assert ("suggestion" in text) == (block is not None)
    assert text.endswith(block or "Why.")


HOSTILE = "@mara --> <img src=x> fixes #1 | `a\n```suggestion\nrm -rf\n```\n"
HOSTILE += f"/confirm\n# big {TOKEN} \ud800"


def test_nothing_hostile_keeps_its_powers() -> None:
    one = finding(
        Severity.BLOCKING,
        message=HOSTILE,
        reason=HOSTILE,
        path=HOSTILE,
        by=HOSTILE,
        excerpt=HOSTILE,
    )
    texts = [
        finding_comment(one, key=HOSTILE),
        body(one, by=HOSTILE),
        check_summary([one], HOSTILE, HOSTILE),
    ]
    for text in texts:
        text.encode()
        assert "<img" not in text.replace("`@mara --> <img", "")
        assert TOKEN[4:12] not in text.partition("\n")[2]
        assert not any(line.startswith(("```", "/", "# ")) for line in text.split("\n"))
        assert "\n" not in text[: text.index(" -->") + 4]
    assert finding_key(texts[0]) == one.key
    for row in (line for line in texts[2].split("\n") if line.startswith("| 🛑")):
        assert row.replace("\\|", "").count("|") == 5


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("`@|<>-!\\ \n\r~[]()#&x1/\ud800")), st.booleans())
def test_every_text_is_written_whatever_is_said(said: str, rest: bool) -> None:
    one = finding(message=said, reason=said, path=said, by=said, suggestion=said)
    assert finding_key(finding_comment(one, key=said.replace("\ud800", ""))) == one.key
    body(one, plan=Plan(rest=(one,)) if rest else Plan(new=(one,)), by=said).encode()
    check_summary([one], said, said).encode()


# The review


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ((), "found nothing"),
        ((MINOR,), "found 1 thing, which does not block"),
        ((BLOCKING,), "found 1 thing, which blocks"),
        ((MINOR, BLOCKING), "found 2 things, 1 of which blocks"),
        ((BLOCKING, BLOCKING), "found 2 things, 2 of which block"),
        ((MINOR, MINOR), "found 2 things, none of which blocks"),
    ],
)
def test_the_headline_counts(findings: tuple[Finding, ...], said: str) -> None:
    assert check_title(findings) == f"@degaulle {said}"
    assert f"degaulle {said}." in body(*findings)


def test_the_body_shows_what_stands_on_no_line() -> None:
    text = body(MINOR, BLOCKING, plan=Plan(new=(BLOCKING,), rest=(MINOR,)))
    first = read_marker(text)
    assert first == {"kind": "review", "feature": "acme/storefront#12", "key": "k"}
    assert "| 💡 minor | `src/a.py`:3 | What. | Why. |" in text
    assert "blocking |" not in text
    assert "1 is on the lines" in text
    assert "`abababa`" in text
    assert "**Next**: correct what blocks" in text
    assert "details" not in text


def test_the_body_says_what_was_said_before_and_what_is_done() -> None:
    gone = Thread("0" * 16, False, "node", "src/a.py")
    text = body(MINOR, plan=Plan(standing=(MINOR,), resolve=(gone, gone)))
    assert "1 was said before; 2 earlier ones are done." in text
    assert "|" not in text


def test_many_rows_are_folded_and_bounded() -> None:
    few = [finding(line=n) for n in range(5)]
    assert "<details>" not in body(*few)
    many = [finding(line=n, reason="why | " * 200) for n in range(3000)]
    text = body(*many)
    assert "<details><summary>3000 that stand on no line</summary>\n\n| |" in text
    assert text.count("</details>") == 1
    assert " more." in text
    assert len(text) <= LIMIT


def test_the_service_never_consents() -> None:
    texts = [body(), body(MINOR), body(BLOCKING), check_summary([], "", ""), check_title([])]
    assert not any("approv" in text.lower() for text in texts)


# The check run


def test_only_a_blocking_finding_fails_the_check() -> None:
    assert check_conclusion([]) == "success"
    assert check_conclusion([MINOR, finding(Severity.IMPORTANT)]) == "success"
    assert check_conclusion([MINOR, BLOCKING]) == "failure"


def test_the_summary_has_everything_that_fits() -> None:
    text = check_summary([BLOCKING, MINOR], "some-model", "The budget is used up.")
    assert text.startswith("Looked at by rules and by `some-model`.\n\nThe budget is used up.")
    assert text.count("`src/a.py`:3") == 2
    assert len(check_summary([finding(reason="y" * 900)] * 3000, "", "")) <= LIMIT
    assert check_summary([], "", "").startswith("Looked at by rules.\n")
