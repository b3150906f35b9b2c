"""What programs ask for through the service: the same as people do with commands."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action
from app.events import QuestionAsked, ToPeople
from app.features.model import FULL, FeatureState, Question, global_id
from app.handlers.answers import to_a_person
from app.handlers.asking import advance
from app.handlers.drawing import draw
from app.handlers.facts import Facts
from app.handlers.turn import Turn
from app.texts.safe import visible


def asked(event: QuestionAsked, facts: Facts) -> list[Action]:
    """Create the question and ask it."""
    feature, draft = facts.feature, event.draft
    if feature is None or feature.state is FeatureState.GONE or len(facts.questions) >= FULL:
        return []
    turn = Turn(facts, feature)
    number = max((question.number for question in turn.questions), default=0) + 1
    question = turn.put(
        Question(
            number=number,
            gid=global_id(feature.id, number),
            topic=draft.topic,
            text=visible(draft.text).strip(),
            target=draft.target,
            context=visible(draft.context),
            why=visible(draft.why),
            choices=draft.choices,
            recommended=draft.recommended,
            asker=event.by,
            value=draft.impact * draft.uncertainty,
        )
    )
    turn.record(
        "question",
        f"@{event.by}",
        question,
        id=question.gid,
        topic=question.topic,
        target=question.target,
        text=question.text,
        context=question.context,
        choices=[[choice.letter, choice.text] for choice in question.choices],
    )
    if feature.state is not FeatureState.STOPPED:
        advance(turn)
    draw(turn)
    return turn.actions()


def to_people(event: ToPeople, facts: Facts) -> list[Action]:
    """Take the question from whoever has it, and ask a person."""
    resting = {FeatureState.GONE, FeatureState.STOPPED}
    if facts.feature is None or facts.feature.state in resting:
        return []
    turn = Turn(facts, facts.feature)
    question = turn.question(event.question)
    if question is None or question.ended:
        return []
    if question.routed is None:
        routed = facts.policy.routes.route(question.topic, question.target)
        question = turn.put(replace(question, routed=routed))
    turn.record("human", f"@{event.by}", question, action="escalate", text=event.because)
    question = turn.question(question.number) or question
    to_a_person(turn, replace(question), visible(event.because))
    advance(turn)
    draw(turn)
    return turn.actions()
