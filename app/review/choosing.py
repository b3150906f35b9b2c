"""Which findings are written where, so that nothing is said twice (specs/1, US5.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.review.checks import ordered
from app.review.model import Finding


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of ours on the pull request; `key` is that of its finding, from its marker."""

    key: str
    resolved: bool
    node: str
    """GitHub's node id, by which it is resolved."""
    path: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Where each finding goes; each tuple has the severest first."""

    new: tuple[Finding, ...] = ()
    """Get a comment on their line."""
    rest: tuple[Finding, ...] = ()
    """Stand in the body of the review alone."""
    resolve: tuple[Thread, ...] = ()
    """Open threads whose finding is gone."""
    standing: tuple[Finding, ...] = ()
    """Have a thread. One that people resolved stays resolved."""


def plan(
    findings: Iterable[Finding],
    threads: Sequence[Thread],
    commentable: Mapping[str, frozenset[int]],
    most: int,
) -> Plan:
    """Places the findings; at most `most` of them get new comments on lines.

    `commentable` has the lines of each path's new file that GitHub takes a comment on.
    """
    every = ordered(findings)
    said = {thread.key for thread in threads}
    found = {one.key for one in every}
    fresh = [one for one in every if one.key not in said]
    placed = [one for one in fresh if one.line in commentable.get(one.path, frozenset())]
    new = tuple(placed[: max(0, most)])
    inline = {one.key for one in new}
    return Plan(
        new,
        tuple(one for one in fresh if one.key not in inline),
        tuple(one for one in threads if not one.resolved and one.key not in found),
        tuple(one for one in every if one.key in said),
    )
