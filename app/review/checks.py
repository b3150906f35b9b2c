"""All rules of a review, and what they find in a pull request (specs/1, US5.5).

A rule is sure of what it says, or says nothing. None looks at anything but the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from app.review.documents import undone, unplanned
from app.review.lines import conflicts, leftovers, secrets
from app.review.model import Finding, Severity, Subject
from app.review.whole import binary, large, partial, scope, unjudged, untested
from app.texts.secrets import without_secrets

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    scope,
    secrets,
    conflicts,
    large,
    binary,
    untested,
    unplanned,
    undone,
    leftovers,
    partial,
    unjudged,
)
_ORDER = tuple(Severity)


def review(subject: Subject) -> tuple[Finding, ...]:
    """What the rules find, blocking first, then by path and line; each matter once."""
    return ordered(_told(one) for check in CHECKS for one in check(subject))


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Severest first, then by path and line; of several with the same key the first."""
    kept: dict[str, Finding] = {}
    for one in sorted(findings, key=_rank):
        kept.setdefault(one.key, one)
    return tuple(kept.values())


def _rank(one: Finding) -> tuple[int, str, int, str]:
    return _ORDER.index(one.severity), one.path, one.line or 0, one.rule


def _told(one: Finding) -> Finding:
    """Whatever a line or a name says beside the matter, no secret goes on from here."""
    return replace(
        one,
        message=without_secrets(one.message)[0],
        reason=without_secrets(one.reason)[0],
        excerpt=without_secrets(one.excerpt)[0],
    )
