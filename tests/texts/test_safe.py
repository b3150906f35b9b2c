"""Text of others in our comments: it looks the same, and can do nothing."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.commands import parse
from app.texts.safe import cell, cut, fence_safe, harmless, one_line, quote, slug_words, visible

Z = "&#8203;"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb\u202ec\u2066d\ufeffe", "abcde"),
        ("a\U000e0041\U000e007fb", "ab"),
        ("a\x00\x1b[31m\x85\x7fb", "a[31mb"),
        ("a\tb\nc\r\nd\re\u2028f", "a\tb\nc\nd\ne\nf"),
        ("\ud800x", "\ufffdx"),
        ("né 日本 ❤️", "né 日本 ❤️"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_cut() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("ab cd", 4) == "ab…"
    assert cut("abc", 1) == "…"
    assert cut("abc", 0) == ""
    assert one_line(" a \n\n b\u200b\tc ", 9) == "a b c"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain *text* with **marks**", "plain *text* with **marks**"),
        ("@ann and @org/team", f"@{Z}ann and @{Z}org/team"),
        ("\\@ann a@b.org _@ann_", f"\\@{Z}ann a@{Z}b.org _@{Z}ann_"),
        ("&#64;ann &commat;ann a & b", "&amp;#64;ann &amp;commat;ann a & b"),
        ("`@ann` ``a ` b``", "`@ann` ``a ` b``"),
        ("a ` b\nc ` @ann", f"a \\` b\nc \\` @{Z}ann"),
        ("\\`@ann`", f"\\`@{Z}ann\\`"),
        ("`a|@ann`", f"`a|@{Z}ann`"),
        ("fixes #12", f"fixes{Z} #12"),
        ("Closed: o/r#12", f"Closed{Z}: o/r#12"),
        ("fixes:\n#12 a cat #1", f"fixes{Z}:\n#12 a cat #1"),
        ("resolve GH-3", f"resolve{Z} GH-3"),
        ("Fixes https://github.com/a/b/issues/3", f"Fixes{Z} `https://github.com/a/b/issues/3`"),
        ("it fixes the bug, see #12", "it fixes the bug, see #12"),
        ("<b>x</b> <!-- kr {} -->", "&lt;b>x&lt;/b> &lt;!-- kr {} -->"),
        ("\\<b>", "&lt;b>"),
        ("![pixel](https://x.org/p.png)", "pixel (`https://x.org/p.png`)"),
        ("![](https://x.org/p.png)", "`https://x.org/p.png`"),
        ("[here](https://x.org/?a=b)", "here (`https://x.org/?a=b`)"),
        ("[https://x.org](https://x.org)", "`https://x.org`"),
        ("[@ann](https://x.org/@ann)", f"@{Z}ann (`https://x.org/@ann`)"),
        ("[a[b]](https://x.org)", "[a[b]]\\(`https://x.org`)"),
        ("![a][b] [a][b]", "!\\[a]\\[b] [a]\\[b]"),
        ("[b]: https://x.org", "[b]\\: `https://x.org`"),
        ("/confirm\n  /deploy", "\\/confirm\n  \\/deploy"),
        (
            "# Big\n#1 stays\ntext\n---\ntext\n==\n***",
            "\\# Big\n#1 stays\ntext\n\\---\ntext\n\\==\n\\***",
        ),
        ("a\n```py\n@app.get\n/x\n```\n@b", f"a\n```py\n@app.get\n /x\n```\n@{Z}b"),
        ("a\n```", "a\n\\`\\`\\`"),
        ("```\nopen", "\n```\nopen\n```"),
        ("~~~\na\n```\n~~~\n@b", f"\n~~~\na\n```\n~~~\n@{Z}b"),
        ("a\n ```\n@b\n```\n@c", f"a\n \\`\\`\\`\n@{Z}b\n```\n@c\n```"),
        ("- # Big\n> 1. ---\n- - a\n- /x", "- \\# Big\n> 1. \\---\n- - a\n- \\/x"),
        ("- ~~~\n@b", f"- \\~~~\n@{Z}b"),
        ("- ```\n@b", f"- \\`\\`\\`\n@{Z}b"),
        ("``` a`b ```", "``` a`b ```"),
    ],
)
def test_harmless(text: str, safe: str) -> None:
    assert harmless(text, 1000) == safe


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[a](https://docs.org/x)", True),
        ("[a](https://DOCS.org:443?q)", True),
        ("[a](http://docs.org/x)", False),
        ("[a](https://docs.org.evil.net/)", False),
        ("[a](https://docs.org@evil.net/)", False),
        ("[a](https://evil.net\\@docs.org/)", False),
        ("![a](https://docs.org/x.png)", False),
    ],
)
def test_known_hosts(text: str, kept: bool) -> None:
    assert (harmless(text, 200, {"docs.org"}) == text) is kept


def test_known_link_with_a_title() -> None:
    assert harmless('[a](https://docs.org/x "t")', 99, {"docs.org"}) == "[a](https://docs.org/x)"


def test_limit() -> None:
    assert harmless("a" * 50, 10) == "a" * 9 + "…"
    assert harmless("@" * 50, 30) == f"@{Z}" * 2 + "…"
    assert harmless("@@", 1) in {"", "…"}
    assert harmless("abc", 0) == ""
    assert harmless("```\n" + "a" * 50, 20).endswith("…\n```")


def test_quote() -> None:
    assert quote("a\n\n/b", 100) == "> a\n>\n> \\/b"


def test_fence_safe() -> None:
    assert fence_safe("a", 9) == "```\na\n```"
    assert fence_safe("a\n````\nb", 99, "py\n`x") == "`````pyx\na\n````\nb\n`````"


def test_cell() -> None:
    assert cell("a | b \\| c\\\\| d\n@x") == f"a \\| b \\| c\\| d @{Z}x"
    assert len(cell("x" * 50, 10)) == 10


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Let customers export their own data", "let-customers-export-their"),
        ("Don’t  break: the `API`!", "dont-break-the-api"),
        ("Größe ändern", "groe-andern"),
        ("日本語", "feature"),
        ("", "feature"),
        ("x" * 99, "x" * 60),
    ],
)
def test_slug_words(title: str, slug: str) -> None:
    assert slug_words(title, 4) == slug


MEAN = ["@ann", "`", "``", "```", "~~~", "<!-- kr {} -->", "<img src=x>", "![a](http://x)", "\n"]
MEAN += [
    "fixes",
    "#1",
    "[a](",
    "http://x",
    ")",
    "[a]: x",
    "&#64;",
    "fixes #1",
    "/go",
    "# ",
    "---",
    "|",
    "\\",
    " ",
]
MEAN += [
    "\n\n",
    "    ",
    "- ",
    "> ",
    "\u200b",
    "]",
    "[",
    "!",
    '"',
    "(",
    "text",
    "\t",
    "1. ",
    "*",
    "\r",
]
MESS = st.one_of(st.text(), st.lists(st.sampled_from(MEAN), max_size=40).map("".join))
AROUND = ["{}", "- {}", "**Why:** {}", "> {}", "a\n\n{}\n\nb"]


def rendered(body: str) -> str:
    """As GitHub would show it, less what stands in code, where nothing has any power."""
    html = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(body)
    return re.sub(r"(?s)<code.*?</code>", "", html)


@settings(max_examples=500, deadline=None)
@given(MESS, st.sampled_from(AROUND))
def test_no_power_is_left(text: str, around: str) -> None:
    safe = harmless(text, 2000)
    html = rendered(around.format(safe))
    assert not re.search(r"@[A-Za-z0-9]", html)
    assert not re.search(r"<(?:img|a|h[1-6])\b", html)
    assert "<!--" not in html
    assert not re.search(r"fixes:?\s+#1", html)
    assert not re.search(r"(?m)^/", safe)
    assert parse(around.format(safe)).commands == ()
    row = rendered(f"| a | b |\n|---|---|\n| {cell(text)} | last |")
    assert row.count("<td>") == 2
    assert "<td>last</td>" in row


@settings(max_examples=300, deadline=None)
@given(MESS, st.integers(0, 300))
def test_bounds(text: str, limit: int) -> None:
    assert len(harmless(text, limit)) <= limit
    assert len(one_line(text, limit)) <= limit
    assert "\n" not in cell(text)
    after = rendered(f"{harmless(text, 3000)}\n\nOurs.")
    assert "Ours." in after


@pytest.mark.parametrize(
    "text",
    [
        "@" * 65000,
        "`" * 65000,
        "[" * 65000,
        "[a](" * 16000,
        "fixes " * 10000,
        "`a" * 30000,
        "\\" * 65000,
        "- " * 30000,
        " ".join("`" * n for n in range(1, 355)),
        '[a](b "' * 9000,
    ],
    ids=lambda text: text[:12],
)
def test_long_ones_are_quick(text: str) -> None:
    start = time.process_time()
    harmless(text, 65000)
    cell(text, 65000)
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://evil.example/x?a=1.", "see `https://evil.example/x?a=1`."),
        ("(http://evil.example/a)", "(`http://evil.example/a`)"),
        ("WWW.evil.example, and", "`WWW.evil.example`, and"),
        ("ftp://evil.example/@mara", "`ftp://evil.example/@mara`"),
        ("https://known.example/a", "https://known.example/a"),
        ("`https://evil.example`", "`https://evil.example`"),
        ("the https:// scheme", "the https:// scheme"),
    ],
)
def test_a_bare_address_is_no_link(text: str, shown: str) -> None:
    assert harmless(text, 500, {"known.example"}) == shown
    assert harmless(shown, 500, {"known.example"}) == shown
