"""`/delegate Q @person` and `/snooze Q 2d`: another person, another time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.commands import Delegate, Snooze
from app.events import Commented
from app.features.model import Question
from app.handlers.asking import people_from
from app.handlers.clocks import put_off
from app.handlers.escalating import escalate
from app.handlers.outcome import (
    DONE,
    Outcome,
    find,
    may_settle,
    not_allowed,
    refusal,
    triage_only,
)
from app.handlers.turn import Turn
from app.questions.durations import duration
from app.texts import replies

LONGEST = timedelta(days=90)


def _open(turn: Turn, command: Delegate | Snooze, event: Commented) -> Question | Outcome:
    question = find(turn, command.name, command.question, lambda question: True)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed(command.name, question)
    if not question.waits_for_a_person:
        return refusal(command.name, replies.not_waiting(question))
    return question


def delegate(turn: Turn, command: Delegate, event: Commented) -> Outcome:
    """Ask another person or team; their time starts now."""
    question = _open(turn, command, event)
    if isinstance(question, Outcome):
        return question
    person, login = command.person.removeprefix("@"), event.sender.login
    if "/" in person and (refused := _may_ask_team(turn, person)):
        return refused
    if person.lower() == (question.asked or "").lower():
        return refusal("delegate", replies.asked_already(question))
    turn.record(
        "human",
        f"@{login}",
        question,
        action="delegate",
        to=person,
        before=question.asked,
        text=command.text,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    question = turn.question(question.number) or question
    rung = question.rung if question.rung else people_from(turn, question)
    escalate(turn, question, rung, person, f"{login} passed it on")
    return DONE


def _may_ask_team(turn: Turn, team: str) -> Outcome | None:
    """A team is a crowd: only of this organisation, and only by people who may triage."""
    if refused := triage_only(turn, "delegate"):
        return refused
    owner = turn.place.repo.partition("/")[0]
    if team.partition("/")[0].lower() == owner.lower():
        return None
    return refusal("delegate", f"only teams of {owner} can be asked here.")


def snooze(turn: Turn, command: Snooze, event: Commented) -> Outcome:
    """Stop its clock for a while; then a reminder, and the whole time again."""
    question = _open(turn, command, event)
    if isinstance(question, Outcome):
        return question
    try:
        by = duration(command.duration)
    except ValueError as error:
        return refusal("snooze", f"{error}.")
    if by > LONGEST:
        return refusal("snooze", f"at most {LONGEST.days}d.")
    turn.record(
        "human",
        f"@{event.sender.login}",
        question,
        action="snooze",
        duration=command.duration,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    question = turn.question(question.number) or question
    clock = put_off(turn, question, by)
    turn.put(replace(question, clock=clock))
    until = datetime.fromisoformat(clock.remind_at)
    return Outcome(replies.snoozed(question, until), changed=True)
