"""A comment: who says it, may they, and one `match` over what they say."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from app.actions import Action, React, ShowComment
from app.commands import (
    Allow,
    Answer,
    Apply,
    Ask,
    Assign,
    Chat,
    Command,
    Config,
    Confirm,
    Context,
    Correct,
    Delegate,
    Go,
    Help,
    Learn,
    Parsed,
    Pause,
    Plan,
    Questions,
    Resume,
    Retro,
    Retry,
    Review,
    Route,
    Secretary,
    Snooze,
    Status,
    Stop,
    Tasks,
    Why,
    parse,
)
from app.events import Commented
from app.features.model import FeatureState
from app.features.types import BY_LABEL
from app.handlers import confirm, context, correct, help, questions, status
from app.handlers.asking import advance
from app.handlers.drawing import draw
from app.handlers.facts import Facts, Permission
from app.handlers.outcome import Outcome, refusal
from app.handlers.turn import Turn
from app.texts import replies


def commented(event: Commented, facts: Facts) -> list[Action]:
    """Carry out the commands of a comment; text without a command is none of our business."""
    parsed = _new_commands(event)
    if event.sender.bot or not (parsed.commands or parsed.errors):
        return []
    if _is_stranger(event, facts):
        return [_react(event, facts, "confused")]
    if facts.feature is None or facts.feature.run == 0:
        return _without_feature(event, facts, parsed)
    if facts.feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, facts.feature)
    turn.do(_react(event, facts, "eyes"))
    outcomes = [_carry_out(turn, located.command, event) for located in parsed.commands]
    if any(outcome.changed for outcome in outcomes):
        advance(turn)
        draw(turn)
    _answer(turn, event, parsed, outcomes)
    return turn.actions()


def _new_commands(event: Commented) -> Parsed:
    """What the comment says; of an edited one only what was not in it before."""
    parsed = parse(event.body)
    if event.before is None:
        return parsed
    before = parse(event.before)
    known = Counter(located.command for located in before.commands)
    commands = []
    for located in parsed.commands:
        if known[located.command] > 0:
            known[located.command] -= 1
        else:
            commands.append(located)
    old = {error.reason for error in before.errors}
    errors = tuple(error for error in parsed.errors if error.reason not in old)
    return Parsed(tuple(commands), errors)


def _is_stranger(event: Commented, facts: Facts) -> bool:
    """No right to triage, not the issue's author, and never asked."""
    login = event.sender.login.lower()
    asked = {(question.asked or "").lower() for question in facts.questions}
    author = facts.feature.author if facts.feature else ""
    return (
        facts.permission < Permission.TRIAGE
        and login not in {event.issue.author.lower(), author.lower()}
        and login not in asked
    )


def _react(event: Commented, facts: Facts, content: str) -> React:
    """A reaction on the comment; after an edit the same one may be due again, and costs nothing."""
    feature = facts.feature.id if facts.feature and facts.feature.run else None
    key = f"react:{event.issue.place.repo_id}:{event.comment_id}:{content}"
    return React(key, feature, event.issue.place, content, event.comment_id)


def _without_feature(event: Commented, facts: Facts, parsed: Parsed) -> list[Action]:
    outcomes = [_outside(located.command, facts) for located in parsed.commands]
    actions: list[Action] = [_react(event, facts, "eyes")]
    said = [replies.not_understood(error.line, error.reason) for error in parsed.errors]
    said += [outcome.said for outcome in outcomes if outcome.said]
    bad = bool(parsed.errors) or any(outcome.refused for outcome in outcomes)
    actions.append(_react(event, facts, "confused" if bad else "+1"))
    if said:
        place = event.issue.place
        key = f"reply:{event.delivery}"
        body = replies.reply(said, feature=str(place), key=key)
        actions.append(ShowComment(key, None, place, body))
    return actions


def _outside(command: Command, facts: Facts) -> Outcome:
    match command:
        case Help():
            return help.help()
        case _:
            return refusal(command.name, replies.no_feature(BY_LABEL))


def _carry_out(turn: Turn, command: Command, event: Commented) -> Outcome:
    """What happens on `/x`?"""
    match command:
        case Confirm():
            return confirm.confirm(turn, command, event)
        case Correct():
            return correct.correct(turn, command, event)
        case Context():
            return context.context(turn, command, event)
        case Questions():
            return questions.questions(turn, command)
        case Status():
            return status.status(turn)
        case Help():
            return help.help()
        case (
            Chat() | Ask() | Answer() | Route() | Delegate() | Snooze() | Why() | Retro() | Learn()
            | Secretary() | Plan() | Tasks() | Go() | Assign() | Allow() | Review() | Apply()
            | Config() | Pause() | Resume() | Stop() | Retry()
        ):  # fmt: skip
            return refusal(command.name, replies.not_available())
        case _:
            assert_never(command)


def _answer(turn: Turn, event: Commented, parsed: Parsed, outcomes: list[Outcome]) -> None:
    """Reactions for all, and one comment where something has to be said."""
    said = [replies.not_understood(error.line, error.reason) for error in parsed.errors]
    said += [outcome.said for outcome in outcomes if outcome.said]
    for located, outcome in zip(parsed.commands, outcomes, strict=True):
        if outcome.refused:
            turn.record(
                "refused", f"@{event.sender.login}", command=located.command.name, why=outcome.said
            )
    bad = bool(parsed.errors) or any(outcome.refused for outcome in outcomes)
    turn.do(_react(event, turn.facts, "confused" if bad else "+1"))
    if said:
        key = f"reply:{event.delivery}"
        body = replies.reply(said, feature=str(turn.place), key=key)
        turn.do(ShowComment(key, turn.feature.id, turn.place, body))
