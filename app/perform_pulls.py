"""The parts of `perform()` that are about pull requests: the feature's own, and reviews of any."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from app.actions import ShowPull, SubmitReview
from app.attempt import LAG, LOOKS, Again, Attempt, Done, Outcome
from app.features.assigning import REVIEWER
from app.github import proposals, reviews
from app.github.apps import Named, is_final
from app.github.client import GitHubError, RepoClient
from app.github.proposals import Proposal
from app.github.reviews import Ours
from app.store.outbox import Later
from app.texts.marker import read_marker

Event = Literal["COMMENT", "REQUEST_CHANGES"]
"""What our reviews may be: never an approval."""


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
        if effect.draft:  # not every plan has drafts
            await _unless_gone(attempt.write(change(client, found)))
        else:
            await attempt.write(change(client, found))
    return Done({"number": found.number})


async def _known(attempt: Attempt, effect: ShowPull) -> Proposal | None:
    if effect.number:
        return await proposals.get(attempt.client, effect.number)
    return await proposals.find(attempt.client, effect.head, effect.base)


@dataclass(frozen=True, slots=True)
class _Voice:
    """The reviewer's own App, and the pull request as it is now."""

    named: Named
    mine: Ours
    """Tells what this App wrote."""
    client: RepoClient | None
    """None where the App is not installed: the first one speaks."""
    head: str
    author: bool
    """It opened the pull request itself."""

    def event(self, effect: SubmitReview, client: RepoClient) -> Event:
        """What a review is under the name of `client`.

        A request about a commit that is no longer the head could outlive what takes it back.
        """
        may = client is self.client and not self.author
        return "REQUEST_CHANGES" if may and effect.blocking and self._is_head(effect) else "COMMENT"

    def outdates(self, effect: SubmitReview, request: dict[str, Any]) -> bool:
        """Whether a request for changes is not about a newer commit than the effect."""
        commit = request.get("commit_id")
        return self._is_head(effect) or commit == effect.head or commit != self.head

    def _is_head(self, effect: SubmitReview) -> bool:
        return self.head == effect.head


async def submit_review(attempt: Attempt, effect: SubmitReview) -> Outcome:
    """One review of a commit; threads whose matter is gone are resolved, once or again.

    Under an App of its own the reviewer requests changes while something blocks, and takes that
    back once nothing does. It never approves: people decide.
    """
    voice = await _voice(attempt, effect)
    for thread in effect.resolve:
        await _unless_gone(_by(attempt, voice, partial(reviews.resolve, thread_id=thread)))
    if effect.body:
        submitted = await _submitted(attempt, effect, voice)
    if effect.body and submitted is None:
        return Again(Later(LAG, doubtful=True, looked=True, counted=False))
    if voice and not effect.blocking:
        await _take_back(attempt, effect, voice)
    return Done({"review_id": submitted}) if effect.body else Done()


async def _voice(attempt: Attempt, effect: SubmitReview) -> _Voice | None:
    """The App that the reviewer speaks under; None if that is the first."""
    named, place = attempt.apps.of(REVIEWER), effect.place
    if named is None:
        return None
    path, client = f"/pulls/{place.number}", None
    try:
        client = await named.repository(place)
        pull = await client.call("GET", path)
    except GitHubError as error:
        if not is_final(error):
            raise
        attempt.apps.tell(named, place.repo, error)
        client, pull = None, await attempt.client.call("GET", path)
    mine = await named.recogniser()
    return _Voice(named, mine, client, str(pull["head"]["sha"]), mine(pull))


async def _by(
    attempt: Attempt, voice: _Voice | None, call: Callable[[RepoClient], Awaitable[Any]]
) -> Any:
    """A write under the reviewer's own name; under the first App's where that one may not."""
    if voice and voice.client:
        try:
            return await attempt.write(call(voice.client))
        except GitHubError as error:
            if error.status != 403 or error.rate_limited:
                raise
            attempt.apps.tell(voice.named, f"{voice.client.owner}/{voice.client.name}", error)
    return await attempt.write(call(attempt.client))


async def _submitted(attempt: Attempt, effect: SubmitReview, voice: _Voice | None) -> int | None:
    """The review's id: known, found, or of a new one. None if it is to be looked for again."""
    due, number = attempt.due, effect.place.number
    if due.result.get("review_id"):
        return int(due.result["review_id"])
    ours = await attempt.apps.recogniser()
    client = (voice and voice.client) or attempt.client
    found = await reviews.find_review(client, number, effect.key, ours)
    if found is not None or (due.doubtful and due.looks < LOOKS):
        return found

    def send(client: RepoClient) -> Awaitable[int]:
        return reviews.submit(
            client,
            number,
            head=effect.head,
            body=effect.body,
            without_lines=effect.without_lines,
            comments=effect.notes,
            event=voice.event(effect, client) if voice else "COMMENT",
        )

    return int(await _by(attempt, voice, send))


async def _take_back(attempt: Attempt, effect: SubmitReview, voice: _Voice) -> None:
    """Dismiss its own requests for changes: nothing blocks any more."""
    path = f"/pulls/{effect.place.number}/reviews"
    said = f"Nothing blocks any more in {effect.head[:7]}. This is no approval: people decide."
    for review in await attempt.client.pages(path):
        standing = review.get("state") == "CHANGES_REQUESTED" and voice.mine(review)
        if standing and read_marker(review.get("body") or "") and voice.outdates(effect, review):
            await _unless_gone(_by(attempt, voice, partial(_dismiss, path, review["id"], said)))


async def _dismiss(path: str, review: int, message: str, client: RepoClient) -> None:
    await client.call("PUT", f"{path}/{review}/dismissals", json={"message": message})


async def _unless_gone(call: Awaitable[Any]) -> None:
    """What somebody deleted, or has settled, or what we may not do, holds up nothing else."""
    try:
        await call
    except GitHubError as error:
        if error.status not in {403, 404, 422} or error.rate_limited:
            raise
