"""Who is asked, and when: the way of a question up to its answer."""

from __future__ import annotations

from dataclasses import replace

from app.actions import AskAgent, SuggestAgents
from app.features.model import Added, FeatureState, Question
from app.handlers import people
from app.handlers.clocks import rungs_of, stamp, stopped, wound
from app.handlers.escalating import BARON, admit, escalate
from app.handlers.inquiring import inquiry
from app.handlers.reopening import reopen_tasks
from app.handlers.specifying import write_specification
from app.handlers.turn import Turn
from app.questions import dependencies, topics
from app.questions.chain import Rung
from app.questions.model import QuestionState, Routed

__all__ = ["BARON", "advance", "ask", "ask_agent", "inquiry", "put", "settle"]


def advance(turn: Turn) -> None:
    """Ask what can be asked now, and say where the feature stands after it."""
    # the most valuable first: people may not have time for all of them
    for question in sorted(turn.questions, key=lambda one: (-one.value, one.number)):
        if question.state is QuestionState.PENDING and _ready(turn, question):
            ask(turn, question)
    admit(turn)
    feature = turn.feature
    if feature.run == 0 or feature.generated != feature.run:
        return  # no feature, or one whose own questions are not there yet
    states = {question.state for question in turn.questions}
    if states & {QuestionState.ASKING, QuestionState.ANSWERED}:
        turn.enter(FeatureState.ASKING)
    elif all(question.ended for question in turn.questions):
        write_specification(turn)
    else:
        turn.enter(FeatureState.WAITING)


def _ready(turn: Turn, question: Question) -> bool:
    if question.circle:
        return True
    earlier = [turn.question(number) for number in question.depends_on]
    return all(other is None or other.ended for other in earlier)


def ask(turn: Turn, question: Question) -> None:
    """Route a question and put it to whoever the rule names."""
    routed = _routed(turn, question)
    question = turn.put(replace(question, routed=routed, tried=(), rung=0, asked=None))
    rungs = rungs_of(turn, question)
    turn.record(
        "routing",
        BARON,
        question,
        answerer=routed.answerer,
        agent=routed.agent,
        rule=routed.rule,
        threshold=routed.threshold,
        sla=routed.sla,
        override=routed.override,
        note=routed.note,
        target=question.target,
        next=[rung.answerer for rung in rungs[1:]],
    )
    question = turn.question(question.number) or question
    if question.circle:
        because = f"these questions wait for each other: {question.circle}"
        put(turn, question, people_from(turn, question), because)
        return
    if routed.note == topics.UNKNOWN:
        turn.do(
            SuggestAgents(
                key=f"f{turn.feature.id}:{question.name}:suggest",
                feature_id=turn.feature.id,
                question=question.number,
                topic=question.topic,
                text=question.text,
            )
        )
    put(turn, question, 0, "")


def _routed(turn: Turn, question: Question) -> Routed:
    routed = turn.facts.policy.routes.route(question.topic, question.target)
    if not question.rerouted:
        return routed
    role = question.rerouted.removeprefix("agent/")
    return replace(
        routed,
        answerer=question.rerouted,
        agent=turn.facts.policy.handles.get(role),
        rule=f"/route by {question.rerouted_by}",
        override=True,
        note=None,
    )


def people_from(turn: Turn, question: Question) -> int:
    """The rung of the first person or team of the chain; there always is one."""
    rungs = rungs_of(turn, question)
    return next((n for n, rung in enumerate(rungs) if rung.is_people), len(rungs))


def put(turn: Turn, question: Question, start: int, because: str) -> bool:
    """Ask the first answerer from rung `start` on that can be asked. False if there is none."""
    for number, rung in enumerate(rungs_of(turn, question)):
        if number < start:
            continue
        if rung.is_people:
            who = people.resolve(turn, question, rung)
            if who == question.asked:
                continue  # the same person under another name was asked already
            why = because or _why_a_person(question)
            escalate(turn, question, number, who, why)
            return True
        unfit = _unfit(turn, question, rung)
        if unfit:
            because = because or unfit
            continue
        ask_agent(turn, replace(question, rung=number, note=because), _role(rung))
        return True
    return False


def _role(rung: Rung) -> str:
    return rung.name if rung.kind == "agent" else rung.answerer


def _unfit(turn: Turn, question: Question, rung: Rung) -> str:
    """Why this agent or tool cannot be asked; empty if it can."""
    policy, spec = turn.facts.policy, turn.feature.spec
    if _role(rung) in question.tried:
        return f"{policy.handles.get(rung.name, rung.name)} was asked already"
    if rung.kind == "tool":
        missing = rung.name not in policy.tools
        return f"There is no tool {rung.name} here" if missing else ""
    if turn.feature.run == 0 or question.asker or question.rerouted:
        return ""  # whoever asks on their own is not bound to the feature's roles
    if not spec.knowledge:
        return f"A {spec.title} asks no knowledge agent"
    if policy.handles.get(rung.name) in {policy.handles.get(role) for role in spec.knowledge}:
        return ""
    return f"{policy.handles.get(rung.name)} takes no part in a {spec.title} feature"


def _why_a_person(question: Question) -> str:
    routed = question.routed
    if routed is None:
        return ""
    if routed.note:
        return routed.note[:1].upper() + routed.note[1:]
    if routed.override:
        return f"`{routed.rule}` is always decided by people"
    return f"`{routed.rule}` is decided by people"


def ask_agent(turn: Turn, question: Question, role: str) -> None:
    """Have an agent or a tool answer; its answer comes back as an event."""
    question = replace(
        question,
        state=QuestionState.ASKING,
        ask_round=question.ask_round + 1,
        ask_role=role,
        unpaid=False,
        tried=(*question.tried, role),
    )
    rungs = rungs_of(turn, question)
    if rungs:
        sla = rungs[min(question.rung, len(rungs) - 1)].sla
        question = replace(question, clock=wound(turn, question, sla))
    question = turn.put(question)
    wanted = inquiry(turn, question, role)
    turn.record("asked", BARON, question, role=role, round=question.ask_round, model=wanted.model)
    turn.do(
        AskAgent(
            key=f"f{turn.feature.id}:{question.name}:ask:{question.ask_round}",
            feature_id=turn.feature.id,
            question=question.number,
            ask_round=question.ask_round,
            inquiry=wanted,
            repo=turn.place.repo,
            installation=turn.place.installation,
            seconds=turn.facts.policy.timeouts.get(role, 0.0),
            person=question.person_asking or turn.feature.started_by,
            handbook=not _has_another(question),
            model=role not in turn.facts.policy.without_model,
        )
    )


def _has_another(question: Question) -> bool:
    """Whether the rule names another agent for when this one is unavailable."""
    fallback = question.routed.fallback if question.routed else None
    return bool(fallback) and fallback not in question.tried


def settle(
    turn: Turn,
    question: Question,
    state: QuestionState,
    *,
    answer: str,
    source: str,
    by: str = "",
    warning: str = "",
) -> None:
    """Give a question its answer; `by` is the person who settled it, empty for the gate.

    If it had another answer before, what rested on that one is asked again.
    """
    validated, before = ("human" if by else None), question.answer
    question = turn.put(
        replace(
            stopped(question),
            state=state,
            answer=answer,
            source=source,
            validated_by=validated,
            settled_by=by,
            settled_at=stamp(turn.facts.now),
            warning=warning,
            queued=None,
            chat_with="",
        )
    )
    turn.record(
        "settled",
        f"@{by}" if by else BARON,
        question,
        state=state.value,
        answer=answer,
        source=source,
        validated_by=validated,
        warning=warning or None,
    )
    if before and before != answer:
        _reopen_what_rests_on(turn, question.number)
        reopen_tasks(turn, question.name)


_UNTOUCHED = frozenset({QuestionState.PENDING, QuestionState.CANCELLED})
"""Questions that know nothing of an earlier answer yet, or never will."""


def _reopen_what_rests_on(turn: Turn, number: int) -> None:
    needs = {question.number: question.depends_on for question in turn.questions}
    for resting in dependencies.resting_on(number, needs):
        question = turn.question(resting)
        if question is None or question.state in _UNTOUCHED:
            continue
        because = f"it rests on Q{number}, whose answer was changed"
        added = question.added
        if question.settled:
            who = question.settled_by or question.source
            added = (*added, Added(who, f"Earlier: {question.answer}"))
        turn.record("reopened", BARON, question, because=because, answer=question.answer)
        reopen_tasks(turn, question.name)
        question = turn.question(resting) or question
        turn.put(
            replace(
                stopped(question),
                state=QuestionState.PENDING,
                note=because,
                added=added,
                since_round=question.ask_round + 1,
                others=(),
                tentative=None,
            )
        )
