"""@degaulle's look at a pull request: the rules, a model beside them, and what of it is said.

The same for the service and for the Action: it reads GitHub, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.actions import LineNote, Note, ReviewPull
from app.agents.protocols import Account, AgentUnavailable
from app.agents.reviewing import ModelReview
from app.agents.reviewing import Reviewed as Shown
from app.events import Reviewed
from app.github.client import RepoClient
from app.github.reviews import Ours, OurThread, threads
from app.github.subject import Looked, read_subject
from app.review.checks import ordered, review
from app.review.choosing import Plan, Thread, plan
from app.review.model import Finding
from app.review.patches import read_patch
from app.texts.review import (
    check_conclusion,
    check_summary,
    check_title,
    finding_comment,
    finding_key,
    is_by_model,
    review_body,
)
from app.texts.safe import one_line

NOTES = 50
"""Annotations of a check."""


class Reviewer(Protocol):
    """A model that reviews: `app.agents.reviewing.ModelReviewer`."""

    async def review(self, subject: Shown, account: Account = ...) -> ModelReview:
        """Raises `AgentUnavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """Who is asked beside the rules, and on whose account."""

    reviewer: Reviewer
    account: Account


async def look(
    client: RepoClient,
    wanted: ReviewPull,
    ours: Ours,
    model: Model | None = None,
    opened: Ours | None = None,
) -> Reviewed:
    """Review a pull request as it is now. Raises `GitHubError`.

    `ours` tells which threads are; `opened` whether its opener binds it to the scopes.
    """
    place = wanted.place
    seen = await read_subject(client, place.number, wanted.folder, opened or ours, wanted.allowed)
    if wanted.head and wanted.head != seen.head:
        model = None  # whoever pushed since has another look at that: it is not paid for twice
    found = review(seen.subject)
    said_before = await threads(client, place.number, ours)  # what fails later is paid for again
    known = [
        Thread(key, one.resolved, one.id, one.path)
        for one in said_before
        if (key := finding_key(one.body))
    ]
    said, notes = await _ask(wanted, seen, found, model) if model else (None, [])
    if said is not None:
        found = ordered((*found, *said.findings))
        notes += _about(said)
    lines = {one.path: read_patch(one.patch).commentable for one in seen.subject.files}
    chosen = plan(found, known, lines, wanted.most)
    unseen = _unseen(said_before, said)
    chosen = replace(chosen, resolve=tuple(one for one in chosen.resolve if one.node not in unseen))
    by = said.model if said else ""
    return _reviewed(wanted, seen.head, found, chosen, by, notes)


def _unseen(before: Sequence[OurThread], said: ModelReview | None) -> frozenset[str]:
    """Threads of a model that none has looked at now: nobody knows whether their matter is gone."""
    paths = {*said.left_out, *said.shortened} if said else set()
    return frozenset(
        one.id for one in before if is_by_model(one.body) and (said is None or one.path in paths)
    )


async def _ask(
    wanted: ReviewPull, seen: Looked, found: tuple[Finding, ...], model: Model
) -> tuple[ModelReview | None, list[str]]:
    """The rules stand without the model, and say why they stand alone."""
    shown = Shown(
        title=seen.title,
        body=seen.body,
        files=seen.subject.files,
        spec=seen.subject.spec or "",
        decisions=wanted.answers,
        findings=found,
    )
    try:
        return await model.reviewer.review(shown, model.account), []
    except AgentUnavailable as error:
        return None, [f"The rules looked alone: {one_line(str(error), 300)}."]


def _about(said: ModelReview) -> list[str]:
    notes = []
    if said.alarm:
        notes.append(f"{said.alarm[:1].upper()}{said.alarm[1:]}: read it yourself.")
    if said.shortened or said.left_out:
        count = len(said.shortened) + len(said.left_out)
        named = ", ".join(f"`{path}`" for path in (*said.left_out, *said.shortened)[:5])
        notes.append(f"{count} files were too long to be shown to the model whole: {named}.")
    return notes


def _reviewed(
    wanted: ReviewPull,
    head: str,
    found: tuple[Finding, ...],
    chosen: Plan,
    by: str,
    notes: list[str],
) -> Reviewed:
    key = f"{wanted.key}:{head}" + ":draft" * wanted.draft
    told = {"key": key, "feature": str(wanted.place), "head": head, "by": by}
    nowhere = Plan(new=(), rest=(*chosen.new, *chosen.rest), standing=chosen.standing)
    return Reviewed(
        feature_id=wanted.feature_id,
        place=wanted.place,
        head=head,
        key=key,
        conclusion=check_conclusion(found),
        title=check_title(found),
        summary=check_summary(found, by, "\n".join(notes)),
        notes=tuple(_note(one) for one in found if one.path and one.line)[:NOTES],
        body=review_body(found, chosen, **told),
        without_lines=review_body(found, nowhere, **told),
        lines=tuple(
            LineNote(one.path, one.line, finding_comment(one, key=key))
            for one in chosen.new
            if one.line
        ),
        resolve=tuple(one.node for one in chosen.resolve if not one.resolved),
        found=len(found),
        news=bool(chosen.new),
        asked=wanted.asked,
        draft=wanted.draft,
        by=by,
    )


def _note(one: Finding) -> Note:
    return Note(one.path, one.line or 1, f"{one.message} {one.reason}".strip())
