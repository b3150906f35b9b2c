"""`/allow path reason`: an owner of a path lets one commit change it, for a time (specs/1, US5)."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action, SaveAllowance
from app.commands import Allow
from app.events import Commented
from app.handlers.facts import Facts, Permission
from app.handlers.outcome import Outcome, refusal
from app.handlers.pulls import scope
from app.handlers.wanting import wanted
from app.scopes.pulls import Allowance, Pull, judge, owners_of
from app.texts import checks
from app.texts.safe import one_line, visible

REASON = 500
"""Characters of a reason that are kept."""


def allow(facts: Facts, command: Allow, event: Commented) -> tuple[Outcome, list[Action]]:
    """Keep it, and draw the check anew."""
    if not event.issue.pull_request or facts.head is None or facts.pull is None:
        return refusal("allow", "that is for pull requests; say it there."), []
    if why := _refused(facts, facts.pull, command, event):
        return refusal("allow", why), []
    until = (facts.now + facts.policy.allow_for).isoformat(timespec="seconds")
    login, reason = event.sender.login, one_line(visible(command.reason), REASON)
    one = Allowance(command.path, login, reason, until)
    allowed = (*(old for old in facts.allowed if old.path != one.path), one)
    place, head = event.issue.place, facts.head.sha
    check = scope(place, head, facts.head.base, facts.pull, allowed)
    decided: list[Action] = [SaveAllowance(place, head, one), check]
    if facts.feature is not None and facts.feature.pull == place.number:
        known = replace(facts, allowed=allowed)  # what it blocked for is no fault any more
        look = wanted(known, place, head, facts.feature, draft=facts.head.draft)
        decided.append(look)
    return Outcome(checks.allowed(one, head)), decided


def _refused(facts: Facts, pull: Pull, command: Allow, event: Commented) -> str:
    """Why it is not allowed; empty if it is."""
    if not _may(facts, pull, command.path, event.sender.login):
        owners = owners_of(pull, command.path)
        return checks.not_yours(command.path, owners)
    if not pull.complete:
        return ""  # it is read from git, and the check says what came of it
    known = judge(pull)
    if known.flaws:
        return "the scope file of the base branch cannot be read; correct it there first."
    outside = tuple(dict.fromkeys(one.path for one in known.trespasses))
    return "" if command.path in outside else checks.not_outside(command.path, outside)


def _may(facts: Facts, pull: Pull, path: str, login: str) -> bool:
    """An owner by CODEOWNERS; where that names nobody, whoever may maintain."""
    owners = {owner.removeprefix("@").casefold() for owner in owners_of(pull, path)}
    if not owners:
        return facts.permission >= Permission.MAINTAIN
    teams = {team.casefold() for team in facts.teams}
    return login.casefold() in owners or not owners.isdisjoint(teams)


def then(facts: Facts, actions: list[Action]) -> Facts:
    """The facts for the next command of the same comment."""
    new = [action.allowance for action in actions if isinstance(action, SaveAllowance)]
    paths = {one.path for one in new}
    kept = [one for one in facts.allowed if one.path not in paths]
    return replace(facts, allowed=(*kept, *new)) if new else facts
