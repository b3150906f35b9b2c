"""Comments where no feature is: other bots have commands, too (specs/1)."""

from __future__ import annotations

from app.actions import Action, React, ShowComment
from app.commands import (
    Allow,
    Answer,
    Ask,
    Chat,
    Command,
    Config,
    Confirm,
    Context,
    Correct,
    Help,
    Parsed,
    Questions,
    Review,
    Status,
    Why,
)
from app.events import Commented
from app.features.types import BY_LABEL
from app.handlers import allow, config, help, reviewing
from app.handlers.facts import Facts
from app.handlers.outcome import Outcome, refusal
from app.texts import replies


def react(event: Commented, facts: Facts, content: str) -> React:
    """A reaction on the comment; after an edit the same one may be due again, and costs nothing."""
    feature = facts.feature.id if facts.feature and facts.feature.run else None
    key = f"react:{event.issue.place.repo_id}:{event.comment_id}:{content}"
    return React(key, feature, event.issue.place, content, event.comment_id)


def reply_key(event: Commented) -> str:
    """One reply to a comment, however often that is edited."""
    return f"reply:{event.issue.place.repo_id}:{event.comment_id}"


_OURS = (Confirm, Correct, Context, Chat, Ask, Answer, Questions, Why, Status, Config, Help)
"""Commands that no other bot is likely to be meant with."""
_ON_PULLS = (Review, Allow)


def without_feature(event: Commented, facts: Facts, parsed: Parsed) -> list[Action]:
    """Other bots have commands, too: without a feature only what is clearly ours is answered."""
    on_pull = event.issue.pull_request
    commands = [
        located.command
        for located in parsed.commands
        if located.addressed or isinstance(located.command, _ON_PULLS if on_pull else _OURS)
    ]
    errors = [error for error in parsed.errors if error.addressed]
    if facts.quiet or not (commands or errors):
        return []
    actions: list[Action] = [react(event, facts, "eyes")]
    outcomes = []
    for command in commands:
        decided: list[Action] = []
        outcomes.append(_outside(command, event, facts, decided))
        facts = allow.then(facts, decided)
        actions += decided
    said = [replies.not_understood(error.line, error.reason) for error in errors]
    said += list(dict.fromkeys(outcome.said for outcome in outcomes if outcome.said))
    bad = bool(errors) or any(outcome.refused for outcome in outcomes)
    actions.append(react(event, facts, "confused" if bad else "+1"))
    if said:
        place, key = event.issue.place, reply_key(event)
        body = replies.reply(said, feature=str(place), key=key)
        actions.append(ShowComment(key, None, place, body))
    return actions


def _outside(command: Command, event: Commented, facts: Facts, actions: list[Action]) -> Outcome:
    match command:
        case Review():
            outcome, decided = reviewing.review(facts, event)
            actions += decided
            return outcome
        case Allow():
            outcome, decided = allow.allow(facts, command, event)
            actions += decided
            return outcome
        case Help():
            return help.help()
        case Config():
            return config.config(facts)
        case _:
            return refusal(command.name, replies.no_feature(BY_LABEL))
