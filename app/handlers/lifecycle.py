"""What happens to a feature when its issue does: paused, resumed, ended."""

from __future__ import annotations

from app.actions import Action, DropEffects
from app.events import Closed, Reopened, Unlabeled, Vanished
from app.features.model import Feature, FeatureState
from app.features.types import type_of
from app.handlers.asking import BARON, advance
from app.handlers.drawing import draw
from app.handlers.facts import Facts
from app.handlers.turn import Turn


def _running(feature: Feature | None) -> bool:
    if feature is None or feature.run == 0:
        return False
    return feature.state not in {FeatureState.STOPPED, FeatureState.GONE}


def unlabeled(event: Unlabeled, facts: Facts) -> list[Action]:
    """Taking the label off pauses the feature."""
    spec = type_of(event.label)
    if spec is None or not _running(facts.feature) or event.label in event.issue.labels:
        return []
    if facts.feature is None or facts.feature.type is not spec.type:
        return []
    return _stop(facts, facts.feature, event.sender.login, f"the label `{spec.label}` was removed")


def closed(event: Closed, facts: Facts) -> list[Action]:
    """Closing the issue pauses the feature; a finished one is left as it is."""
    if facts.feature is None or not _running(facts.feature):
        return []
    if facts.feature.state is FeatureState.DONE:
        return []
    return _stop(facts, facts.feature, event.sender.login, "the issue was closed")


def _stop(facts: Facts, feature: Feature, who: str, because: str) -> list[Action]:
    turn = Turn(facts, feature)
    turn.update(state=FeatureState.STOPPED, stopped_because=because)
    turn.record("paused", f"@{who}", because=because)
    draw(turn)
    return turn.actions()


def reopened(event: Reopened, facts: Facts) -> list[Action]:
    """Reopening goes on with a feature that still bears its label."""
    feature = facts.feature
    if feature is None or feature.state is not FeatureState.STOPPED or not feature.run:
        return []
    if feature.spec.label not in event.issue.labels:
        return []
    turn = Turn(facts, feature)
    resume(turn, event.sender.login)
    draw(turn)
    return turn.actions()


def resume(turn: Turn, who: str) -> None:
    """Go on where the feature was."""
    turn.update(stopped_because="")
    turn.record("resumed", f"@{who}")
    if turn.questions:
        if turn.feature.commit and all(question.ended for question in turn.questions):
            turn.enter(FeatureState.DONE)
        else:
            advance(turn)
    else:
        turn.enter(FeatureState.SPECIFYING)


def vanished(event: Vanished, facts: Facts) -> list[Action]:
    """The issue is gone: nothing more is written there, the log stays."""
    if facts.feature is None or facts.feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, facts.feature)
    turn.enter(FeatureState.GONE)
    turn.record("gone", BARON, how=event.how)
    turn.add(DropEffects(facts.feature.id))
    return turn.actions()
