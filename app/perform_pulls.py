"""The parts of `perform()` that are about pull requests: the feature's own, and reviews of any."""

from __future__ import annotations

from app.actions import ShowPull, SubmitReview
from app.attempt import LAG, LOOKS, Again, Attempt, Done, Outcome
from app.github import proposals, reviews
from app.github.client import GitHubError
from app.github.proposals import Proposal
from app.store.outbox import Later


async def show_pull(attempt: Attempt, effect: ShowPull) -> Outcome:
    """One pull request from this branch: found, else opened; then it is made to read so."""
    client = attempt.client
    found = await _known(attempt, effect)
    if found is None:
        if attempt.due.doubtful and attempt.due.looks < LOOKS:
            return Again(Later(LAG, doubtful=True, looked=True, counted=False))
        given = {"head": effect.head, "base": effect.base}
        words = {"title": effect.title, "body": effect.body}
        found = await attempt.write(proposals.open_draft(client, **given, **words))
    elif (found.title, found.body.replace("\r\n", "\n")) != (effect.title, effect.body):
        words = {"title": effect.title, "body": effect.body}
        found = await attempt.write(proposals.edit(client, found.number, **words))
    if found.state == "open" and found.draft is not effect.draft:
        change = proposals.set_draft if effect.draft else proposals.set_ready
        await attempt.write(change(client, found))
    return Done({"number": found.number})


async def _known(attempt: Attempt, effect: ShowPull) -> Proposal | None:
    if effect.number:
        return await proposals.get(attempt.client, effect.number)
    return await proposals.find(attempt.client, effect.head, effect.base)


async def submit_review(attempt: Attempt, effect: SubmitReview) -> Outcome:
    """One review of a commit; threads whose matter is gone are resolved, once or again."""
    client, number = attempt.client, effect.place.number
    for thread in effect.resolve:
        await _resolve(attempt, thread)
    if not effect.body:
        return Done()
    ours = await attempt.app.recogniser()
    if attempt.due.result.get("review_id"):
        return Done()
    found = await reviews.find_review(client, number, effect.key, ours)
    if found is None and attempt.due.doubtful and attempt.due.looks < LOOKS:
        return Again(Later(LAG, doubtful=True, looked=True, counted=False))
    if found is None:
        found = await attempt.write(
            reviews.submit(
                client,
                number,
                head=effect.head,
                body=effect.body,
                without_lines=effect.without_lines,
                comments=effect.notes,
            )
        )
    return Done({"review_id": found})


async def _resolve(attempt: Attempt, thread: str) -> None:
    """A thread that somebody deleted needs nothing more."""
    try:
        await attempt.write(reviews.resolve(attempt.client, thread))
    except GitHubError as error:
        if error.status not in {404, 422} or error.rate_limited:
            raise
