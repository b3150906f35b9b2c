"""A person is asked: with everything needed to decide, and not more than they can answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from app.actions import Notify
from app.features.model import Clock, Question
from app.handlers import people
from app.handlers.clocks import rungs_of, stamp, wound
from app.handlers.turn import Turn
from app.questions.chain import Rung
from app.questions.model import QuestionState

BARON = "@baron"
_LOOK_AGAIN = timedelta(minutes=10)
"""How soon a deferred question is looked at again, if nothing else happens before."""


def escalate(turn: Turn, question: Question, rung: int, to: str, because: str) -> None:
    """Put a question to a person or team (specs/1, FR-007, FR-008), now or when they can."""
    question = replace(question, rung=rung, asked=to, note=because)
    if _has_enough(turn, to):
        _defer(turn, question)
    else:
        _ask_person(turn, question)


def _ask_person(turn: Turn, question: Question) -> None:
    to = question.asked or people.ANY_MAINTAINER
    rungs = rungs_of(turn, question)
    question = replace(
        question, state=QuestionState.ESCALATED, shown=True, changed_at=stamp(turn.facts.now)
    )
    sla = rungs[min(question.rung, len(rungs) - 1)].sla if rungs else ""
    if sla:
        question = replace(
            question, clock=wound(turn, question, sla), after=_after(turn, question, rungs)
        )
    question = turn.put(question)
    tentative = question.tentative
    turn.asked(to)
    turn.record(
        "escalation",
        BARON,
        question,
        to=to,
        because=question.note,
        tentative=tentative.content if tentative else None,
        confidence=tentative.confidence if tentative else None,
        rationale=tentative.rationale if tentative else None,
        uncertainty_reasons=list(tentative.uncertainty_reasons) if tentative else [],
        others=[[other.agent, other.content, other.confidence] for other in question.others],
        threshold=question.routed.threshold if question.routed else None,
        deadline=question.clock.deadline or None,
    )
    notify(turn, question, "asked", f"{to} is asked: {question.note}")


def _after(turn: Turn, question: Question, rungs: tuple[Rung, ...]) -> str:
    """What happens when the time is up."""
    for rung in rungs[question.rung + 1 :]:
        if rung.is_people:
            who = people.resolve(turn, question, rung)
            if who != question.asked:
                return f"then {who} is asked"
        elif rung.name not in question.tried and rung.kind != "tool":
            return f"then {turn.facts.policy.handles.get(rung.name, rung.name)} is asked"
    if question.routed and question.routed.on_timeout != "block" and question.tentative:
        return f"then the answer of {question.tentative.agent} is used, with a warning"
    return "then it goes on waiting"


def notify(turn: Turn, question: Question, what: str, sentence: str) -> None:
    """Tell the rule's channel, once for each occasion."""
    channel = question.routed.notify if question.routed else None
    if not channel:
        return
    occasion = f"{question.rung}:{question.clock.since}:{what}"
    turn.do(
        Notify(
            key=f"f{turn.feature.id}:{question.name}:notify:{occasion}",
            feature_id=turn.feature.id,
            question=question.number,
            channel=channel,
            title=_quiet(f"{turn.place} {question.name}: {question.text}"[:200]),
            body=_quiet(f"{sentence}\n\n{question.text}"[:2000]),
        )
    )


def _quiet(text: str) -> str:
    """Without what calls a whole channel together (`@everyone`, `<!channel>`)."""
    return text.replace("@", "@\u200b").replace("<", "‹").replace(">", "›")


def _has_enough(turn: Turn, to: str) -> bool:
    limits, load = turn.facts.policy.load, turn.load_of(to)
    too_many = limits.open is not None and load.open >= limits.open
    return too_many or (limits.per_day is not None and load.today >= limits.per_day)


def _defer(turn: Turn, question: Question) -> None:
    again = stamp(turn.facts.now + _LOOK_AGAIN)
    known = question.state is QuestionState.DEFERRED
    question = turn.put(
        replace(question, state=QuestionState.DEFERRED, clock=Clock(deadline=again))
    )
    if not known:
        turn.record("deferred", BARON, question, to=question.asked, because=_load_sentence(turn))


def _load_sentence(turn: Turn) -> str:
    limits = turn.facts.policy.load
    parts = []
    if limits.open is not None:
        parts.append(f"{limits.open} open questions")
    if limits.per_day is not None:
        parts.append(f"{limits.per_day} questions a day")
    return f"nobody is asked more than {' and '.join(parts)}"


def admit(turn: Turn) -> None:
    """Put deferred questions to people who have room again, the most valuable first."""
    waiting = [q for q in turn.questions if q.state is QuestionState.DEFERRED]
    for question in sorted(waiting, key=lambda question: (-question.value, question.number)):
        if _has_enough(turn, question.asked or ""):
            if question.clock.deadline <= stamp(turn.facts.now):
                _defer(turn, question)
        else:
            _ask_person(turn, question)
