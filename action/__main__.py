"""`python -m action`: one check of a pull request on a runner, decided by the same `handle()`.

It reads the event's file and asks the API; the pull request's code is never checked out, so that it
is as safe on `pull_request_target` as on `pull_request`. Exit: 0 fine, 1 the check fails, 2 wrong
use, 3 our own failure.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import ValidationError

from action.job import Job, WrongUse
from action.output import Verdict, report, say
from action.reviewing import LAYER, review
from app.actions import Action, JudgePull, ShowCheck
from app.config.document import Unreadable
from app.config.layers import merge, parse_layer
from app.config.loader import load_config
from app.config.problems import ConfigInvalid
from app.config.shipped import shipped_folder
from app.events import PullJudged
from app.github.calls import GitHubError
from app.github.client import RepoClient, repository_with_token
from app.github.pulls import read_pull
from app.handlers import handle
from app.handlers.facts import Facts, Wrong
from app.handlers.pulls import CONFIG, SCOPE
from app.policies import policy_of
from app.scopes.pulls import Judged

FINE, NO, WRONG_USE, FAILURE = 0, 1, 2, 3
CHECKS = {"scope": SCOPE, "config": CONFIG}


def main(env: Mapping[str, str] | None = None) -> int:
    """Do it and return the exit code."""
    env = os.environ if env is None else env
    try:
        job = Job.of(env)
    except WrongUse as error:
        say("error", str(error))
        return WRONG_USE
    try:
        verdict = asyncio.run(review(job) if job.mode == "review" else decide(job))
    except ValidationError as error:
        wrong = ", ".join(
            f"KR_{str(one['loc'][0]).upper()}" for one in error.errors() if one["loc"]
        )
        say("error", f"A setting cannot be read: {wrong or 'see the log'}.", job.secrets)
        return WRONG_USE
    except GitHubError as error:
        say("error", f"GitHub did not answer as it should: {str(error)[:300]}", job.secrets)
        return FAILURE
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # an answer without what the API's documentation says is in it
        say("error", f"GitHub's answer is not what it should be: {error!r}"[:300], job.secrets)
        return FAILURE
    report(verdict, env, job.secrets)
    if verdict.check is not None and verdict.check.conclusion == "failure":
        return NO
    return FAILURE if verdict.failed else FINE


async def decide(job: Job) -> Verdict:
    """The check of `scope` or `config`, or nothing to look at. Raises `GitHubError`."""
    client = repository_with_token(job.api_url, job.token, job.repo)
    config = load_config(shipped_folder())
    pull = await read_pull(client, job.event, ours=False)
    proposed = None
    if job.mode == "config" and LAYER in pull.paths:
        proposed = await _wrong(client, job.event.head)
    facts = Facts(now=datetime.now(UTC), policy=policy_of(config), pull=pull, proposed=proposed)
    actions = [done for one in handle(job.event, facts) for done in _without_git(one, facts)]
    wanted = CHECKS[job.mode]
    check = next((a for a in actions if isinstance(a, ShowCheck) and a.name == wanted), None)
    return Verdict(check, len(check.notes) if check else 0)


def _without_git(action: Action, facts: Facts) -> list[Action]:
    """What GitHub does not list all of would be read from git; a job on a runner has none of it."""
    if not isinstance(action, JudgePull):
        return [action]
    unread = PullJudged(
        feature_id=0,
        place=action.place,
        head=action.head,
        bound=True,
        own=True,
        paths=0,
        judged=Judged(),
        error="a job on a runner has no copy of the repository",
    )
    return handle(unread, facts)


async def _wrong(client: RepoClient, head: str) -> tuple[Wrong, ...]:
    """What is wrong with the proposed layer, on the configuration that is shipped."""
    text = await client.text_at(LAYER, head)
    try:
        merge(load_config(shipped_folder()), repository=parse_layer(text or "", LAYER))
    except Unreadable as error:
        problems = [error.problem]
    except ConfigInvalid as error:
        problems = list(error.errors)
    else:
        return ()
    return tuple(Wrong(one.file, one.line, one.where, one.what) for one in problems)


if __name__ == "__main__":
    sys.exit(main())
