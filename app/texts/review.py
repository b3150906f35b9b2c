"""What @degaulle writes about a pull request: comments on lines, the review, the check run.

Lines, paths and whatever a model says are data: no secret, mention or markup of theirs gets out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from app.review.choosing import Plan
from app.review.model import Finding, Severity
from app.review.names import code
from app.texts.marker import marker, read_marker
from app.texts.safe import cell, harmless, one_line, visible
from app.texts.secrets import without_secrets

LIMIT = 65_000
"""Characters of any text here; GitHub takes 65,535."""
_SHOWN = 5
"""Rows of a table that is not folded."""
_LONGEST_SUGGESTION = 4000
_PERSONA = "**@degaulle** · reviewer"
_ICONS = {Severity.BLOCKING: "🛑", Severity.IMPORTANT: "⚠️", Severity.MINOR: "💡"}
_KEY = re.compile(r"(?:\A|/)finding/([0-9a-f]{16})\Z")
_SAID_BY = "Said by "
_RUNS = re.compile("`+")


def finding_comment(finding: Finding, *, key: str) -> str:
    """The comment on a line. `key` is the effect's; the finding's own key is added to it."""
    about = f"finding/{finding.key}"
    text = [
        marker("review", f"{key}/{about}" if key and key != finding.key else about),
        _PERSONA,
        f"{_ICONS[finding.severity]} **{finding.severity.capitalize()}**:"
        f" {_prose(finding.message, 2000)}",
        _prose(finding.reason, 4000),
        *_suggestion(finding.suggestion),
        *([f"{_SAID_BY}{_model(finding.by)}, and not by a rule."] if finding.by else []),
    ]
    return "\n\n".join(part for part in text if part).replace("\n\n", "\n", 1)


def finding_key(body: str) -> str | None:
    """The key of the finding that a comment of ours is about; None for any other comment.

    Only to be trusted in comments of our own App.
    """
    fields = read_marker(body) or {}
    found = _KEY.search(str(fields.get("key", ""))) if fields.get("kind") == "review" else None
    return found.group(1) if found else None


def is_by_model(body: str) -> bool:
    """Whether a finding's comment is a model's, and not a rule's."""
    return _SAID_BY in body


def review_body(
    findings: Sequence[Finding],
    plan: Plan,
    *,
    key: str,
    feature: str | None,
    head: str,
    by: str,
) -> str:
    """The review itself: what was found, what could not be put on a line, what to do next.

    `feature` is `owner/repo#N`, `head` the commit that was looked at, `by` a model or empty.
    """
    start = [
        marker("review", key, feature=feature or ""),
        _PERSONA,
        "",
        f"@&#8203;degaulle {_headline(findings)}.{_places(plan)}",
        "",
    ]
    end = [_next(findings), "", f"{_looked(by)} at `{one_line(head, 40)[:7]}`."]
    table = _table(plan.rest, LIMIT - len("\n".join([*start, *end])) - 400)
    if len(plan.rest) > _SHOWN:
        head_line = f"<details><summary>{len(plan.rest)} that stand on no line</summary>"
        table = [head_line, "", *table, "", "</details>"]
    return "\n".join([*start, *table, *([""] if table else []), *end])


def check_title(findings: Sequence[Finding]) -> str:
    """One line, for `baron/review`."""
    return f"@degaulle {_headline(findings)}"


def check_conclusion(findings: Iterable[Finding]) -> str:
    """`failure` exactly if a finding is blocking, else `success`."""
    blocking = any(one.severity is Severity.BLOCKING for one in findings)
    return "failure" if blocking else "success"


def check_summary(findings: Sequence[Finding], by: str, note: str) -> str:
    """Everything that was found, as far as it fits. `note` is a sentence more, or empty."""
    said = [_prose(note, 1000), ""] if note.strip() else []
    start = [f"{_looked(by)}.", "", *said]
    end = ["", _next(findings)]
    return "\n".join(
        [*start, *_table(findings, LIMIT - len("\n".join([*start, *end])) - 400), *end]
    )


def _headline(findings: Sequence[Finding]) -> str:
    """`found 2 things, 1 of which blocks`."""
    count = len(findings)
    blocking = sum(one.severity is Severity.BLOCKING for one in findings)
    if not count:
        return "found nothing"
    if count == 1:
        return "found 1 thing, which blocks" if blocking else "found 1 thing, which does not block"
    if not blocking:
        return f"found {count} things, none of which blocks"
    return f"found {count} things, {blocking} of which block{'s' if blocking == 1 else ''}"


def _places(plan: Plan) -> str:
    """Where the findings are that the body does not show."""
    new, old = len(plan.new), len(plan.standing)
    told = [f"{new} {'is' if new == 1 else 'are'} on the lines"] if new else []
    told += [f"{old} {'was' if old == 1 else 'were'} said before"] if old else []
    gone = len(plan.resolve)
    told += [f"{gone} earlier {'one is' if gone == 1 else 'ones are'} done"] if gone else []
    return f" {'; '.join(told)}." if told else ""


def _next(findings: Sequence[Finding]) -> str:
    if any(one.severity is Severity.BLOCKING for one in findings):
        return "**Next**: correct what blocks and push. Every push is looked at anew."
    if findings:
        return "**Next**: nothing blocks. Take what helps, resolve the rest; people decide."
    return "**Next**: nothing is left to correct here. People decide what becomes of it."


def _looked(by: str) -> str:
    return f"Looked at by rules and by {_model(by)}" if by else "Looked at by rules"


def _table(findings: Sequence[Finding], room: int) -> list[str]:
    """Rows as far as there is room, and how many there are besides."""
    if not findings:
        return []
    rows = [_row(one) for one in findings[:1000]]
    sizes = accumulate(len(row) + 1 for row in rows)
    fit = sum(size <= room for size in sizes)
    more = len(findings) - fit
    table = ["| | Where | What | Why |", "|---|---|---|---|", *rows[:fit]]
    return [*table, "", f"… and {more} more."] if more else table


def _row(one: Finding) -> str:
    place = f"{code(one.path)}{f':{one.line}' if one.line else ''}" if one.path else "—"
    why = cell(without_secrets(one.reason)[0], 600)
    what = cell(without_secrets(one.message)[0], 600) + (f" ({_model(one.by)})" if one.by else "")
    return f"| {_ICONS[one.severity]} {one.severity} | {place} | {what} | {why} |"


def _model(name: str) -> str:
    return code(one_line(name, 80))


def _prose(text: str, limit: int) -> str:
    """On one line, so that no block can be in it: GitHub would take one for a suggestion."""
    return harmless(one_line(without_secrets(text)[0], limit), limit + limit // 5)


def _suggestion(text: str | None) -> list[str]:
    """GitHub's block, whose fence is longer than any in it; an empty one deletes the line.

    What people cannot see all of is not put before them to be taken over with one click.
    """
    if text is None or len(text) > _LONGEST_SUGGESTION:
        return []
    plain = text.replace("\r\n", "\n")
    if visible(plain) != plain or without_secrets(plain)[1]:
        return []
    fence = "`" * max(3, 1 + max((len(run) for run in _RUNS.findall(plain)), default=0))
    lines = [plain.removesuffix("\n")] if plain else []
    return ["\n".join([f"{fence}suggestion", *lines, fence])]
