"""What a pull request changes, as GitHub tells it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from app.events import PullChanged
from app.github.client import GitHubError, RepoClient
from app.scopes import parse
from app.scopes.links import ENDLESS, MAX_TARGET, unread
from app.scopes.pulls import SCOPE_FILE, Commit, Pull, agents_in, is_by_agents
from app.scopes.rules import MAX_BYTES

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
_OF_A_COMMIT = 3_000
"""Files of a commit that GitHub lists."""
_PAGE = 100
_MOST_LINKS = 100
"""Links that are asked for one by one."""
_LINK, _SUBMODULE = "120000", "160000"


async def read_pull(
    client: RepoClient, event: PullChanged, *, ours: bool, people: bool = False
) -> Pull:
    """Paths, commits with their signatures, the base branch's scopes. Raises `GitHubError`.

    What people wrote costs two calls; the files of single commits are asked for only where several
    agents, or agents and people, wrote it together. Where scopes bind it, so are the links and
    submodules that it brings.
    """
    number = event.issue.place.number
    base = event.into or event.base
    return await _read(client, number, base, event.head, ours=ours, people=people)


async def read_pull_at(
    client: RepoClient, number: int, base: str, *, ours: bool, people: bool
) -> Pull:
    """The same for one that is known by its number and base branch. Raises `GitHubError`."""
    found = await client.call("GET", f"/pulls/{number}")
    return await _read(client, number, base, str(found["head"]["sha"]), ours=ours, people=people)


async def _read(
    client: RepoClient, number: int, base: str, head: str, *, ours: bool, people: bool
) -> Pull:
    try:
        files = await client.pages(f"/pulls/{number}/files")
        listed = await client.pages(f"/pulls/{number}/commits")
    except GitHubError as error:
        if error.status != 422:
            raise
        return await _unlisted(client, base, ours=ours, people=people)  # git shows it
    return await read_head(client, base, head, ours=ours, people=people, files=files, listed=listed)


async def _unlisted(client: RepoClient, base: str, *, ours: bool, people: bool) -> Pull:
    """Of a pull request that GitHub cannot show: what is known without its files and commits."""
    pull = Pull(ours=ours, complete=False)
    scopes = await read_rules(client, SCOPE_FILE, base) if base else None
    pull = replace(pull, scopes=scopes, owners=await read_owners(client, base) if base else None)
    return replace(pull, members=await _members(client, pull)) if people else pull


async def read_head(
    client: RepoClient,
    base: str,
    head: str,
    *,
    ours: bool,
    people: bool = False,
    files: list[dict[str, Any]],
    listed: list[dict[str, Any]],
) -> Pull:
    """The same from files and commits that were listed already. Raises `GitHubError`."""
    complete = len(files) < MOST_FILES and len(listed) < MOST_COMMITS
    if complete and (not listed or str(listed[-1]["sha"]) != head):
        complete = False  # somebody pushed since: what is listed is not that commit's
    if any(len(one.get("parents") or ()) > 1 and not _signed(one) for one in listed):
        complete = False  # GitHub holds a merge against its first parent; git tells what it changed
    emails = {mail: who for one in listed for mail, who in [_person(one)] if mail and who}
    pull = Pull(names(files), tuple(map(_commit, listed)), None, ours, complete, emails=emails)
    if not (is_by_agents(pull) or people or not complete):
        return pull
    if base:
        scopes = await read_rules(client, SCOPE_FILE, base)
        pull = replace(pull, scopes=scopes, owners=await read_owners(client, base))
    if people:
        pull = replace(pull, members=await _members(client, pull))
    if pull.complete:
        pull = await _by_hands(client, pull)
    return await _with_links(client, pull, head) if pull.complete else pull


async def _by_hands(client: RepoClient, pull: Pull) -> Pull:
    """With what each commit touches; not complete where that is too much to ask for."""
    if len({(commit.agents, commit.person) for commit in pull.commits}) == 1:
        whole = replace(pull.commits[0], paths=pull.paths)
        return replace(pull, commits=(whole,))
    if len(pull.commits) > _ONE_BY_ONE:
        return replace(pull, complete=False)
    commits = []
    for one in pull.commits:
        paths, complete = await _touched(client, one.sha)
        if not complete:
            return replace(pull, complete=False)
        commits.append(replace(one, paths=paths))
    return replace(pull, commits=tuple(commits))


async def _with_links(client: RepoClient, pull: Pull, head: str) -> Pull:
    """With the links and submodules among its paths; only the tree of the head tells them."""
    path = f"/git/trees/{quote(head, safe='')}"
    found = await client.call("GET", path, params={"recursive": "1"})
    if found.get("truncated"):
        return replace(pull, complete=False)
    changed, tree = set(pull.paths), found["tree"]
    there = {str(one["path"]): one for one in tree if one["mode"] == _LINK}
    submodules = [str(one["path"]) for one in tree if one["mode"] == _SUBMODULE]
    links = await _links(client, there, changed.intersection(there))
    if links is None:
        return replace(pull, complete=False)
    return replace(pull, links=links, submodules=tuple(changed.intersection(submodules)))


async def _links(
    client: RepoClient, there: Mapping[str, dict[str, Any]], changed: set[str]
) -> dict[str, str] | None:
    """What the changed links say, and those on their way; None if these are too many."""
    links: dict[str, str] = {}
    while more := unread(sorted(changed), there, links):
        if len(links) + len(more) > _MOST_LINKS:
            return None
        for path in more:
            links[path] = await _target(client, there[path])
    return links


async def _target(client: RepoClient, entry: dict[str, Any]) -> str:
    if int(entry.get("size") or 0) > MAX_TARGET:
        return ENDLESS
    found = await client.call("GET", f"/git/blobs/{quote(str(entry['sha']))}")
    return base64.b64decode(found["content"]).decode("utf-8", "backslashreplace")


async def read_owners(client: RepoClient, ref: str) -> str | None:
    """CODEOWNERS of a commit or branch; None if there is none. Raises `GitHubError`."""
    for path in OWNER_FILES:
        if (text := await read_rules(client, path, ref)) is not None:
            return text
    return None


async def read_rules(client: RepoClient, path: str, ref: str) -> str | None:
    """A scope file or CODEOWNERS; what nobody can read as a text that is refused."""
    return await client.text_at(path, ref, unreadable="#" * (MAX_BYTES + 1))


async def _members(client: RepoClient, pull: Pull) -> dict[str, tuple[str, ...]]:
    """Who the people are in the words of the scope file: their logins, and their teams' names."""
    named = {owner for rule in parse(pull.scopes or "").rules for owner in rule.owners}
    teams = [owner for owner in sorted(named) if "/" in owner][:_TEAMS]
    found: dict[str, tuple[str, ...]] = {}
    for login in {one.person for one in pull.commits if one.person}:
        theirs = [team for team in teams if await client.is_member(team.lstrip("@"), login)]
        found[login] = (f"@{login}", *theirs)
    return found


async def others_of(client: RepoClient, number: int, head: str, *, people: bool) -> list[Pull]:
    """Further open pull requests of the same commit, at most five. Raises `GitHubError`."""
    try:
        found = await client.call("GET", f"/commits/{quote(head)}/pulls")
    except GitHubError as error:
        if error.status not in {404, 409, 422} or error.rate_limited:
            raise
        return []
    same = [
        one
        for one in found or []
        if one.get("state") == "open" and one["number"] != number and one["head"]["sha"] == head
    ]
    return [
        await _read(client, int(one["number"]), str(one["base"]["ref"]), head, ours=False,
                    people=people)
        for one in same[:5]
    ]  # fmt: skip


def names(files: list[dict[str, Any]]) -> tuple[str, ...]:
    """Old and new names."""
    found = [str(item.get("filename", "")) for item in files]
    moved = [item for item in files if item.get("status") != "copied"]  # a copy leaves its source
    found += [str(item["previous_filename"]) for item in moved if item.get("previous_filename")]
    return tuple(found)


def _commit(listed: dict[str, Any]) -> Commit:
    _, person = _person(listed)
    message = str((listed.get("commit") or {}).get("message", ""))
    return Commit(str(listed["sha"]), agents_in(message), person=person)


def _signed(listed: dict[str, Any]) -> bool:
    """Whether an agent or a person stands for a commit."""
    message = str((listed.get("commit") or {}).get("message", ""))
    return bool(agents_in(message) or _person(listed)[1])


def _person(listed: dict[str, Any]) -> tuple[str, str]:
    """Address and login of the person who wrote a commit; no login for Apps and for strangers."""
    who = listed.get("author") or {}
    login = str(who.get("login") or "") if who.get("type") == "User" else ""
    mail = ((listed.get("commit") or {}).get("author") or {}).get("email")
    return str(mail or ""), login


async def _touched(client: RepoClient, sha: str) -> tuple[tuple[str, ...], bool]:
    """What a commit changes, and whether that is all of it."""
    found: list[dict[str, Any]] = []
    page = 1
    while len(found) < _OF_A_COMMIT:
        params = {"per_page": str(_PAGE), "page": str(page)}
        answer = await client.call("GET", f"/commits/{quote(sha)}", params=params)
        told = answer.get("files") or []
        if told == found:  # nothing, or a server without pages: nobody knows whether that is all
            return names(found), not found
        found += told
        if len(told) < _PAGE:
            return names(found), True
        page += 1
    return names(found), False
