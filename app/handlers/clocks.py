"""The time that whoever is asked has: wound up, stopped, put off. Nothing waits here."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.features.model import Clock, Question
from app.handlers.turn import Turn
from app.questions.calendars import Calendar
from app.questions.chain import Rung, chain
from app.questions.durations import duration


def _add(calendar: Calendar, start: datetime, span: timedelta) -> datetime:
    """Open time from `start` on; where that would never come, time goes on round the clock."""
    try:
        return calendar.add(start, span)
    except ValueError:
        return start + span


def stamp(at: datetime) -> str:
    """ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat()


def rungs_of(turn: Turn, question: Question) -> tuple[Rung, ...]:
    """The chain of a question that was routed; empty before."""
    return chain(question.routed, turn.facts.policy.default_sla) if question.routed else ()


def calendar_of(turn: Turn, question: Question) -> Calendar:
    """When whoever is asked now works; agents and tools always do."""
    rungs = rungs_of(turn, question)
    rung = rungs[min(question.rung, len(rungs) - 1)] if rungs else None
    if rung is not None and not rung.is_people and not question.waits_for_a_person:
        return Calendar()
    names = [f"human/{question.asked}", question.asked or ""]
    return turn.facts.policy.calendar(*([rung.answerer] if rung else []), *names)


def wound(turn: Turn, question: Question, sla: str) -> Clock:
    """A clock that starts now."""
    now, policy = turn.facts.now, turn.facts.policy
    calendar, span = calendar_of(turn, question), duration(sla)
    remind = _add(calendar, now, span * policy.remind / 100) if policy.remind else None
    people = question.waits_for_a_person
    return Clock(
        since=stamp(now),
        remind_at=stamp(remind) if remind and people and policy.remind < 100 else "",
        deadline=stamp(_add(calendar, now, span)),
    )


def put_off(turn: Turn, question: Question, by: timedelta) -> Clock:
    """The same time again, from the end of the snooze on."""
    until = turn.facts.now + by
    rungs = rungs_of(turn, question)
    sla = duration(rungs[min(question.rung, len(rungs) - 1)].sla) if rungs else by
    deadline = _add(calendar_of(turn, question), until, sla)
    return Clock(question.clock.since, stamp(until), stamp(deadline), snoozed=True)


def shifted(turn: Turn, question: Question, since: datetime) -> Clock:
    """The clock after a pause: what was left then is left now."""
    clock, calendar, now = question.clock, calendar_of(turn, question), turn.facts.now

    def later(moment: str) -> str:
        if not moment:
            return ""
        left = calendar.between(since, datetime.fromisoformat(moment))
        return stamp(_add(calendar, now, left))

    return replace(clock, remind_at=later(clock.remind_at), deadline=later(clock.deadline))


def stopped(question: Question) -> Question:
    """The question with no clock running; since when somebody was asked is kept for the count."""
    return replace(question, clock=Clock(since=question.clock.since), after="")
