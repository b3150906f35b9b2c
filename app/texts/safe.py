"""Text of others, made fit to stand in our comments.

What people, models and files say is data: it must not ping anybody, close an issue, load a
picture, hide anything, give a command to a bot, or break the comment that it is quoted in. All
of it is decided line by line, so that the result is safe wherever a comment puts it: after a
few words, in a list, in a quote.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection

_BREAK = "&#8203;"
"""A zero-width space as an entity: GitHub finds no `@name` across it, and readers see nothing.

`&#64;name` would not do: GitHub looks for names after it has decoded entities.
"""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_NEWLINE = re.compile("\r\n?|[\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_FENCE = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)")
_CONTAINERS = re.compile(r"(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]+\S)))*[ \t]*")
_LINE_START = re.compile(r"(?:/|#{1,6}(?:\s|$)|=+[ \t]*$|(?:[-_*][ \t]*)+$)")
_INLINE = re.compile(r"\\[^\w\s<]|`+")
_CLOSING = r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
_PROSE = re.compile(
    r"(?P<link>!?\[[^\[\]]*\]\([^()\s<>]*(?:[ \t]+\"[^\"]*\")?\))"
    r"|(?P<url>\b(?:(?:https?|ftp)://|www\.)[^\s<>`|]*[^\s<>`|.,;:!?*_~'\"()\[\]])"
    r"|(?P<at>@)"
    r"|(?P<html>\\?<)"
    r"|(?P<entity>&(?=[#A-Za-z]))"
    r"|(?P<picture>!(?=\[))"
    r"|(?P<target>(?<=\])[(\[:])"
    rf"|(?P<closing>{_CLOSING}(?=:?\s+\S{{0,200}}(?:#\d|GH-\d|/issues/\d|/pull/\d)|:?\s*$))",
    re.IGNORECASE,
)
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s<>]*)")
_HOST = re.compile(r"https://([A-Za-z0-9.-]+)(?::[0-9]+)?(?=[/?#]|$)")


def visible(text: str) -> str:
    """The text without characters that nobody sees; only line breaks and tabs are left.

    Zero-width and bidirectional characters, tag characters and controls go; line breaks become
    `\\n`. Half a surrogate pair, which cannot be stored, becomes the replacement character.
    """
    return _SURROGATE.sub("\ufffd", _HIDDEN.sub("", _NEWLINE.sub("\n", text)))


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; where something is missing the text ends in `…`."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…" if limit > 0 else ""


def one_line(text: str, limit: int) -> str:
    """The text on one line, blanks folded, at most `limit` characters."""
    return cut(" ".join(visible(text).split()), limit)


def harmless(text: str, limit: int, hosts: Collection[str] = ()) -> str:
    """Markdown that keeps its look and loses its powers; at most `limit` characters.

    Mentions ping nobody, `fixes #1` closes nothing, HTML and entities show as they were typed,
    headings and link definitions are plain text, pictures and links show their address unless
    it is `https` on one of `hosts`, and no line starts with a slash. Code stays as it is.
    """
    clean = visible(text).strip("\n")
    size = min(len(clean), limit)
    while True:
        done = _tamed(cut(clean, size), hosts)
        if len(done) <= limit or size <= 0:
            return done if len(done) <= limit else ""
        size = min(size - 1, size * limit // len(done))


def quote(text: str, limit: int) -> str:
    """The text as a block quote; `limit` counts without the quote marks."""
    return "\n".join(f"> {line}".rstrip() for line in harmless(text, limit).split("\n"))


def fence_safe(text: str, limit: int, info: str = "") -> str:
    """The text in a code block whose fence is longer than any in the text."""
    body = cut(visible(text), limit)
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{re.sub('[^A-Za-z0-9_+.-]', '', info)}\n{body}\n{fence}"


def cell(text: str, limit: int = 4000) -> str:
    """Harmless text for one cell of a Markdown table: one line, and no bar ends the cell."""
    return re.sub(r"\\*\|", r"\\|", harmless(one_line(text, limit), limit))


def slug_words(title: str, n: int) -> str:
    """The first `n` words of a title for names of branches and folders; `feature` for none."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall("[a-z0-9]+", re.sub("['`]", "", plain))
    return "-".join(words[:n])[:60].strip("-") or "feature"


def _tamed(text: str, hosts: Collection[str]) -> str:
    """Every line made harmless; code blocks at the margin are kept, and closed."""
    lines: list[str] = []
    fence = ""
    last = text.count("\n")
    for number, line in enumerate(text.split("\n")):
        if fence:
            if _closes(line, fence):
                fence = ""
            lines.append(f" {line}" if line.startswith("/") else line)
        elif number < last and (opened := _FENCE.fullmatch(line)):
            fence = opened.group(1) or opened.group(2)
            lines += [line] if lines else ["", line]
        else:
            lines.append(_line(line, hosts))
    if fence:
        lines.append(fence)
    return "\n".join(lines)


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t")
    near = len(line) - len(line.lstrip(" ")) <= 3
    return near and len(bare) >= len(fence) and set(bare) == {fence[0]}


def _line(line: str, hosts: Collection[str]) -> str:
    """One line outside a code block.

    A fence that is not at the margin becomes text: where its block would end depends on what
    stands around it.
    """
    found = _CONTAINERS.match(line)
    indent = found.group() if found else ""
    bare = line[len(indent) :]
    if _FENCE.fullmatch(bare):
        return f"{indent}\\{bare[0]}" + _inline(bare[1:].replace("`", "\\`"), hosts)
    return indent + ("\\" if _LINE_START.match(bare) else "") + _inline(bare, hosts)


def _inline(line: str, hosts: Collection[str]) -> str:
    """Prose made harmless, code spans kept; a backtick without its partner is escaped."""
    ends: dict[int, list[int]] = {}
    for run in re.finditer("`+", line):
        ends.setdefault(len(run.group()), []).append(run.start())
    parts: list[str] = []
    done = at = 0
    while found := _INLINE.search(line, at):
        at = found.end()
        if not found.group().startswith("`"):
            continue
        parts.append(_prose(line[done : found.start()], hosts))
        same = ends.get(len(found.group()), [])
        index = bisect_left(same, at)
        if index < len(same):
            at = same[index] + len(found.group())
            parts.append(_span(line[found.start() : at], hosts))
        else:
            parts.append("\\`" * len(found.group()))
        done = at
    return "".join([*parts, _prose(line[done:], hosts)])


def _span(span: str, hosts: Collection[str]) -> str:
    """A code span as it is, but where a bar in it could end a table cell, and so the span."""
    return _prose(span, hosts) if "|" in span else span


def _prose(text: str, hosts: Collection[str]) -> str:
    replace: dict[str, Callable[[str], str]] = {
        "link": lambda link: _link(link, hosts),
        "url": lambda url: _address(url, hosts),
        "at": lambda _: "@" + _BREAK,
        "html": lambda _: "&lt;",
        "entity": lambda _: "&amp;",
        "picture": lambda _: "!\\",
        "target": lambda bracket: "\\" + bracket,
        "closing": lambda word: word + _BREAK,
    }
    return _PROSE.sub(lambda found: replace[found.lastgroup or ""](found.group()), text)


def _address(url: str, hosts: Collection[str]) -> str:
    """A bare address, which GitHub would make a link: in code it can be read and copied only."""
    host = _HOST.match(url)
    return url if host and host.group(1).lower() in hosts else f"`{url}`"


def _link(link: str, hosts: Collection[str]) -> str:
    """A link to a known host stays; any other one, and every picture, shows its address."""
    found = _LINK.match(link)
    picture, label, url = found.groups() if found else ("", link, "")
    host = _HOST.match(url)
    text = _prose(label, ())
    if not picture and host and host.group(1).lower() in hosts:
        return f"[{text}]({url})"
    shown = _prose(url, ())
    return f"{text} ({shown})" if text.strip() and text != shown else shown


_POWERS = (
    (re.compile(r"#(?=\d)"), "# "),
    (re.compile(r"\bGH-(?=\d)", re.IGNORECASE), "GH "),
    (re.compile(r"://"), ": "),
    (re.compile(r"\[(?=[^\]]*\b(?:ci|actions)\b)", re.IGNORECASE), "("),
    (re.compile(r"@(?=\w)"), ""),
)


def powerless(text: str) -> str:
    """Text for a commit or a title: it closes no issue, names nobody, and skips no run."""
    for pattern, instead in _POWERS:
        text = pattern.sub(instead, text)
    return text


def code(text: str) -> str:
    """A path or a name as code: no sign in it ends that, or a cell of a table."""
    plain = one_line(visible(text), 200).replace("`", "'").replace("|", "│")
    return f"`{plain or ' '}`"
