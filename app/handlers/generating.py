"""@baron reads the issue for what it leaves open."""

from __future__ import annotations

from app.actions import GenerateQuestions
from app.features.model import FeatureState
from app.features.types import FeatureRequest
from app.handlers.turn import Turn

DRIVER = "project-manager"
"""The role that finds questions and writes documents."""


def generate_again(turn: Turn) -> None:
    """Read the issue once more: it failed the first time."""
    turn.update(state=FeatureState.SPECIFYING, run=turn.feature.run + 1, problem="")
    generate(turn)


def generate(turn: Turn) -> None:
    feature = turn.feature
    turn.do(
        GenerateQuestions(
            key=f"f{feature.id}:generate:{feature.run}",
            feature_id=feature.id,
            run=feature.run,
            request=FeatureRequest(feature.title, feature.body, feature.type),
            limit=turn.facts.policy.question_limit,
            repo=feature.place.repo,
            person=feature.started_by,
            model=DRIVER not in turn.facts.policy.without_model,
        )
    )
