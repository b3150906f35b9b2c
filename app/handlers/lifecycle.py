"""What happens to a feature when its issue does: paused, resumed, ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.actions import Action, DropEffects
from app.events import Closed, Reopened, Unlabeled, Vanished
from app.features.model import NO_CLOCK, Feature, FeatureState
from app.features.types import type_of
from app.handlers.answers import judge_again
from app.handlers.asking import BARON, advance
from app.handlers.clocks import shifted, stamp
from app.handlers.drawing import draw
from app.handlers.facts import Facts
from app.handlers.generating import generate_again
from app.handlers.planning import stand
from app.handlers.turn import Turn
from app.handlers.wanting import review_again
from app.questions.model import QuestionState


def _running(feature: Feature | None) -> bool:
    if feature is None or feature.run == 0:
        return False
    return feature.state not in {FeatureState.STOPPED, FeatureState.GONE, FeatureState.DONE}


def unlabeled(event: Unlabeled, facts: Facts) -> list[Action]:
    """Taking the label off pauses the feature."""
    if type_of(event.label) is None or facts.feature is None or not _running(facts.feature):
        return []
    labels = facts.labels if facts.labels is not None else event.issue.labels
    if any(type_of(label) for label in labels):
        return []  # set again since, or another one still stands
    because = f"the label `{facts.feature.spec.label}` was removed"
    return _stop(facts, facts.feature, event.sender.login, because, "label")


def closed(event: Closed, facts: Facts) -> list[Action]:
    """Closing the issue pauses the feature; a finished one is left as it is."""
    if facts.feature is None or not _running(facts.feature) or facts.closed is False:
        return []
    return _stop(facts, facts.feature, event.sender.login, "the issue was closed", "closed")


def _stop(facts: Facts, feature: Feature, who: str, because: str, by: str) -> list[Action]:
    turn = Turn(facts, feature)
    halt(turn, who, because, by)
    draw(turn)
    return turn.actions()


def halt(turn: Turn, who: str, because: str, by: str = "command") -> None:
    """Ask nothing more; all clocks stand still until `resume`."""
    turn.update(
        state=FeatureState.STOPPED,
        stopped_because=because,
        stopped_by=by,
        paused_at=stamp(turn.facts.now),
    )
    turn.record("paused", f"@{who}", because=because)


def reopened(event: Reopened, facts: Facts) -> list[Action]:
    """Reopening goes on with a feature that closing stopped and that still bears its label.

    An issue's author may close and reopen it, and so must not undo a maintainer's `/pause`.
    """
    feature = facts.feature
    if feature is None or feature.state is not FeatureState.STOPPED or not feature.run:
        return []
    if feature.stopped_by not in {"closed", "label"}:
        return []
    labels = facts.labels if facts.labels is not None else event.issue.labels
    if facts.closed or not any(type_of(label) for label in labels):
        return []
    turn = Turn(facts, feature)
    resume(turn, event.sender.login)
    draw(turn)
    return turn.actions()


def resume(turn: Turn, who: str) -> None:
    """Go on where the feature was, with the time that was left."""
    unfreeze(turn)
    turn.record("resumed", f"@{who}")
    feature = turn.feature
    if feature.run and feature.generated != feature.run:
        # What was to be generated may have been lost, or have failed while nobody was asked.
        generate_again(turn)
        return
    if feature.pull and feature.approved_by:
        turn.do(review_again(turn))  # what was to be looked at may have been dropped
    for question in turn.questions:
        if question.state is QuestionState.ANSWERED:
            judge_again(turn, question)
    if feature.written == feature.spec_revision and feature.written and _all_ended(turn):
        stand(turn)
    else:
        if feature.run == 0:
            turn.enter(FeatureState.NEW)
        advance(turn)


def unfreeze(turn: Turn) -> None:
    """Let the clocks run again, each with what it had left."""
    if turn.feature.paused_at:
        since = datetime.fromisoformat(turn.feature.paused_at)
        for question in turn.questions:
            if question.clock != NO_CLOCK:
                turn.put(replace(question, clock=shifted(turn, question, since)))
    turn.update(stopped_because="", stopped_by="", paused_at="")


def _all_ended(turn: Turn) -> bool:
    return all(question.ended for question in turn.questions)


def vanished(event: Vanished, facts: Facts) -> list[Action]:
    """The issue is gone: nothing more is written there, the log stays."""
    if facts.feature is None or facts.feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, facts.feature)
    turn.enter(FeatureState.GONE)
    turn.record("gone", BARON, how=event.how)
    turn.add(DropEffects(facts.feature.id))
    return turn.actions()
