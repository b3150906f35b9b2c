"""`python -m action`: one check of a pull request on a runner, decided by the same `handle()`.

It reads the event's file and asks the API; the pull request's code is never checked out, so that it
is as safe on `pull_request_target` as on `pull_request`. Exit: 0 fine, 1 the check fails, 2 wrong
use, 3 our own failure.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from action.output import report
from app.actions import ShowCheck
from app.config.document import Unreadable
from app.config.layers import merge, parse_layer
from app.config.loader import load_config
from app.config.problems import ConfigInvalid
from app.config.shipped import shipped_folder
from app.events import PullChanged
from app.github.calls import GitHubError
from app.github.client import RepoClient, repository_with_token
from app.github.payloads import read_event
from app.github.pulls import read_pull
from app.handlers import handle
from app.handlers.facts import Facts, Wrong
from app.handlers.pulls import CONFIG, SCOPE
from app.policies import policy_of

FINE, NO, WRONG_USE, FAILURE = 0, 1, 2, 3
CHECKS = {"scope": SCOPE, "config": CONFIG}
LAYER = ".github/baron.yml"


class WrongUse(Exception):
    """The Action was called for what it cannot do; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Job:
    """What the runner's environment says. Raises `WrongUse` when made from one that is wrong."""

    mode: str
    token: str
    api_url: str
    repo: str
    event: PullChanged

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Job:
        mode = env.get("KR_ACTION_MODE", "scope").strip()
        if mode not in CHECKS:
            raise WrongUse(f"mode is {mode!r}; take one of: {', '.join(CHECKS)}.")
        if not env.get("KR_ACTION_TOKEN"):
            raise WrongUse("There is no token; leave the input `token` out, or give one.")
        return cls(
            mode,
            env["KR_ACTION_TOKEN"],
            env.get("GITHUB_API_URL", "https://api.github.com"),
            env.get("GITHUB_REPOSITORY", ""),
            _event(env),
        )


def _event(env: Mapping[str, str]) -> PullChanged:
    """The pull request, whatever was done to it. Raises `WrongUse`."""
    name = env.get("GITHUB_EVENT_NAME", "")
    if name not in {"pull_request", "pull_request_target"}:
        raise WrongUse(f"This runs on pull_request and pull_request_target, not on {name!r}.")
    try:
        payload: Any = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    except (KeyError, OSError, ValueError) as error:
        raise WrongUse(f"The event's file cannot be read: {error}") from None
    changed = {**payload, "action": "synchronize"} if isinstance(payload, dict) else payload
    event = read_event("pull_request", "action", changed)
    if not isinstance(event, PullChanged):
        raise WrongUse("The event's file holds no pull request.")
    return event


def main(env: Mapping[str, str] | None = None) -> int:
    """Do it and return the exit code."""
    env = os.environ if env is None else env
    try:
        check = asyncio.run(decide(Job.of(env)))
    except WrongUse as error:
        print(f"::error::{error}")
        return WRONG_USE
    except GitHubError as error:
        print(f"::error::GitHub did not answer as it should: {str(error)[:300]}")
        return FAILURE
    report(check, env)
    return NO if check is not None and check.conclusion == "failure" else FINE


async def decide(job: Job) -> ShowCheck | None:
    """The check of this mode; None where it has nothing to look at. Raises `GitHubError`."""
    client = repository_with_token(job.api_url, job.token, job.repo)
    config = load_config(shipped_folder())
    pull = await read_pull(client, job.event, ours=False)
    proposed = None
    if job.mode == "config" and LAYER in pull.paths:
        proposed = await _wrong(client, job.event.head)
    facts = Facts(now=datetime.now(UTC), policy=policy_of(config), pull=pull, proposed=proposed)
    actions = handle(job.event, facts)
    wanted = CHECKS[job.mode]
    return next((a for a in actions if isinstance(a, ShowCheck) and a.name == wanted), None)


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
