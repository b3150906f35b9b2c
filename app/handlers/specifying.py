"""What was settled becomes the documents: specification, plan, tasks."""

from __future__ import annotations

import hashlib

from app.actions import CommitFiles, DropAgentWork, WriteDocuments
from app.features.blobs import blob_sha
from app.features.document import specification
from app.features.model import FeatureState
from app.features.plan import plan
from app.features.tasklist import tasklist
from app.features.types import FeatureRequest
from app.handlers.planning import stand
from app.handlers.turn import Turn

Files = tuple[tuple[str, str], ...]


def write_specification(turn: Turn) -> None:
    """Commit what was settled; the same text again is no new commit, and costs nothing again."""
    drafts = _drafts(turn)
    digest = _digest(drafts)
    feature = turn.feature
    if digest == feature.drafted and feature.written == feature.spec_revision:
        if feature.state is not FeatureState.DONE:
            stand(turn)
        return
    if digest == feature.drafted and _is_written_elsewhere(turn):
        # It is being written, also if it was paused meanwhile: not paid for twice.
        turn.enter(FeatureState.WRITING)
        return
    revision = feature.spec_revision + 1
    turn.update(state=FeatureState.WRITING, spec_revision=revision, problem="", drafted=digest)
    if _is_written_elsewhere(turn):
        _have_written(turn, drafts)
    else:
        commit(turn, drafts)


def _is_written_elsewhere(turn: Turn) -> bool:
    """By a model, or in the form of the repository's templates; else the drafts have to do."""
    return turn.facts.policy.writer or bool(turn.feature.templates)


def _drafts(turn: Turn) -> Files:
    about = (turn.feature, turn.questions)
    return (
        ("spec.md", specification(*about)),
        ("plan.md", plan(*about)),
        ("tasks.md", tasklist(*about)),
    )


def _digest(drafts: Files) -> str:
    return hashlib.sha256(repr(drafts).encode()).hexdigest()


def still_fits(turn: Turn) -> bool:
    """Whether what was written rests on the answers as they are now."""
    ended = all(question.ended for question in turn.questions)
    return ended and turn.feature.drafted == _digest(_drafts(turn))


def _have_written(turn: Turn, drafts: Files) -> None:
    feature = turn.feature
    turn.add(DropAgentWork(feature.id, f"f{feature.id}:write:{feature.spec_revision - 1}"))
    turn.do(
        WriteDocuments(
            key=f"f{feature.id}:write:{feature.spec_revision}",
            feature_id=feature.id,
            revision=feature.spec_revision,
            drafts=drafts,
            request=FeatureRequest(feature.title, feature.body, feature.type),
            answers=tuple(
                (question.name, question.text, question.answer, question.source)
                for question in turn.questions
                if question.settled
            ),
            repo=feature.place.repo,
            person=feature.started_by,
            place=feature.place,
            base=feature.default_branch,
            templates=feature.templates,
            model=turn.facts.policy.writer,
        )
    )


def commit(turn: Turn, files: Files) -> None:
    """Put the documents on the feature's branch."""
    feature = turn.feature
    settled = [question for question in turn.questions if question.settled]
    decisions = "".join(f"\nDecision: {question.name}" for question in settled)
    turn.do(
        CommitFiles(
            key=f"f{feature.id}:spec",
            feature_id=feature.id,
            place=feature.place,
            branch=feature.branch,
            base=feature.default_branch,
            files=tuple((f"{feature.folder}/{name}", text) for name, text in files),
            message=(
                # No word of the issue's: closing keywords and [skip ci] work in commit messages.
                f"Specify {feature.branch}\n\nFrom the answers on #{feature.place.number}."
                f"\n\nAgent: baron{decisions}"
            ),
            revision=feature.spec_revision,
            ours=tuple((f"{feature.folder}/tasks.md", blob) for blob in feature.tasks_blobs),
        )
    )
    text = dict(files).get("tasks.md")
    if text is not None:
        known = [blob for blob in feature.tasks_blobs if blob != blob_sha(text)]
        turn.update(tasks_blobs=(*known[-50:], blob_sha(text)))
