"""Time passes: a reminder, the next of the chain, or a known end (specs/2, SLA and Escalation)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.actions import Action
from app.events import ClockStruck
from app.features.model import NO_CLOCK, FeatureState, Question
from app.handlers.answers import take_queued, unanswered
from app.handlers.asking import advance, put
from app.handlers.clocks import rungs_of, stopped
from app.handlers.drawing import draw
from app.handlers.escalating import BARON, notify
from app.handlers.facts import Facts
from app.handlers.turn import Turn
from app.questions.model import QuestionState


def struck(event: ClockStruck, facts: Facts) -> list[Action]:
    """Do what was to be done at that moment.

    Whoever was away for a day does it once: what the clock was set to meanwhile is not made up for,
    for the next of the chain can only be asked now.
    """
    feature = facts.feature
    if feature is None or feature.state in {FeatureState.GONE, FeatureState.STOPPED}:
        return []
    turn = Turn(facts, feature)
    question = turn.question(event.question)
    if question is None or question.clock.next_at != event.at:
        return []  # the clock was set anew since
    # Whoever rang may have a clock that goes ahead of ours.
    moment = max(facts.now, datetime.fromisoformat(event.at))
    if question.state is QuestionState.DEFERRED:
        # `advance` looks whether there is room by now, and sets a new moment if not
        turn.put(replace(question, clock=NO_CLOCK))
    elif moment < datetime.fromisoformat(question.clock.deadline):
        _remind(turn, question)
    else:
        _expired(turn, question)
    advance(turn)
    draw(turn)
    return turn.actions()


def _remind(turn: Turn, question: Question) -> None:
    """Once, in the comment that stands there already, and in the rule's channel."""
    clock = replace(question.clock, reminded=True)
    question = turn.put(replace(question, clock=clock))
    turn.record("reminder", BARON, question, to=question.asked, deadline=clock.deadline)
    notify(turn, question, "reminder", f"{question.asked} is reminded: {question.note}")


def _expired(turn: Turn, question: Question) -> None:
    rungs = rungs_of(turn, question)
    rung = rungs[min(question.rung, len(rungs) - 1)] if rungs else None
    who = _who(turn, question)
    sla = rung.sla if rung else ""
    turn.record(
        "timeout",
        BARON,
        question,
        answerer=rung.answerer if rung else None,
        who=who,
        sla=sla,
        round=question.ask_round,
        since=question.clock.since,
    )
    question = turn.put(stopped(turn.question(question.number) or question))
    if take_queued(turn, question):
        return
    because = f"{who} did not answer within {sla}"
    if put(turn, question, question.rung + 1, because):
        return
    unanswered(turn, question, because)


def _who(turn: Turn, question: Question) -> str:
    if question.state is QuestionState.ASKING:
        role = question.ask_role or ""
        return turn.facts.policy.handles.get(role, role)
    return question.asked or "nobody"
