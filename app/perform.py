"""The only place where an action becomes I/O.

An effect is ensured, never merely created: after a doubtful answer (no answer, a server's error, a
process that died) it is looked for, twice and some time apart, before it is done again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from app.actions import (
    CommitFiles,
    GitHubEffect,
    React,
    ShowCheck,
    ShowComment,
    ShowLabel,
    ShowPull,
    SubmitReview,
)
from app.attempt import (
    GIVE_UP,
    LAG,
    LOOKS,
    Again,
    Attempt,
    Done,
    Failed,
    Outcome,
    Permit,
    Wait,
)
from app.github import checks, writes
from app.github.apps import Apps
from app.github.client import GitHubError
from app.handlers.drawing import OUR_LABELS
from app.perform_pulls import show_pull, submit_review
from app.store.outbox import Due, Later

__all__ = ["Again", "Done", "Failed", "Outcome", "perform"]

logger = logging.getLogger(__name__)

_FINAL = frozenset({401, 403, 404, 409, 410, 413, 422, 451})
_GONE = frozenset({404, 410})


async def perform(
    apps: Apps,
    due: Due,
    effect: GitHubEffect,
    permit: Permit,
    crash: Callable[[str], None] = lambda point: None,
) -> Outcome:
    """Ensure one effect, or say what to do about it. Raises nothing that GitHub may answer."""
    try:
        client = await apps.first.repository(effect.place)
        attempt = Attempt(apps, client, due, permit, crash)
        match effect:
            case ShowComment():
                return await _show_comment(attempt, effect)
            case React():
                await attempt.write(writes.react(client, effect))
                return Done()
            case ShowLabel():
                return await _show_label(attempt, effect)
            case CommitFiles():
                return await _commit(attempt, effect)
            case ShowCheck():
                return await _show_check(attempt, effect)
            case ShowPull():
                return await show_pull(attempt, effect)
            case SubmitReview():
                return await submit_review(attempt, effect)
            case _:
                assert_never(effect)
    except Wait as error:
        return Again(Later(error.seconds, doubtful=due.doubtful, counted=False))
    except GitHubError as error:
        return _after(error, due)


def _after(error: GitHubError, due: Due) -> Outcome:
    """What an error means: wait, look again later, or give up."""
    reason = str(error)
    if error.rate_limited:
        return Again(Later(error.pause(time.time()), doubtful=True, error=reason), block=True)
    tries = due.attempts
    patience = 4 if due.kind == "React" else GIVE_UP  # a missed reaction is no harm
    if error.status in _FINAL and tries >= patience:
        return Failed(reason)
    return Again(Later(min(0.3 * 2 ** min(tries, 7), 30.0), doubtful=True, error=reason))


async def _show_comment(attempt: Attempt, effect: ShowComment) -> Outcome:
    due = attempt.due
    comment_id = due.result.get("comment_id")
    if comment_id is None and due.doubtful:
        ours = await attempt.apps.recogniser()
        number = effect.place.number
        comment_id = await writes.find_comment(attempt.client, number, effect.key, ours)
        if comment_id is None and due.looks < LOOKS:
            return Again(Later(LAG, doubtful=True, looked=True, counted=False))
    if comment_id is None:
        created = await attempt.write(writes.create_comment(attempt.client, effect))
        return Done({"comment_id": created})
    try:
        await attempt.write(writes.edit_comment(attempt.client, comment_id, effect))
    except GitHubError as error:
        if error.status not in _GONE:
            raise
        return await _after_lost_comment(attempt, effect, comment_id, error)
    return Done({"comment_id": comment_id})


async def _after_lost_comment(
    attempt: Attempt, effect: ShowComment, comment_id: int, error: GitHubError
) -> Outcome:
    """A comment that we know is not there: find it by its marker, or forget it and make it anew.

    A list may lag behind, so it is made anew only after the looks of any doubtful creation.
    """
    number, patient = effect.place.number, attempt.due.attempts < GIVE_UP
    _, closed = await attempt.client.issue_now(number)
    if closed is None and not patient:
        return Failed(f"the issue was deleted, or is hidden from the App: {error}")
    if closed is None:
        raise error
    ours = await attempt.apps.recogniser()
    found = await writes.find_comment(attempt.client, number, effect.key, ours)
    if found is None and patient:
        return Again(Later(LAG, doubtful=True, error=str(error), forget=True))
    if found is None or found == comment_id:
        raise error
    await attempt.write(writes.edit_comment(attempt.client, found, effect))
    return Done({"comment_id": found})


async def _show_label(attempt: Attempt, effect: ShowLabel) -> Outcome:
    number = effect.place.number
    add, remove = await writes.label_changes(attempt.client, effect, OUR_LABELS)
    for name in remove:
        await attempt.write(writes.remove_label(attempt.client, number, name))
    for name in add:
        await attempt.write(writes.add_label(attempt.client, number, name))
    return Done()


async def _commit(attempt: Attempt, effect: CommitFiles) -> Outcome:
    """Commit unless it stands already; the first look costs little and makes every retry safe."""
    head, missing = await writes.standing_commit(attempt.client, effect)
    if head and not missing:
        return Done({"commit": head})
    if attempt.due.doubtful and attempt.due.looks < LOOKS:
        return Again(Later(LAG, doubtful=True, looked=True, counted=False))
    effect = replace(effect, files=missing)
    _, commit = await attempt.write(writes.make_commit(attempt.client, effect, head))
    await attempt.write(writes.move_branch(attempt.client, effect, head, commit))
    return Done({"commit": commit})


async def _show_check(attempt: Attempt, effect: ShowCheck) -> Outcome:
    """One run for each commit, whatever became of earlier tries."""
    due = attempt.due
    run = due.result.get("check_id") or await checks.find_check(attempt.client, effect)
    if run is None and due.doubtful and due.looks < LOOKS:
        return Again(Later(LAG, doubtful=True, looked=True, counted=False))
    if run is None:
        run = await attempt.write(checks.create_check(attempt.client, effect))
    else:
        await attempt.write(checks.update_check(attempt.client, run, effect))
    return Done({"check_id": run})
