"""Findings in added lines: secrets, conflict markers, leftovers of debugging (specs/1, US5.5)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, takewhile

from app.review.model import Changed, Finding, Severity, Subject
from app.review.names import is_test, suffix
from app.review.patches import Line, read_patch
from app.texts.safe import cut
from app.texts.secrets import Secret, find_secrets, without_secrets

_LONGEST = 1000
"""Characters of a line that leftovers are looked for in; a longer one was made by a tool."""
_EXCERPT = 300


def secrets(subject: Subject) -> Iterator[Finding]:
    """What looks like a secret, by the line on which it begins. Never repeats it."""
    for file in subject.files:
        for run in read_patch(file.patch).runs:
            yield from _secrets(file.path, run)


def _secrets(path: str, run: Sequence[Line]) -> Iterator[Finding]:
    """One finding a line; a key of several lines is found as they stand together."""
    text = "\n".join(line.text for line in run)
    ends = list(accumulate(len(line.text) + 1 for line in run))
    found = find_secrets(text)
    at = -1
    for number, secret in enumerate(found):
        if at >= 0 and secret.start < ends[at]:
            continue
        at = bisect_right(ends, secret.start)
        start = ends[at] - len(run[at].text) - 1
        # the one before may end on this line
        near = (found[index] for index in range(max(0, number - 1), len(found)))
        excerpt = _redacted(text, near, start, ends[at] - 1)
        yield _secret(path, run[at].number, secret.kind, excerpt)


def _redacted(text: str, found: Iterable[Secret], start: int, end: int) -> str:
    """The text from `start` to `end` with the kind of each secret in its place."""
    parts, at = list[str](), start
    for secret in takewhile(lambda secret: secret.start < end, found):
        if secret.end > start:
            parts += [text[at : max(at, secret.start)], f"[removed: {secret.kind}]"]
            at = min(end, secret.end)
    return cut("".join([*parts, text[at:end]]), _EXCERPT)


def _excerpt(line: Line) -> str:
    return cut(without_secrets(line.text)[0], _EXCERPT)


def _secret(path: str, line: int, kind: str, excerpt: str) -> Finding:
    return Finding(
        "secret",
        Severity.BLOCKING,
        "This looks like a secret" + (f" ({kind})." if kind != "secret" else "."),
        "Everybody who can read the repository can use it, and it stays in the history when the"
        " line is gone: revoke it first, then read a new one from where secrets are kept.",
        path,
        line,
        excerpt,
    )


_PROSE = frozenset("md mdx markdown rst adoc txt eml".split())
_OPENS, _BASE, _CLOSES = "<<<<<<< ", "||||||| ", ">>>>>>> "


def conflicts(subject: Subject) -> Iterator[Finding]:
    """Markers of a merge that was not finished: one finding a conflict, at its first marker.

    A row of `=` alone underlines a heading, and `>>>>>>>` alone is an old quote in prose.
    """
    for file in subject.files:
        inside = False
        for line in read_patch(file.patch).added:
            if line.text.startswith(_OPENS):
                inside = True
            elif not line.text.startswith((_BASE, _CLOSES)):
                continue
            elif inside:
                inside = not line.text.startswith(_CLOSES)
                continue
            elif suffix(file.path) in _PROSE:
                continue
            yield _conflict(file.path, line)


def _conflict(path: str, line: Line) -> Finding:
    return Finding(
        "conflict",
        Severity.BLOCKING,
        "A marker of a merge conflict was committed.",
        "The file holds both sides and works with neither: keep one, and take the markers out.",
        path,
        line.number,
        _excerpt(line),
    )


_SCRIPTS = frozenset("js jsx ts tsx mjs cjs vue svelte".split())
_PYTHON = r"(?:breakpoint\(\)|import i?pdb|from i?pdb import set_trace|i?pdb\.set_trace\(\))"
_HALTS = {
    "py": re.compile(rf"(?:^|[:;])\s*{_PYTHON}(?!\w)"),
    "js": re.compile(r"(?:^|[;{)])\s*debugger\s*(?:;|$)"),
}
_ALONE = {
    "py": re.compile(rf"{_PYTHON}(?:; ?{_PYTHON})*;?"),
    "js": re.compile(r"debugger ?;?"),
}
_ONLY = re.compile(
    r"^\s*(?:(?:it|test|describe|context|suite|specify)(?:\.\w{1,20}){0,2}\.only\("
    r"|fdescribe\(|fit\(\s*[\"'`])"
)


def leftovers(subject: Subject) -> Iterator[Finding]:
    """What people write while they look for a fault and take out afterwards: the sure ones."""
    for file in subject.files:
        language = "js" if suffix(file.path) in _SCRIPTS else suffix(file.path)
        if language in _HALTS:
            yield from _leftovers(file, language)


def _leftovers(file: Changed, language: str) -> Iterator[Finding]:
    before = ""
    for line in read_patch(file.patch).lines:
        text = line.text.strip()
        if line.added and len(text) <= _LONGEST:
            if _HALTS[language].search(text):
                # What a colon opens may not stay empty in Python.
                alone = _ALONE[language].fullmatch(text) and not before.endswith(":")
                yield _halt(file.path, line, "" if alone else None)
            elif language == "js" and is_test(file.path) and _ONLY.match(text):
                yield _only(file.path, line)
        before = text


def _halt(path: str, line: Line, suggestion: str | None) -> Finding:
    message = "This halts the program for a debugger."
    reason = "Nobody sits in front of it when it runs elsewhere: take the line out."
    return Finding(
        "leftover",
        Severity.MINOR,
        message,
        reason,
        path,
        line.number,
        _excerpt(line),
        suggestion,
    )


def _only(path: str, line: Line) -> Finding:
    message = "Only this test runs; all others of the file are skipped."
    reason = "The tests pass whatever the others would say: run all of them."
    return Finding("leftover", Severity.MINOR, message, reason, path, line.number, _excerpt(line))
