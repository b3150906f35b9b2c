"""The mode `review`: @degaulle's look at a pull request, on a runner (specs/1, US5.5).

The rules look, and a model beside them where there is a key for one; what comes of it is decided
by the same `handle()` as in the service. What was said in earlier runs is known by its markers, in
whatever the job's own token wrote.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from action.job import Job
from action.output import Verdict, without
from app.actions import ReviewPull, ShowCheck, SubmitReview
from app.agents.choosing import REVIEWER, has_model
from app.agents.meter import BudgetMeter, MemoryLedger
from app.agents.models import Models, prices_of
from app.agents.protocols import Account
from app.config.document import Unreadable
from app.config.layers import merge, parse_layer
from app.config.loader import Config, load_config
from app.config.problems import ConfigInvalid
from app.config.shipped import shipped_folder
from app.github import reviews
from app.github.client import GitHubError, RepoClient, repository_with_token
from app.handlers import handle
from app.handlers.facts import Facts, Policy
from app.looking import Model, look
from app.policies import Able, policy_of
from app.questions.caps import Caps
from app.settings import Settings

LAYER = ".github/baron.yml"
AUTHOR = "github-actions[bot]"
"""Whom the job's own token writes as."""
_READ_ONLY = (
    "Nothing was written on the pull request: the token may not. From a fork that is as it should"
    " be on pull_request; elsewhere give the job `pull-requests: write`, or set `comment: false`."
)
_OPEN = (
    "Threads whose matter is gone were left open: the token may not resolve them. GitHub wants"
    " `contents: write` for that, beside `pull-requests: write`."
)
_GONE = frozenset({404, 422})


async def review(job: Job) -> Verdict:
    """Look, decide, and say it on the lines. Raises `GitHubError` where it cannot look."""
    client = repository_with_token(job.api_url, job.token, job.repo)
    settings = Settings(**dict[str, Any](job.keys))
    config = await _config(job, client)
    able = Able(reviewer=has_model(config, settings, REVIEWER))
    policy = policy_of(config, able=able)
    async with _model(job, config, settings, policy) as model:
        seen = await look(client, _wanted(job, policy), is_ours, model, opened=_nobody)
    actions = handle(seen, Facts(now=datetime.now(UTC), policy=policy))
    check = next(action for action in actions if isinstance(action, ShowCheck))
    wish = next((action for action in actions if isinstance(action, SubmitReview)), None)
    if wish is None or not job.comment:
        return Verdict(check, seen.found)
    try:
        notes = await _say(client, _silent(wish, job.secrets))
    except GitHubError as error:
        said = f"GitHub did not take the comments: {str(error)[:300]}"
        return Verdict(check, seen.found, (said,), failed=True)
    return Verdict(check, seen.found, notes)


def is_ours(written: dict[str, Any]) -> bool:
    """Whether the job's own token wrote it; a person of that name did not."""
    user = written.get("user") or {}
    return user.get("login") == AUTHOR and user.get("type") == "Bot"


def _wanted(job: Job, policy: Policy) -> ReviewPull:
    place = job.event.issue.place
    return ReviewPull(
        key=f"review:{place.repo_id}:{place.number}",
        feature_id=0,
        place=place,
        head=job.event.head,
        draft=job.event.draft,
        most=policy.findings,
    )


async def _config(job: Job, client: RepoClient) -> Config:
    """The shipped one, the Action's inputs, the base branch's own layer, as far as it is valid."""
    reviewer = {"backend": "llm", **({"model": job.model} if job.model else {})}
    inputs = json.dumps({"agents": {"roles": {REVIEWER: reviewer}}})
    shipped = load_config(shipped_folder())
    given = parse_layer(inputs, "inputs of the Action")
    text = await client.text_at(LAYER, job.event.base) if job.event.base else None
    try:
        return merge(shipped, given, parse_layer(text or "", LAYER))
    except (Unreadable, ConfigInvalid):
        return merge(shipped, given)  # `mode: config` says what is wrong with it


@asynccontextmanager
async def _model(
    job: Job, config: Config, settings: Settings, policy: Policy
) -> AsyncIterator[Model | None]:
    """@degaulle's model; None for a draft, without a key, or where the repository wants none."""
    if not policy.reviewer or job.event.draft:
        yield None
        return
    caps = Caps(**config.agents.budget.model_dump())
    meter = BudgetMeter(MemoryLedger(), lambda repo: caps, lambda: prices_of(config))
    models = Models(config, settings, meter, shipped_folder())
    await models.start()
    try:
        reviewer = models.reviewer()
        account = Account(repo=job.repo, person="runner", role=REVIEWER, key="review")
        yield Model(reviewer, account) if reviewer else None
    finally:
        await models.stop()


def _silent(wish: SubmitReview, secrets: frozenset[str]) -> SubmitReview:
    """A model's server knows its key, and may have told it."""
    return replace(
        wish,
        body=without(wish.body, secrets),
        without_lines=without(wish.without_lines, secrets),
        notes=tuple(replace(one, body=without(one.body, secrets)) for one in wish.notes),
    )


async def _say(client: RepoClient, wish: SubmitReview) -> tuple[str, ...]:
    """One review of the commit, and threads resolved: what the token may not is a note."""
    notes, number = list[str](), wish.place.number
    for thread in wish.resolve:
        if not await _allowed(reviews.resolve(client, thread), passing=_GONE):
            notes.append(_OPEN)
            break
    if wish.body and await reviews.find_review(client, number, wish.key, is_ours) is None:
        sent = reviews.submit(
            client,
            number,
            head=wish.head,
            body=wish.body,
            without_lines=wish.without_lines,
            comments=wish.notes,
        )
        if not await _allowed(sent):
            notes.append(_READ_ONLY)
    return tuple(notes)


async def _allowed(call: Awaitable[object], passing: frozenset[int] = frozenset()) -> bool:
    """Whether the token might do it; a status of `passing` says that nothing is to be done."""
    try:
        await call
    except GitHubError as error:
        if error.rate_limited or error.status not in {403, *passing}:
            raise
        return error.status != 403
    return True


def _nobody(_: Mapping[str, Any]) -> bool:
    """On a runner every bot is `github-actions[bot]`: who opened it says nothing of agents."""
    return False
