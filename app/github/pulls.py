"""What a pull request changes, as GitHub tells it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from app.events import PullChanged
from app.github.client import RepoClient
from app.scopes.pulls import SCOPE_FILE, Commit, Pull, agents_in, is_by_agents

MOST_FILES = 3_000
"""Files of a pull request that GitHub lists."""
MOST_COMMITS = 250
"""Commits of a pull request that GitHub lists."""
_ONE_BY_ONE = 100
"""Commits whose files are asked for one by one."""


async def read_pull(client: RepoClient, event: PullChanged, *, ours: bool) -> Pull:
    """Paths, commits with their signatures, the base branch's scopes. Raises `GitHubError`.

    What people wrote costs two calls; the files of single commits are asked for only where several
    agents, or agents and people, wrote it together.
    """
    number = event.issue.place.number
    files = await client.pages(f"/pulls/{number}/files")
    listed = await client.pages(f"/pulls/{number}/commits")
    return await read_head(client, event.base, ours=ours, files=files, listed=listed)


async def read_head(
    client: RepoClient,
    base: str,
    *,
    ours: bool,
    files: list[dict[str, Any]],
    listed: list[dict[str, Any]],
) -> Pull:
    """The same from files and commits that were listed already. Raises `GitHubError`."""
    complete = len(files) < MOST_FILES and len(listed) < MOST_COMMITS
    pull = Pull(names(files), tuple(map(_commit, listed)), None, ours, complete)
    if not is_by_agents(pull):
        return pull
    if base:
        pull = replace(pull, scopes=await client.text_at(SCOPE_FILE, base))
    if len({(commit.agents, commit.person) for commit in pull.commits}) == 1:
        whole = replace(pull.commits[0], paths=pull.paths)
        return replace(pull, commits=(whole,))
    if len(pull.commits) > _ONE_BY_ONE:
        return replace(pull, complete=False)
    commits = [replace(one, paths=await _touched(client, one.sha)) for one in pull.commits]
    return replace(pull, commits=tuple(commits))


def names(files: list[dict[str, Any]]) -> tuple[str, ...]:
    """Old and new names."""
    found = [str(item.get("filename", "")) for item in files]
    found += [str(item["previous_filename"]) for item in files if item.get("previous_filename")]
    return tuple(found)


def _commit(listed: dict[str, Any]) -> Commit:
    who = listed.get("author") or {}
    person = str(who.get("login") or "") if who.get("type") == "User" else ""
    message = str((listed.get("commit") or {}).get("message", ""))
    return Commit(str(listed["sha"]), agents_in(message), person=person)


async def _touched(client: RepoClient, sha: str) -> tuple[str, ...]:
    found = await client.call("GET", f"/commits/{quote(sha)}", params={"per_page": "300"})
    return names(found.get("files") or [])
