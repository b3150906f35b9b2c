"""Where in a Markdown text something can be said to us, and where it is only shown.

Blocks come from markdown-it; what crosses blocks on GitHub (HTML comments, `<details>`) and
code inside a line is found here. All of it takes time in proportion to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NEWLINE = re.compile(r"\r\n?|\n")
_FOLDS = ("details", "blockquote", "pre", "code")
"""Elements whose content is hidden or not the writer's own words."""

_INLINE = re.compile(r"\\[^\w\s]|`+|<!--|<(/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>])[^<>]*>")
_HTML = re.compile(r"<!--|<(/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>])[^<>]*>")
_RAW_HTML = re.compile(r"\s*<(?![A-Za-z/])|\s*<(?:script|pre|style|textarea)\b", re.IGNORECASE)
_DEFINITION = re.compile(r" {0,3}\[[^\]]*\]:\s*")


class Ranges:
    """Stretches of a text, added from left to right."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        self._starts.append(start)
        self._ends.append(end)

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]

    def without(self, text: str, start: int, end: int) -> str:
        """`text[start:end]` less what of it lies in these stretches."""
        kept: list[str] = []
        for index in range(bisect_right(self._ends, start), len(self._starts)):
            if self._starts[index] >= end:
                break
            kept.append(text[start : max(start, self._starts[index])])
            start = min(end, self._ends[index])
        return "".join([*kept, text[start:end]])


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found; offsets count in the text as it was given, lines from 0."""

    text: str
    starts: tuple[int, ...]
    """Where each line starts; one entry more for the end of the text."""
    code: Ranges = field(default_factory=Ranges)
    """Code blocks, fenced or indented."""
    spans: Ranges = field(default_factory=Ranges)
    """Code inside a line."""
    comments: Ranges = field(default_factory=Ranges)
    tags: Ranges = field(default_factory=Ranges)
    folds: Ranges = field(default_factory=Ranges)
    """`<details>` and other elements that hide or quote."""
    live: set[int] = field(default_factory=set)
    """Lines on which the writer speaks: not code, quoted, folded away, or hidden."""

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset, 0, len(self.starts) - 1) - 1

    def line(self, number: int) -> str:
        return self.text[self.starts[number] : self.starts[number + 1]].rstrip("\r\n")


@cache
def _parser() -> MarkdownIt:
    """Blocks only. Link definitions are left to us: many of them take markdown-it very long."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def scan(text: str) -> Scan:
    """Find code, comments and folds, and the lines outside all of them."""
    starts = [0, *(found.end() for found in _NEWLINE.finditer(text)), len(text)]
    walk = _Walk(Scan(text, tuple(starts)))
    for token in _parser().parse(text):
        walk.step(token)
    walk.close_folds({}, len(text))
    return _without_dead_lines(walk.scan)


def _without_dead_lines(found: Scan) -> Scan:
    for number in sorted(found.live):
        line = found.line(number)
        at = found.starts[number] + len(line) - len(line.lstrip(" "))
        hiding = (found.spans, found.comments, found.tags, found.folds)
        before = number - 1
        if any(at in ranges for ranges in hiding) or (
            before >= 0 and _DEFINITION.fullmatch(found.line(before))
        ):
            found.live.discard(number)
    return found


class _Walk:
    """Goes through the blocks in order and remembers which elements are open."""

    def __init__(self, found: Scan) -> None:
        self.scan = found
        self._open: dict[str, int] = {}
        self._folded_from = 0
        self._containers: list[dict[str, int]] = []
        self._quotes = 0
        self._table = False
        self._until = 0
        """The end of a comment that goes on after its block."""
        self._here = 0
        """The end of the last piece that was read."""
        self._last_comment_end = found.text.rfind("-->")

    def step(self, token: Token) -> None:
        match token.type:
            case "blockquote_open" | "list_item_open":
                self._containers.append(dict(self._open))
                self._quotes += token.type == "blockquote_open"
            case "blockquote_close" | "list_item_close":
                self._quotes -= token.type == "blockquote_close"
                self._leave()
            case "table_open" | "table_close":
                self._table = token.type == "table_open"
            case "fence" | "code_block":
                start, end = self._offsets(token)
                if start >= self._until:
                    self.scan.code.add(start, end)
            case "html_block":
                self._piece(token, html=True, live=not _RAW_HTML.match(token.content))
            case "inline" if not self._table:
                self._piece(token, html=False, live=True)

    def _offsets(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return self.scan.starts[first], self.scan.starts[last]

    def _leave(self) -> None:
        """What was opened inside a list item or a quote ends with it."""
        before = self._containers.pop()
        if self._open != before:
            still = {name: min(count, self._open.get(name, 0)) for name, count in before.items()}
            self.close_folds(still, self._here)

    def close_folds(self, before: dict[str, int], end: int) -> None:
        was = any(self._open.values())
        self._open = before
        if was and not any(before.values()):
            self.scan.folds.add(self._folded_from, end)

    def _piece(self, token: Token, *, html: bool, live: bool) -> None:
        """Read one paragraph, heading or HTML block."""
        start, end = self._offsets(token)
        self._here = end
        if live and not self._quotes:
            self.scan.live.update(range(*(token.map or (0, 0))))
        spans = {} if html else _runs(self.scan.text, start, end)
        at = max(start, self._until)
        pattern = _HTML if html else _INLINE
        while at < end and (found := pattern.search(self.scan.text, at, end)):
            at = found.end()
            if found.group() == "<!--":
                at = self._comment(found.start(), end, html=html)
            elif found.group().startswith("`"):
                at = self._span(found, spans)
            elif found.group().startswith("<"):
                self.scan.tags.add(found.start(), found.end())
                self._tag(found)

    def _comment(self, start: int, end: int, *, html: bool) -> int:
        """A comment, wherever it ends. One that never does hides only in an HTML block."""
        text = self.scan.text
        if self._last_comment_end >= start + 2:
            close = text.find("-->", start + 2) + 3
        elif html:
            close = len(text)
        else:
            return start + 4
        self.scan.comments.add(start, close)
        self._until = close
        return close

    def _span(self, found: re.Match[str], runs: dict[int, list[int]]) -> int:
        length = len(found.group())
        same = runs.get(length, [])
        index = bisect_left(same, found.end())
        if index == len(same):
            return found.end()
        self.scan.spans.add(found.start(), same[index] + length)
        return same[index] + length

    def _tag(self, found: re.Match[str]) -> None:
        name = found.group(2).lower()
        if name not in _FOLDS:
            return
        was = any(self._open.values())
        change = -1 if found.group(1) else 1
        self._open[name] = max(0, self._open.get(name, 0) + change)
        now = any(self._open.values())
        if now and not was:
            self._folded_from = found.start()
        elif was and not now:
            self.scan.folds.add(self._folded_from, found.end())


def _runs(text: str, start: int, end: int) -> dict[int, list[int]]:
    """Runs of backticks by their length: a span ends at the next run as long as its first."""
    runs: dict[int, list[int]] = {}
    for found in re.compile("`+").finditer(text, start, end):
        runs.setdefault(len(found.group()), []).append(found.start())
    return runs
