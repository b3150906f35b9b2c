"""A pull request: what it brings is checked where everybody sees it."""

from __future__ import annotations

from app.actions import Action, JudgePull, Note, ShowCheck
from app.events import AllowanceEnded, PullChanged, PullJudged
from app.features.model import Place
from app.handlers.facts import Facts, Wrong
from app.handlers.proposals import is_own, reopened
from app.handlers.reviewing import look
from app.handlers.turn import Turn
from app.scopes.pulls import (
    SCOPE_FILE,
    Allowance,
    Judged,
    Pull,
    Trespass,
    is_bound,
    judge,
    owners_of,
)
from app.texts import checks

CONFIG = "baron/config"
SCOPE = "baron/scope"


def changed(event: PullChanged, facts: Facts) -> list[Action]:
    """`baron/scope` on every head, `baron/config` where it brings a configuration."""
    place = event.issue.place
    actions: list[Action] = []
    if facts.proposed is not None:
        actions.append(_config(place, event.head, facts.proposed))
    if facts.pull is not None:
        actions.append(_worst(event, facts, facts.pull))
    return [*actions, *_of_feature(event, facts)]


def _of_feature(event: PullChanged, facts: Facts) -> list[Action]:
    """The feature's own is looked through; reopened, it goes on."""
    feature = facts.feature
    if feature is None or not feature.approved_by or event.branch != feature.branch:
        return []
    if event.reopened and feature.stopped_by == "pull" and not feature.pull:
        turn = Turn(facts, feature)
        reopened(turn, event.issue.place.number, event.sender.login)
        return [*turn.actions(), look(facts, event, turn.feature)]
    return [look(facts, event, feature)] if is_own(feature, event.issue, event.branch) else []


def _worst(event: PullChanged, facts: Facts, pull: Pull) -> ShowCheck | JudgePull:
    """The check belongs to the commit: another pull request of it must not turn it green."""
    place = event.issue.place
    found = [
        scope(place, event.head, event.base, one, facts.allowed) for one in (pull, *facts.others)
    ]
    return next((one for one in found if not _passes(one)), found[0])


def _passes(check: ShowCheck | JudgePull) -> bool:
    return isinstance(check, ShowCheck) and check.conclusion == "success"


def ended(event: AllowanceEnded, facts: Facts) -> list[Action]:
    """What was allowed is allowed no more: the check says so, if that commit still counts."""
    if facts.pull is None or facts.head is None or facts.head.sha != event.head:
        return []
    return [scope(event.place, event.head, facts.head.base, facts.pull, facts.allowed)]


def scope(
    place: Place, head: str, base: str, pull: Pull, allowed: tuple[Allowance, ...]
) -> ShowCheck | JudgePull:
    """It always reports: a check that is required and silent would block for ever."""
    if not pull.complete:
        key = f"judge:{place.repo_id}:{place.number}"
        return JudgePull(key, 0, place, head, base, pull, allowed)
    if not is_bound(pull):
        return _people(place, head)
    judged = judge(pull, {one.path for one in allowed})
    return _verdict(place, head, pull, judged, len(pull.paths), allowed)


def judged(event: PullJudged, facts: Facts) -> list[Action]:
    """The verdict on one that had to be read from git."""
    place, head = event.place, event.head
    if event.error:
        title, summary = "It could not be read", checks.unreadable_summary(event.error)
        return [_check(place, head, SCOPE, title, summary, (), failed=True)]
    if not event.bound:
        return [_people(place, head)]
    known = Pull(scopes="" if event.own else None, owners=event.owners)
    return [_verdict(place, head, known, event.judged, event.paths, event.allowed)]


def undecided(place: Place, head: str) -> ShowCheck:
    """It could not be decided: a required check that never reports would block without a word."""
    title, summary = "It could not be judged", checks.undecided_summary()
    return _check(place, head, SCOPE, title, summary, (), failed=True)


def _people(place: Place, head: str) -> ShowCheck:
    title = "Written by people: scopes bind agents"
    return _check(place, head, SCOPE, title, checks.people_summary(), (), failed=False)


def _verdict(
    place: Place,
    head: str,
    pull: Pull,
    judged: Judged,
    paths: int,
    allowed: tuple[Allowance, ...],
) -> ShowCheck:
    title = checks.scope_title(judged, paths)
    summary = checks.scope_summary(judged, own=pull.scopes is not None, allowed=allowed)
    failed = bool(judged.trespasses or judged.flaws)
    notes = tuple([Note(SCOPE_FILE, flaw.line, flaw.reason) for flaw in judged.flaws]
                  + [_trespass(one, pull) for one in judged.trespasses])  # fmt: skip
    return _check(place, head, SCOPE, title, summary, notes, failed=failed)


def _trespass(one: Trespass, pull: Pull) -> Note:
    return Note(one.path, 1, checks.trespass(one, owners_of(pull, one.path)))


def _config(place: Place, head: str, wrong: tuple[Wrong, ...]) -> ShowCheck:
    title = "The configuration may come into force"
    if wrong:
        title = f"{len(wrong)} {'mistake' if len(wrong) == 1 else 'mistakes'} in the configuration"
    summary, notes = checks.config_summary(wrong), tuple(_note(one) for one in wrong)
    return _check(place, head, CONFIG, title, summary, notes, failed=bool(wrong))


def _check(
    place: Place,
    head: str,
    name: str,
    title: str,
    summary: str,
    notes: tuple[Note, ...],
    *,
    failed: bool,
) -> ShowCheck:
    return ShowCheck(
        key=f"check:{name}:{place.repo_id}:{head}",
        feature_id=None,
        place=place,
        name=name,
        head=head,
        conclusion="failure" if failed else "success",
        title=title,
        summary=summary,
        notes=notes,
    )


def _note(wrong: Wrong) -> Note:
    where = f"{wrong.where}: " if wrong.where else ""
    return Note(wrong.file, max(wrong.line, 1), f"{where}{wrong.what}")
