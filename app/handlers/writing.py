"""What came of a commit, and of what could not be written."""

from __future__ import annotations

from app.actions import Action
from app.events import DocumentsWritten, EffectFailed, FilesCommitted
from app.features.model import SPECIFIED, FeatureState
from app.handlers.asking import BARON
from app.handlers.drawing import draw
from app.handlers.facts import Facts
from app.handlers.planning import guard, list_tasks, stand
from app.handlers.specifying import commit, still_fits, write_specification
from app.handlers.spending import count, logged
from app.handlers.turn import Turn
from app.texts.documents import document


def committed(event: FilesCommitted, facts: Facts) -> list[Action]:
    """The specification stands on its branch."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    if event.revision != feature.spec_revision:
        return []  # a newer one is being written
    turn = Turn(facts, feature)
    turn.update(commit=event.commit, written=event.revision)
    turn.record(
        "written",
        BARON,
        path=f"{feature.folder}/spec.md",
        branch=feature.branch,
        commit=event.commit,
        revision=event.revision,
    )
    if facts.planned is not None and facts.planned.tasks is not None:
        list_tasks(turn, facts.planned)
    guard(turn)
    if feature.state is FeatureState.WRITING:
        stand(turn)
    draw(turn)
    return turn.actions()


def documents(event: DocumentsWritten, facts: Facts) -> list[Action]:
    """@baron's model wrote, or could not; either way there is something to commit."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    count(turn, event.spending)
    turn.record(
        "documents",
        BARON,
        revision=event.revision,
        documents=[
            {"name": one.name, "model": one.model or None, "prompt": one.prompt or None,
             "error": one.error or None}
            for one in event.documents
        ],
        cost=logged(event.spending.cost),
    )  # fmt: skip
    if event.revision == feature.spec_revision and not still_fits(turn):
        turn.update(drafted="")  # an answer is being changed, or it was stopped for good
        if feature.state is FeatureState.WRITING:  # what it says of the issue itself has changed
            write_specification(turn)
    elif event.revision == feature.spec_revision:  # else a newer one is being written
        turn.update(unwritten=next((one.error for one in event.documents if one.error), ""))
        files = ((one.name, document(one.text)) if one.model else (one.name, one.text)
                 for one in event.documents)  # fmt: skip
        commit(turn, tuple(files))
    draw(turn)
    return turn.actions()


def failed(event: EffectFailed, facts: Facts) -> list[Action]:
    """Something could not be written for good: say so where a maintainer sees it."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    turn.record("failed", BARON, what=event.what, reason=event.reason)
    if event.what == "comment":
        return turn.actions()  # to draw it again would fail again
    if event.what == "pull" or (event.what == "work" and feature.state in SPECIFIED):
        turn.update(problem=event.reason)
        draw(turn)
        return turn.actions()
    turn.update(drafted="")  # what was on its way is not coming
    resting = {FeatureState.STOPPED, FeatureState.DONE, *SPECIFIED}
    if event.what == "work" and feature.state not in resting:
        turn.update(state=FeatureState.FAILED, problem=event.reason)
    if feature.state is FeatureState.WRITING:
        turn.update(state=FeatureState.FAILED, problem=event.reason)
    draw(turn)
    return turn.actions()
