"""The confidence gate: an agent's answer is accepted, or a person is asked."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action
from app.events import AgentAnswered
from app.features.model import FeatureState, Question
from app.handlers import chatting, gaps
from app.handlers.asking import advance, ask_agent, people_from, put, settle
from app.handlers.clocks import rungs_of, stamp, stopped
from app.handlers.drawing import draw
from app.handlers.escalating import BARON, escalate
from app.handlers.facts import Facts
from app.handlers.spending import count, logged
from app.handlers.turn import Turn
from app.questions.agreement import same
from app.questions.chain import first_people
from app.questions.model import Answer, QuestionState


def accepted(confidence: int, threshold: int) -> bool:
    """At threshold 100 every answer goes to a person, however sure the agent is."""
    return confidence >= threshold and threshold < 100


def answered(event: AgentAnswered, facts: Facts) -> list[Action]:
    """Judge an answer, or find somebody else where there is none."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    question = turn.question(event.question)
    if not event.chat:
        count(turn, event.spending)
    if question is None or question.state is QuestionState.CANCELLED:
        return turn.actions()  # nobody wants it any more, but it was paid for
    if event.chat:
        chatting.answered(turn, question, event)
    elif event.ask_round < question.since_round or event.ask_round in question.heard:
        return []  # an answer to what was asked before; the one that counts is on its way
    elif question.state is QuestionState.ASKING and question.ask_round == event.ask_round:
        _in_time(turn, question, event)
    elif not _late(turn, question, event):
        return []
    if feature.state is not FeatureState.STOPPED:
        advance(turn)
    draw(turn)
    return turn.actions()


def _handle(turn: Turn, role: str) -> str:
    if role.startswith("tool/"):
        return role
    return turn.facts.policy.handles.get(role, f"@{role}")


def _in_time(turn: Turn, question: Question, event: AgentAnswered) -> None:
    if turn.feature.state is FeatureState.STOPPED and not _kept(turn, question, event):
        return
    if event.answer is None:
        _unavailable(turn, question, event)
        return
    question = turn.put(replace(question, heard=(*question.heard, event.ask_round)))
    if event.spending.cost is not None:
        turn.update(unpaid="")
    answer = _answer(turn, event, event.answer)
    answer = gaps.take_out(turn, question, answer)
    question = turn.question(question.number) or question
    if question.queued is None and gaps.blocks(turn, question):
        turn.put(replace(stopped(question), state=QuestionState.PENDING))
        return
    _judge(turn, question, answer)


def _kept(turn: Turn, question: Question, event: AgentAnswered) -> bool:
    """In a pause nobody else is asked: only an answer is judged, and only if it is enough."""
    if event.answer is None:
        handle = _handle(turn, event.role)
        _record_failure(turn, question, event, handle)
        question = turn.question(question.number) or question
        turn.put(replace(stopped(question), state=QuestionState.PENDING))
        return False
    return True


def _record_failure(turn: Turn, question: Question, event: AgentAnswered, handle: str) -> None:
    cost = logged(event.spending.cost)
    round_ = question.ask_round
    turn.record("agent.failed", handle, question, round=round_, error=event.error, cost=cost)


def _answer(turn: Turn, event: AgentAnswered, answer: Answer) -> Answer:
    """The answer under its agent's name; a model's goes to a person where the issue alarms."""
    cost = event.spending.cost or answer.cost
    doubt, alarm = answer.doubt, turn.feature.alarm
    if alarm and answer.prompt and not doubt:
        doubt = f"the issue holds text that speaks to the model ({alarm})"
    return replace(answer, agent=_handle(turn, event.role), cost=cost, doubt=doubt)


def judge_again(turn: Turn, question: Question) -> None:
    """After a pause: what was not sure enough goes to a person now."""
    tentative = question.tentative
    handle = tentative.agent if tentative else "the agent"
    to_a_person(turn, question, f"{handle} is not sure enough")


def _record(turn: Turn, question: Question, answer: Answer, verdict: str, round_: int) -> None:
    threshold = question.routed.threshold if question.routed else 80
    turn.record(
        "answer",
        answer.agent,
        question,
        round=round_,
        content=answer.content,
        rationale=answer.rationale,
        confidence=answer.confidence,
        stated=answer.confidence if answer.stated is None else answer.stated,
        doubt=answer.doubt or None,
        prompt=answer.prompt or None,
        cost=logged(answer.cost),
        uncertainty_reasons=list(answer.uncertainty_reasons),
        sources=[[source.title, source.ref, source.quote] for source in answer.sources],
        looked_in=list(answer.looked_in),
        backend=answer.backend,
        model=answer.model,
        threshold=threshold,
        verdict=verdict,
        source=answer.agent,
        validated_by=None,
    )


def _judge(turn: Turn, question: Question, answer: Answer) -> None:
    threshold = question.routed.threshold if question.routed else 80
    different = [other for other in question.others if not same(other, answer, question.choices)]
    good = accepted(answer.confidence, threshold) and not different and not answer.doubt
    round_ = question.ask_round
    question = turn.put(
        replace(
            question,
            tentative=answer,
            others=tuple(different),
            state=QuestionState.ANSWERED,
            # somebody who used /ask waits for the answer here, not in a specification
            shown=question.shown or bool(question.person_asking),
        )
    )
    _record(turn, question, answer, "accepted" if good else "escalated", round_)
    question = turn.question(question.number) or question
    if take_queued(turn, question):
        return
    if good:
        settle(turn, question, QuestionState.ACCEPTED, answer=answer.content, source=answer.agent)
    elif turn.feature.state is FeatureState.STOPPED:
        turn.put(stopped(question))  # `resume` asks a person
    elif different:
        to_a_person(turn, question, _disagreement(answer, different))
    else:
        because = f"{answer.agent} is {answer.confidence} % sure, and {threshold} % is needed"
        if threshold >= 100:
            because = "every answer on this topic is decided by people"
        if answer.doubt:
            because = f"{answer.agent}'s answer did not hold: {answer.doubt}"
        to_a_person(turn, question, because)


def _disagreement(answer: Answer, different: list[Answer]) -> str:
    names = ", ".join(dict.fromkeys(other.agent for other in different))
    return f"{answer.agent} and {names} answer differently"


def to_a_person(turn: Turn, question: Question, because: str) -> None:
    """Ask the first person or team of the chain, else whoever wanted the feature.

    An answer that a person gave meanwhile is taken instead. Behind a person who was asked already
    the chain only goes on.
    """
    if take_queued(turn, question):
        return
    rungs = rungs_of(turn, question)
    if first_people(rungs[: question.rung]) is not None:
        if not put(turn, question, question.rung + 1, because):
            unanswered(turn, question, because)
        return
    question = replace(question, asked=None)
    if not put(turn, question, people_from(turn, question), because):
        escalate(turn, question, 0, turn.feature.started_by, because)


def take_queued(turn: Turn, question: Question) -> bool:
    """Settle with what a person answered while an agent was at work, if anybody did."""
    queued = question.queued
    if queued is None:
        return False
    settle(
        turn,
        question,
        QuestionState.CORRECTED,
        answer=queued.text,
        source=f"@{queued.by}",
        by=queued.by,
    )
    return True


def unanswered(turn: Turn, question: Question, because: str) -> None:
    """The chain has ended: by the rule, wait on, or use the agent's answer with a warning."""
    tentative, routed = question.tentative, question.routed
    usable = tentative is not None and not tentative.doubt  # what a person must see, nobody takes
    if tentative and usable and routed and routed.on_timeout == "use_answer_with_warning":
        settle(
            turn,
            question,
            QuestionState.ACCEPTED,
            answer=tentative.content,
            source=tentative.agent,
            warning=f"nobody looked at it in time ({because})",
        )
    else:
        question = stopped(question)
        turn.put(replace(question, state=QuestionState.TIMEOUT, shown=True, note=because))


def _unavailable(turn: Turn, question: Question, event: AgentAnswered) -> None:
    handle = _handle(turn, event.role)
    _record_failure(turn, question, event, handle)
    question = turn.question(question.number) or question
    if event.unpaid:
        turn.update(unpaid=event.error)
        question = turn.put(replace(question, unpaid=True))
        to_a_person(turn, question, f"{handle} was not asked: {event.error}")
        return
    fallback = question.routed.fallback if question.routed else None
    if take_queued(turn, question):
        return
    if fallback and fallback not in question.tried:
        turn.record("fallback", BARON, question, agent=_handle(turn, fallback))
        ask_agent(turn, turn.question(question.number) or question, fallback)
    else:
        to_a_person(turn, question, f"Agent unavailable ({handle})")


def _late(turn: Turn, question: Question, event: AgentAnswered) -> bool:
    """An answer that somebody else's overtook: a second opinion. False if it changes nothing."""
    if take_queued(turn, question):
        return True
    known = {question.tentative, *question.others}
    if event.answer is None or question.state in {QuestionState.PENDING, QuestionState.ANSWERED}:
        return False
    answer = _answer(turn, event, event.answer)
    if any(_same_words(answer, other) for other in known):
        return False
    question = turn.put(replace(question, heard=(*question.heard, event.ask_round)))
    _record(turn, question, answer, "late", event.ask_round)
    question = turn.question(question.number) or question
    if question.state is QuestionState.ASKING:
        turn.put(replace(question, others=(*question.others, answer)))
    elif question.tentative is None:
        if not question.settled:
            changed_at = stamp(turn.facts.now)
            turn.put(replace(question, tentative=answer, changed_at=changed_at))
    elif not same(question.tentative, answer, question.choices):
        _second_opinion(turn, question, answer)
    return True


def _same_words(answer: Answer, other: Answer | None) -> bool:
    """The same answer heard twice, whatever it cost the second time."""
    return other is not None and replace(answer, cost=None) == replace(other, cost=None)


def _second_opinion(turn: Turn, question: Question, answer: Answer) -> None:
    """Both are shown, and a person decides; what a person decided already stands."""
    if question.validated_by == "human":
        return
    others = (*question.others, answer)
    question = turn.put(replace(question, others=others, changed_at=stamp(turn.facts.now)))
    if question.settled and question.tentative is not None:
        to_a_person(turn, question, _disagreement(question.tentative, [answer]))
