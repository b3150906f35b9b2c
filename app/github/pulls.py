"""What a pull request changes, as GitHub tells it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from app.events import PullChanged
from app.github.client import RepoClient
from app.scopes import parse
from app.scopes.pulls import SCOPE_FILE, Commit, Pull, agents_in, is_by_agents

MOST_FILES = 3_000
"""Files of a pull request that GitHub lists."""
MOST_COMMITS = 250
"""Commits of a pull request that GitHub lists."""
OWNER_FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for owners, in its order."""
_TEAMS = 20
"""Teams of a scope file whose members are asked for."""
_ONE_BY_ONE = 100
"""Commits whose files are asked for one by one."""


async def read_pull(
    client: RepoClient, event: PullChanged, *, ours: bool, people: bool = False
) -> Pull:
    """Paths, commits with their signatures, the base branch's scopes. Raises `GitHubError`.

    What people wrote costs two calls; the files of single commits are asked for only where several
    agents, or agents and people, wrote it together.
    """
    number = event.issue.place.number
    return await read_pull_at(client, number, event.base, ours=ours, people=people)


async def read_pull_at(
    client: RepoClient, number: int, base: str, *, ours: bool, people: bool
) -> Pull:
    """The same for one that is known by its number and base commit. Raises `GitHubError`."""
    files = await client.pages(f"/pulls/{number}/files")
    listed = await client.pages(f"/pulls/{number}/commits")
    return await read_head(client, base, ours=ours, people=people, files=files, listed=listed)


async def read_head(
    client: RepoClient,
    base: str,
    *,
    ours: bool,
    people: bool = False,
    files: list[dict[str, Any]],
    listed: list[dict[str, Any]],
) -> Pull:
    """The same from files and commits that were listed already. Raises `GitHubError`."""
    complete = len(files) < MOST_FILES and len(listed) < MOST_COMMITS
    emails = {mail: who for one in listed for mail, who in [_person(one)] if mail and who}
    pull = Pull(names(files), tuple(map(_commit, listed)), None, ours, complete, emails=emails)
    if not (is_by_agents(pull) or people or not complete):
        return pull
    if base:
        scopes = await client.text_at(SCOPE_FILE, base)
        pull = replace(pull, scopes=scopes, owners=await read_owners(client, base))
    if people:
        pull = replace(pull, members=await _members(client, pull))
    if not complete:
        return pull
    if len({(commit.agents, commit.person) for commit in pull.commits}) == 1:
        whole = replace(pull.commits[0], paths=pull.paths)
        return replace(pull, commits=(whole,))
    if len(pull.commits) > _ONE_BY_ONE:
        return replace(pull, complete=False)
    commits = [replace(one, paths=await _touched(client, one.sha)) for one in pull.commits]
    return replace(pull, commits=tuple(commits))


async def read_owners(client: RepoClient, ref: str) -> str | None:
    """CODEOWNERS of a commit or branch; None if there is none. Raises `GitHubError`."""
    for path in OWNER_FILES:
        if (text := await client.text_at(path, ref)) is not None:
            return text
    return None


async def _members(client: RepoClient, pull: Pull) -> dict[str, tuple[str, ...]]:
    """Who the people are in the words of the scope file: their logins, and their teams' names."""
    named = {owner for rule in parse(pull.scopes or "").rules for owner in rule.owners}
    teams = [owner for owner in sorted(named) if "/" in owner][:_TEAMS]
    found: dict[str, tuple[str, ...]] = {}
    for login in {one.person for one in pull.commits if one.person}:
        theirs = [team for team in teams if await client.is_member(team.lstrip("@"), login)]
        found[login] = (f"@{login}", *theirs)
    return found


def names(files: list[dict[str, Any]]) -> tuple[str, ...]:
    """Old and new names."""
    found = [str(item.get("filename", "")) for item in files]
    found += [str(item["previous_filename"]) for item in files if item.get("previous_filename")]
    return tuple(found)


def _commit(listed: dict[str, Any]) -> Commit:
    _, person = _person(listed)
    message = str((listed.get("commit") or {}).get("message", ""))
    return Commit(str(listed["sha"]), agents_in(message), person=person)


def _person(listed: dict[str, Any]) -> tuple[str, str]:
    """Address and login of the person who wrote a commit; no login for Apps and for strangers."""
    who = listed.get("author") or {}
    login = str(who.get("login") or "") if who.get("type") == "User" else ""
    mail = ((listed.get("commit") or {}).get("author") or {}).get("email")
    return str(mail or ""), login


async def _touched(client: RepoClient, sha: str) -> tuple[str, ...]:
    found = await client.call("GET", f"/commits/{quote(sha)}", params={"per_page": "300"})
    return names(found.get("files") or [])
