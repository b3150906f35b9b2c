"""A label starts a feature; what the issue leaves open becomes its questions."""

from __future__ import annotations

import hashlib

from app.actions import Action, GenerateQuestions, React, ShowComment
from app.events import Labeled, QuestionsGenerated
from app.features.model import Feature, FeatureState, Question, global_id
from app.features.types import FeatureRequest, TypeSpec, type_of
from app.handlers.asking import BARON, advance
from app.handlers.drawing import draw
from app.handlers.facts import Facts, Permission
from app.handlers.lifecycle import resume
from app.handlers.turn import Turn
from app.questions.model import Draft
from app.texts.replies import reply, start_refused
from app.texts.safe import slug_words, visible


def labeled(event: Labeled, facts: Facts) -> list[Action]:
    """Start the feature that the label names, or go on with one that was paused."""
    spec = type_of(event.label)
    feature = facts.feature
    if spec is None or event.issue.pull_request or event.issue.closed:
        return []
    if facts.permission < Permission.TRIAGE:
        return _refuse(event)
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    if feature.state is FeatureState.STOPPED and feature.run:
        resume(turn, event.sender.login)
    elif feature.state in {FeatureState.NEW, FeatureState.STOPPED, FeatureState.FAILED}:
        _begin(turn, event, spec)
    else:
        return []
    draw(turn)
    return turn.actions()


def _refuse(event: Labeled) -> list[Action]:
    place = event.issue.place
    react = React(f"react:issue:{place}:confused", None, place, "confused")
    if event.sender.login != event.issue.author:
        return [react]
    key = f"start-refused:{event.delivery}"
    body = reply([start_refused()], feature=str(place), key=key)
    return [react, ShowComment(key, None, place, body)]


def branch_name(number: int, title: str) -> str:
    """`NNN-short-name`: the issue's number and the first four words of its title."""
    return f"{number:03d}-{slug_words(title, 4)}"


def _begin(turn: Turn, event: Labeled, spec: TypeSpec) -> None:
    issue = event.issue
    body = visible(issue.body)
    if turn.questions and turn.feature.state is FeatureState.FAILED:
        advance(turn)
        return
    turn.update(
        state=FeatureState.SPECIFYING,
        type=spec.type,
        place=issue.place,
        title=visible(issue.title),
        body=body,
        author=issue.author,
        started_by=event.sender.login,
        started_on=turn.facts.now.date().isoformat(),
        branch=turn.feature.branch or branch_name(issue.place.number, issue.title),
        run=turn.feature.run + 1,
        problem="",
        stopped_because="",
        default_branch=issue.default_branch,
    )
    turn.record(
        "started",
        f"@{event.sender.login}",
        label=event.label,
        type=spec.type.value,
        title=turn.feature.title,
        body_sha256=hashlib.sha256(body.encode()).hexdigest(),
        branch=turn.feature.branch,
    )
    turn.do(React(f"react:issue:{issue.place}:eyes", turn.feature.id, issue.place, "eyes"))
    turn.do(
        GenerateQuestions(
            key=f"f{turn.feature.id}:generate:{turn.feature.run}",
            feature_id=turn.feature.id,
            run=turn.feature.run,
            request=FeatureRequest(turn.feature.title, body, spec.type),
            limit=turn.facts.policy.question_limit,
        )
    )


def generated(event: QuestionsGenerated, facts: Facts) -> list[Action]:
    """Number the questions and ask them."""
    feature = facts.feature
    if feature is None or event.run != feature.run or facts.questions:
        return []
    if feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    if event.error:
        turn.record("failed", BARON, what="questions", reason=event.error)
        turn.update(state=FeatureState.FAILED, problem="No questions could be generated.")
    else:
        turn.record("generated", BARON, generator=event.generator, count=len(event.drafts))
        for number, draft in enumerate(event.drafts, start=1):
            _create(turn, feature, number, draft)
        if feature.state is not FeatureState.STOPPED:
            advance(turn)
    draw(turn)
    return turn.actions()


def _create(turn: Turn, feature: Feature, number: int, draft: Draft) -> None:
    question = turn.put(
        Question(
            number=number,
            gid=global_id(feature.id, number),
            topic=draft.topic,
            text=draft.text,
            target=draft.target,
            context=draft.context,
            why=draft.why,
            choices=draft.choices,
            recommended=draft.recommended,
            depends_on=tuple(n for n in draft.depends_on if 0 < n < number),
            category=draft.category,
        )
    )
    turn.record(
        "question",
        BARON,
        question,
        id=question.gid,
        topic=draft.topic,
        target=draft.target,
        text=draft.text,
        context=draft.context,
        why=draft.why,
        choices=[[choice.letter, choice.text] for choice in draft.choices],
        recommended=draft.recommended,
        depends_on=[f"Q{n}" for n in question.depends_on],
        category=draft.category,
    )
