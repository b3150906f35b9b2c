"""The confidence gate: an agent's answer is accepted, or a person is asked."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action
from app.events import AgentAnswered
from app.features.model import FeatureState, Question
from app.handlers.asking import BARON, advance, ask_agent, escalate, person, settle
from app.handlers.drawing import draw
from app.handlers.facts import Facts
from app.handlers.turn import Turn
from app.questions.model import Answer, QuestionState


def accepted(confidence: int, threshold: int) -> bool:
    """Whether an answer is good enough (specs/1, FR-005); at threshold 100 none is."""
    return confidence >= threshold and threshold < 100


def answered(event: AgentAnswered, facts: Facts) -> list[Action]:
    """Judge an answer, or do without one."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    question = turn.question(event.question)
    if question is None or question.state is not QuestionState.ASKING:
        return []
    if question.ask_round != event.ask_round:
        return []  # an answer to what was asked before; the one that counts is on its way
    if event.answer is None:
        _unavailable(turn, question, event.role, event.error)
    else:
        _judge(turn, question, event.answer, event.role)
    if feature.state is not FeatureState.STOPPED:
        advance(turn)
    draw(turn)
    return turn.actions()


def _handle(turn: Turn, role: str) -> str:
    return turn.facts.policy.handles.get(role, f"@{role}")


def _judge(turn: Turn, question: Question, answer: Answer, role: str) -> None:
    handle = _handle(turn, role)
    answer = replace(answer, agent=handle)
    threshold = question.routed.threshold if question.routed else 80
    good = accepted(answer.confidence, threshold)
    question = turn.put(replace(question, tentative=answer, state=QuestionState.ANSWERED))
    turn.record(
        "answer",
        handle,
        question,
        round=question.ask_round,
        content=answer.content,
        rationale=answer.rationale,
        confidence=answer.confidence,
        uncertainty_reasons=list(answer.uncertainty_reasons),
        sources=[[source.title, source.ref, source.quote] for source in answer.sources],
        looked_in=list(answer.looked_in),
        backend=answer.backend,
        model=answer.model,
        threshold=threshold,
        verdict="accepted" if good else "escalated",
        source=handle,
        validated_by=None,
    )
    question = turn.question(question.number) or question
    if good:
        settle(turn, question, QuestionState.ACCEPTED, answer=answer.content, source=handle)
    else:
        because = f"{handle} is {answer.confidence} % sure, and {threshold} % is needed"
        if threshold >= 100:
            because = "every answer on this topic is decided by people"
        escalate(turn, question, person(turn.feature, question.routed), because)


def _unavailable(turn: Turn, question: Question, role: str, error: str) -> None:
    handle = _handle(turn, role)
    turn.record("agent.failed", handle, question, round=question.ask_round, error=error)
    question = turn.question(question.number) or question
    fallback = question.routed.fallback if question.routed else None
    if fallback and fallback not in question.tried:
        turn.record("fallback", BARON, question, agent=_handle(turn, fallback))
        ask_agent(turn, turn.question(question.number) or question, fallback)
        return
    to = person(turn.feature, question.routed)
    escalate(turn, question, to, f"Agent unavailable ({handle})")
