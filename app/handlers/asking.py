"""Who is asked, and when: the way of a question up to its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.actions import AskAgent, CommitFiles
from app.features.document import specification
from app.features.model import Feature, FeatureState, Question
from app.handlers.turn import Turn
from app.questions.model import Inquiry, QuestionState, Routed

BARON = "@baron"


def advance(turn: Turn) -> None:
    """Ask what can be asked now, and say where the feature stands after it."""
    for question in turn.questions:
        if question.state is QuestionState.PENDING and _ready(turn, question):
            ask(turn, question)
    states = {question.state for question in turn.questions}
    if states & {QuestionState.ASKING, QuestionState.ANSWERED}:
        turn.enter(FeatureState.ASKING)
    elif all(question.ended for question in turn.questions):
        write_specification(turn)
    else:
        turn.enter(FeatureState.WAITING)


def _ready(turn: Turn, question: Question) -> bool:
    earlier = [turn.question(number) for number in question.depends_on]
    return all(other is None or other.ended for other in earlier)


def ask(turn: Turn, question: Question) -> None:
    """Route a question and put it to whoever the rule names."""
    routed = turn.facts.policy.routes.route(question.topic, question.target)
    question = turn.put(replace(question, routed=routed, tried=()))
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
    )
    question = turn.question(question.number) or question
    role = routed.answerer.removeprefix("agent/")
    if not routed.answerer.startswith("agent/"):
        escalate(turn, question, person(turn.feature, routed), _why_a_person(routed))
    elif not _takes_part(turn, routed):
        because = f"A {turn.feature.spec.title} asks no knowledge agent"
        if turn.feature.spec.knowledge:
            because = f"{routed.agent} takes no part in a {turn.feature.spec.title} feature"
        escalate(turn, question, person(turn.feature, routed), because)
    else:
        ask_agent(turn, question, role)


def _takes_part(turn: Turn, routed: Routed) -> bool:
    handles = turn.facts.policy.handles
    return routed.agent in {handles.get(role) for role in turn.feature.spec.knowledge}


def _why_a_person(routed: Routed) -> str:
    if routed.note:
        return routed.note[:1].upper() + routed.note[1:]
    if routed.answerer.startswith("tool/"):
        return f"The tool {routed.answerer.removeprefix('tool/')} is not available yet"
    if routed.override:
        return f"`{routed.rule}` is always decided by people"
    return f"`{routed.rule}` is decided by people"


def ask_agent(turn: Turn, question: Question, role: str) -> None:
    """Have an agent answer; its answer comes back as an event."""
    question = turn.put(
        replace(
            question,
            state=QuestionState.ASKING,
            ask_round=question.ask_round + 1,
            ask_role=role,
            tried=(*question.tried, role),
        )
    )
    turn.do(
        AskAgent(
            key=f"f{turn.feature.id}:{question.name}:ask:{question.ask_round}",
            feature_id=turn.feature.id,
            question=question.number,
            ask_round=question.ask_round,
            inquiry=_inquiry(turn, question, role),
        )
    )


def _inquiry(turn: Turn, question: Question, role: str) -> Inquiry:
    earlier = [turn.question(number) for number in question.depends_on]
    return Inquiry(
        role=role,
        topic=question.topic,
        text=question.text,
        context=question.context,
        why=question.why,
        choices=question.choices,
        recommended=question.recommended,
        feature_title=turn.feature.title,
        added_context=tuple(added.text for added in question.added),
        earlier=tuple((other.text, other.answer) for other in earlier if other and other.settled),
        capability=question.routed.capability if question.routed else None,
    )


_PEOPLE: dict[str, Callable[[Feature], str]] = {
    "requester": lambda feature: feature.started_by,
    "author": lambda feature: feature.author,
    # Who started it may triage here, so that they count as a maintainer until one is configured.
    "maintainer": lambda feature: feature.started_by,
}


def person(feature: Feature, routed: Routed | None) -> str:
    """The first person or team of the chain, as written in a comment; else the requester."""
    chain = [routed.answerer, *(rung for rung, _ in routed.escalate_to)] if routed else []
    for rung in chain:
        kind, _, name = rung.partition("/")
        if kind == "team":
            return f"{feature.place.repo.partition('/')[0]}/{name}"
        if kind == "human":
            return _PEOPLE[name](feature) if name in _PEOPLE else name
    return feature.started_by


def escalate(turn: Turn, question: Question, to: str, because: str) -> None:
    """Put a question to a person, with everything needed to decide (specs/1, FR-007, FR-008)."""
    question = turn.put(
        replace(question, state=QuestionState.ESCALATED, asked=to, note=because, shown=True)
    )
    tentative = question.tentative
    turn.record(
        "escalation",
        BARON,
        question,
        to=to,
        because=because,
        tentative=tentative.content if tentative else None,
        confidence=tentative.confidence if tentative else None,
        rationale=tentative.rationale if tentative else None,
        uncertainty_reasons=list(tentative.uncertainty_reasons) if tentative else [],
        threshold=question.routed.threshold if question.routed else None,
    )


def settle(
    turn: Turn,
    question: Question,
    state: QuestionState,
    *,
    answer: str,
    source: str,
    by: str = "",
) -> None:
    """Give a question its answer; `by` is the person who settled it, empty for the gate."""
    validated = "human" if by else None
    question = turn.put(
        replace(
            question,
            state=state,
            answer=answer,
            source=source,
            validated_by=validated,
            settled_by=by,
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
    )


def write_specification(turn: Turn) -> None:
    """Commit what was settled; the same text again is no new commit."""
    feature = turn.feature
    revision = feature.spec_revision + 1
    turn.update(state=FeatureState.WRITING, spec_revision=revision, problem="")
    settled = [question for question in turn.questions if question.settled]
    decisions = "".join(f"\nDecision: {question.name}" for question in settled)
    title = " ".join(feature.title.split())[:60]
    turn.do(
        CommitFiles(
            key=f"f{feature.id}:spec",
            feature_id=feature.id,
            place=feature.place,
            branch=feature.branch,
            base=feature.default_branch,
            files=((f"{feature.folder}/spec.md", specification(feature, turn.questions)),),
            message=(
                f"Specify: {title}\n\nFrom the answers on #{feature.place.number}."
                f"\n\nAgent: baron{decisions}"
            ),
            revision=revision,
        )
    )
