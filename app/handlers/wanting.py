"""Which look of @degaulle's at a pull request is wanted: by rules, or by a model, too."""

from __future__ import annotations

from dataclasses import replace

from app.actions import ReviewPull
from app.features.assigning import REVIEWER
from app.features.model import Feature, FeatureState, Place
from app.handlers.facts import Facts
from app.handlers.turn import Turn


def wanted(
    facts: Facts, place: Place, head: str, feature: Feature | None, *, draft: bool
) -> ReviewPull:
    """One for a pull request: what was asked of an older head is not looked at any more.

    While tasks are being done the rules look alone; a model looks when there is all to be seen.
    """
    policy = facts.policy
    takes_part = feature is None or REVIEWER in feature.spec.execution
    resting = feature is not None and feature.state is FeatureState.STOPPED
    asks_model = policy.reviewer and takes_part and not draft and not resting
    model = (policy.model_for(REVIEWER, "reviewing") or "") if asks_model else None
    return ReviewPull(
        key=f"review:{place.repo_id}:{place.number}",
        feature_id=feature.id if feature else 0,
        place=place,
        head=head,
        folder=feature.folder if feature else "",
        draft=draft,
        model=model,
        answers=tuple(
            (question.name, question.text, question.answer, question.source)
            for question in facts.questions
            if question.settled
        ),
        person=feature.started_by if feature else "",
        most=policy.findings,
        allowed=tuple(one.path for one in facts.allowed),
    )


def review_again(turn: Turn, name: str = "") -> ReviewPull:
    """Another look at the feature's pull request as it is now."""
    place = replace(turn.place, number=turn.feature.pull)
    draft = turn.feature.state is not FeatureState.REVIEW
    found = wanted(turn.facts, place, "", turn.feature, draft=draft)
    return replace(found, key=f"{found.key}:{name or turn.next_seq}")
