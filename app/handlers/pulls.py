"""A pull request: what it brings is checked where everybody sees it."""

from __future__ import annotations

from app.actions import Action, Note, ShowCheck
from app.events import PullChanged
from app.handlers.facts import Facts, Wrong
from app.handlers.reviewing import look
from app.scopes.pulls import SCOPE_FILE, Judged, Pull, Trespass, is_by_agents, judge
from app.texts import checks

CONFIG = "baron/config"
SCOPE = "baron/scope"


def changed(event: PullChanged, facts: Facts) -> list[Action]:
    """`baron/scope` on every head, `baron/config` where it brings a configuration."""
    actions: list[Action] = []
    if facts.proposed is not None:
        actions.append(_config(event, facts.proposed))
    if facts.pull is not None:
        actions.append(_scope(event, facts.pull))
    feature = facts.feature
    if feature is not None and feature.approved_by and event.branch == feature.branch:
        actions.append(look(facts, event, feature))
    return actions


def _config(event: PullChanged, wrong: tuple[Wrong, ...]) -> ShowCheck:
    title = "The configuration may come into force"
    if wrong:
        title = f"{len(wrong)} {'mistake' if len(wrong) == 1 else 'mistakes'} in the configuration"
    summary, notes = checks.config_summary(wrong), tuple(_note(one) for one in wrong)
    return _check(event, CONFIG, title, summary, notes, failed=bool(wrong))


def _scope(event: PullChanged, pull: Pull) -> ShowCheck:
    """It always reports: a check that is required and silent would block for ever."""
    if not is_by_agents(pull):
        title = "Written by people: scopes bind agents"
        return _check(event, SCOPE, title, checks.people_summary(), (), failed=False)
    if not pull.complete:
        title = "Too large to be judged"
        return _check(event, SCOPE, title, checks.too_large_summary(), (), failed=True)
    judged = judge(pull)
    title = checks.scope_title(judged, len(pull.paths))
    summary = checks.scope_summary(judged, own=pull.scopes is not None)
    failed = bool(judged.trespasses or judged.flaws)
    return _check(event, SCOPE, title, summary, _scope_notes(judged), failed=failed)


def _scope_notes(judged: Judged) -> tuple[Note, ...]:
    flaws = [Note(SCOPE_FILE, flaw.line, flaw.reason) for flaw in judged.flaws]
    return tuple(flaws + [_trespass(one) for one in judged.trespasses])


def _trespass(one: Trespass) -> Note:
    return Note(one.path, 1, checks.trespass(one))


def _check(
    event: PullChanged,
    name: str,
    title: str,
    summary: str,
    notes: tuple[Note, ...],
    *,
    failed: bool,
) -> ShowCheck:
    place = event.issue.place
    return ShowCheck(
        key=f"check:{name}:{place.repo_id}:{event.head}",
        feature_id=None,
        place=place,
        name=name,
        head=event.head,
        conclusion="failure" if failed else "success",
        title=title,
        summary=summary,
        notes=notes,
    )


def _note(wrong: Wrong) -> Note:
    where = f"{wrong.where}: " if wrong.where else ""
    return Note(wrong.file, max(wrong.line, 1), f"{where}{wrong.what}")
