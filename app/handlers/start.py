"""A label starts a feature; what the issue leaves open becomes its questions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from app.actions import Action, React, ShowComment
from app.events import Labeled, QuestionsGenerated
from app.features.model import FeatureState, Question, global_id
from app.features.types import TypeSpec, type_of
from app.handlers.asking import BARON, advance
from app.handlers.drawing import draw
from app.handlers.facts import Facts, Permission
from app.handlers.generating import generate
from app.handlers.lifecycle import resume, unfreeze
from app.handlers.planning import bind_anew
from app.handlers.spending import count, logged
from app.handlers.turn import Turn
from app.questions import dependencies
from app.questions.model import Draft
from app.texts.replies import reply, start_refused
from app.texts.safe import slug_words, visible
from app.texts.suspicious import suspicions


def labeled(event: Labeled, facts: Facts) -> list[Action]:
    """Start the feature that the label names, or go on with one that was paused."""
    spec = type_of(event.label)
    feature = facts.feature
    if spec is None or event.issue.pull_request or event.issue.closed or facts.closed:
        return []
    if facts.labels is not None and not any(type_of(label) is spec for label in facts.labels):
        return []  # taken off again before this came
    if facts.permission < Permission.TRIAGE:
        return _refuse(event)
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    if feature.state is FeatureState.STOPPED and feature.run:
        if feature.type is not spec.type:
            turn.record("type", f"@{event.sender.login}", before=feature.type.value, to=spec.type)
            turn.update(type=spec.type)
            bind_anew(turn)
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
    unfreeze(turn)
    feature = turn.feature
    if feature.run and feature.generated == feature.run and feature.state is FeatureState.FAILED:
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
        alarm=", ".join(suspicions(f"{issue.title}\n\n{issue.body}")),
        branch=turn.feature.branch or branch_name(issue.place.number, issue.title),
        run=turn.feature.run + 1,
        problem="",
        stopped_because="",
        default_branch=issue.default_branch,
        templates=turn.facts.templates,
    )
    turn.record(
        "started",
        f"@{event.sender.login}",
        label=event.label,
        type=spec.type.value,
        title=turn.feature.title,
        body_sha256=hashlib.sha256(body.encode()).hexdigest(),
        alarm=turn.feature.alarm or None,
        branch=turn.feature.branch,
    )
    turn.do(React(f"react:issue:{issue.place}:eyes", turn.feature.id, issue.place, "eyes"))
    generate(turn)


def _has_own_questions(questions: Sequence[Question]) -> bool:
    """Whether @baron's reading of the issue has raised its questions."""
    return any(not question.asker for question in questions)


def generated(event: QuestionsGenerated, facts: Facts) -> list[Action]:
    """Number the questions and ask them."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    count(turn, event.spending)
    if event.run != feature.run or _has_own_questions(facts.questions):
        return turn.actions()
    if event.error:
        cost = logged(event.spending.cost)
        turn.record("failed", BARON, what="questions", reason=event.error, cost=cost)
        if feature.state is not FeatureState.STOPPED:
            turn.update(state=FeatureState.FAILED, problem="No questions could be generated.")
    else:
        turn.update(generated=event.run)
        turn.record(
            "generated",
            BARON,
            generator=event.generator,
            count=len(event.drafts),
            note=event.note or None,
            prompt=event.prompt or None,
            cost=logged(event.spending.cost),
        )
        first = max((question.number for question in turn.questions), default=0) + 1
        for number, draft in enumerate(event.drafts, start=first):
            _create(turn, number, draft, first, len(event.drafts))
        _mark_circles(turn)
        if feature.state is not FeatureState.STOPPED:
            advance(turn)
    draw(turn)
    return turn.actions()


def _create(turn: Turn, number: int, draft: Draft, first: int, count: int) -> None:
    question = turn.put(
        Question(
            number=number,
            gid=global_id(turn.feature.id, number),
            topic=draft.topic,
            text=draft.text,
            target=draft.target,
            context=draft.context,
            why=draft.why,
            choices=draft.choices,
            recommended=draft.recommended,
            depends_on=tuple(first + n - 1 for n in draft.depends_on if 1 <= n <= count),
            category=draft.category,
            value=draft.impact * draft.uncertainty,
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


def _mark_circles(turn: Turn) -> None:
    """Questions that wait for each other go to a person, who sees the circle by name."""
    needs = {question.number: question.depends_on for question in turn.questions}
    for circle in dependencies.circles(needs):
        shown = dependencies.shown(circle)
        for number in circle:
            question = turn.question(number)
            if question is not None and not question.circle:
                turn.record("circle", BARON, question, circle=shown)
                question = turn.question(number) or question
                turn.put(replace(question, circle=shown))
