"""A comment: who says it, may they, and one `match` over what they say."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from app.actions import Action, SaveAllowance, ShowComment
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
    ParseError,
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
from app.handlers import (
    allow,
    ask,
    assign,
    chat,
    chatting,
    config,
    confirm,
    context,
    correct,
    delegate,
    go,
    halting,
    help,
    offers,
    questions,
    reviewing,
    route,
    status,
    why,
)
from app.handlers.asking import advance
from app.handlers.drawing import draw
from app.handlers.elsewhere import react, reply_key, without_feature
from app.handlers.facts import Facts, Permission
from app.handlers.outcome import Outcome, refusal
from app.handlers.turn import Turn
from app.texts import replies

AT_MOST = 10
"""Commands in one comment."""


def commented(event: Commented, facts: Facts) -> list[Action]:
    """Carry out the commands of a comment; other text is looked at only where we talk with it."""
    parsed = _new_commands(event)
    if event.sender.bot:
        return []
    if not (parsed.commands or parsed.errors):
        return _plain(event, facts)
    if _is_stranger(event, facts):
        return [] if facts.quiet else [react(event, facts, "confused")]
    if facts.feature is None or _nothing_here(facts, parsed):
        return without_feature(event, facts, parsed)
    if facts.feature.state is FeatureState.GONE:
        return []
    if facts.quiet:
        return []
    turn = Turn(facts, facts.feature)
    turn.do(react(event, facts, "eyes"))
    outcomes = [_carry_out(turn, located.command, event) for located in parsed.commands]
    if any(outcome.changed for outcome in outcomes):
        if turn.feature.state is not FeatureState.STOPPED:
            advance(turn)
        draw(turn)
    _answer(turn, event, parsed, outcomes)
    return turn.actions()


def _nothing_here(facts: Facts, parsed: Parsed) -> bool:
    """No feature was started, nothing was asked, and nothing is asked now."""
    if facts.feature is not None and facts.feature.run:
        return False
    return not facts.questions and not any(
        isinstance(located.command, Ask) for located in parsed.commands
    )


def _plain(event: Commented, facts: Facts) -> list[Action]:
    """Text without a command: a turn of an open conversation, or perhaps an answer."""
    if facts.feature is None or event.before is not None or not facts.questions or facts.quiet:
        return []
    if event.issue.pull_request:
        return []  # nobody is asked there
    turn = Turn(facts, facts.feature)
    login = event.sender.login
    talking = next((q for q in turn.questions if q.chat_with == login), None)
    if talking is not None:
        if len(talking.chat) >= chatting.LONGEST or turn.feature.state is FeatureState.STOPPED:
            return []
        turn.do(react(event, facts, "eyes"))
        chatting.say(turn, talking, login, event.body, event.comment_id)
        return turn.actions()
    said = offers.offer(turn, event)
    if said:
        key = reply_key(event)
        body = replies.reply([said], feature=str(turn.place), key=key)
        turn.do(ShowComment(key, turn.feature.id, turn.place, body))
    return turn.actions()


def _new_commands(event: Commented) -> Parsed:
    """What the comment says; of an edited one only what was not in it before."""
    parsed = _bounded(parse(event.body))
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


def _bounded(parsed: Parsed) -> Parsed:
    """The first commands of a comment; thousands of them would hold up everybody else."""
    if len(parsed.commands) + len(parsed.errors) <= AT_MOST:
        return parsed
    errors = parsed.errors[: AT_MOST - 1]
    kept = parsed.commands[:AT_MOST]
    last = parsed.commands[AT_MOST].line if len(parsed.commands) > AT_MOST else 1
    more = ParseError(last, f"One comment may hold {AT_MOST} commands; write another.")
    return Parsed(kept, (*errors, more))


def _is_stranger(event: Commented, facts: Facts) -> bool:
    """No right to triage, not the issue's author, and never asked."""
    login = event.sender.login.lower()
    asked = {(question.asked or "").lower() for question in facts.questions}
    author = facts.feature.author if facts.feature else ""
    return (
        facts.permission < Permission.TRIAGE
        and login not in {event.issue.author.lower(), author.lower()}
        and login not in asked
        and not asked & facts.teams
    )


def _carry_out(turn: Turn, command: Command, event: Commented) -> Outcome:
    """What happens on `/x`?"""
    match command:
        case Confirm():
            return confirm.confirm(turn, command, event)
        case Correct() | Answer():
            return correct.correct(turn, command, event)
        case Context():
            return context.context(turn, command, event)
        case Chat():
            return chat.chat(turn, command, event)
        case Ask():
            return ask.ask(turn, command, event)
        case Route():
            return route.route(turn, command, event)
        case Delegate():
            return delegate.delegate(turn, command, event)
        case Snooze():
            return delegate.snooze(turn, command, event)
        case Why():
            return why.why(turn, command)
        case Pause():
            return halting.pause(turn, command, event)
        case Resume():
            return halting.resume_(turn, command, event)
        case Stop():
            return halting.stop(turn, command, event)
        case Retry():
            return halting.retry(turn, command, event)
        case Questions():
            return questions.questions(turn, command)
        case Status():
            return status.status(turn)
        case Config():
            return config.config(turn.facts)
        case Help():
            return help.help()
        case Plan():
            return go.plan(turn, command)
        case Tasks():
            return go.show_tasks(turn, command)
        case Go():
            return go.go(turn, command, event)
        case Assign():
            return assign.assign(turn, command, event)
        case Review():
            return _with_actions(turn, reviewing.review(turn.facts, event))
        case Allow():
            return _with_actions(turn, allow.allow(turn.facts, command, event))
        case Retro() | Learn() | Secretary() | Apply():
            return refusal(command.name, replies.not_available())
        case _:
            assert_never(command)


def _with_actions(turn: Turn, decided: tuple[Outcome, list[Action]]) -> Outcome:
    """What a command decides that is the same with and without a feature."""
    outcome, actions = decided
    for action in actions:
        if isinstance(action, SaveAllowance):
            one = action.allowance
            turn.record("allowed", f"@{one.by}", path=one.path, reason=one.reason,
                        until=one.until, head=action.head, pull=action.place.number)  # fmt: skip
        turn.add(action)
    turn.facts = allow.then(turn.facts, actions)
    return outcome


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
    turn.do(react(event, turn.facts, "confused" if bad else "+1"))
    if said:
        key = reply_key(event)
        body = replies.reply(said, feature=str(turn.place), key=key)
        turn.do(ShowComment(key, turn.feature.id, event.issue.place, body))
