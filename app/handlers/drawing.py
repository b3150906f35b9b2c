"""Pictures of the state: the status comment, the questions' comments, the label."""

from __future__ import annotations

from app.actions import ShowComment, ShowLabel
from app.features.model import FeatureState, Question
from app.handlers.asks import ask_people
from app.handlers.turn import Turn
from app.texts.question import question_comment
from app.texts.status import status_comment

_LABELS = {
    FeatureState.NEW: None,
    FeatureState.SPECIFYING: "baron:asking",
    FeatureState.ASKING: "baron:asking",
    FeatureState.WAITING: "baron:waiting",
    FeatureState.WRITING: "baron:asking",
    FeatureState.PLANNED: "baron:waiting",
    FeatureState.BUILDING: "baron:building",
    FeatureState.REVIEW: "baron:review",
    FeatureState.DONE: "baron:done",
    FeatureState.STOPPED: "baron:paused",
    FeatureState.FAILED: "baron:waiting",
}
OUR_LABELS = tuple(
    f"baron:{name}" for name in ("asking", "waiting", "building", "review", "done", "paused")
)


def draw(turn: Turn) -> None:
    """Ask for every picture as it should look now; one that looks so already costs nothing."""
    feature = turn.feature
    if feature.state is FeatureState.GONE:
        return
    if feature.run:
        key = f"f{feature.id}:status"
        body = status_comment(feature, turn.questions, turn.tasks, key=key)
        turn.do(ShowComment(key, feature.id, feature.place, body))
        label = _LABELS[feature.state]
        turn.do(ShowLabel(f"f{feature.id}:label", feature.id, feature.place, label))
    if feature.state is FeatureState.STOPPED:
        return
    ask_people(turn)
    for question in turn.questions:
        if question.shown and _has_comment(turn, question):
            _draw_question(turn, question)


def _has_comment(turn: Turn, question: Question) -> bool:
    """With `comments: outcomes` a question has none before it is answered; with `none`, never.

    Whoever used `/ask` is always answered where they asked.
    """
    match turn.facts.policy.comments:
        case "none":
            return bool(question.person_asking)
        case "outcomes":
            return bool(question.person_asking) or question.waits_for_a_person or question.ended
        case _:
            return True


def _draw_question(turn: Turn, question: Question) -> None:
    feature = turn.feature
    key = f"f{feature.id}:{question.name}"
    waiting = tuple(
        other.name
        for other in turn.questions
        if question.number in other.depends_on and not other.ended and not question.circle
    )
    body = question_comment(feature, question, waiting, key=key)
    turn.do(ShowComment(key, feature.id, feature.place, body))
