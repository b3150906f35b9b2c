"""What was settled becomes the specification."""

from __future__ import annotations

from app.actions import CommitFiles
from app.features.document import specification
from app.features.model import FeatureState
from app.handlers.turn import Turn


def write_specification(turn: Turn) -> None:
    """Commit what was settled; the same text again is no new commit."""
    feature = turn.feature
    revision = feature.spec_revision + 1
    turn.update(state=FeatureState.WRITING, spec_revision=revision, problem="")
    settled = [question for question in turn.questions if question.settled]
    decisions = "".join(f"\nDecision: {question.name}" for question in settled)
    turn.do(
        CommitFiles(
            key=f"f{feature.id}:spec",
            feature_id=feature.id,
            place=feature.place,
            branch=feature.branch,
            base=feature.default_branch,
            files=((f"{feature.folder}/spec.md", specification(feature, turn.questions)),),
            message=(
                # No word of the issue's: closing keywords and [skip ci] work in commit messages.
                f"Specify {feature.branch}\n\nFrom the answers on #{feature.place.number}."
                f"\n\nAgent: baron{decisions}"
            ),
            revision=revision,
        )
    )
