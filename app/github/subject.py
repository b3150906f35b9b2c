"""A pull request as a review needs it: files with their diffs, commits, documents, sizes."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from app.features.tasks import parse_tasks
from app.github.client import GitHubError, RepoClient
from app.github.pulls import MOST_COMMITS, MOST_FILES, read_head
from app.github.reviews import Ours
from app.review.model import Changed, Signed, Subject
from app.scopes.pulls import agents_in, is_by_agents, judge

_TASK = re.compile(r"^Task:[ \t]*(T\d{1,6}[a-z]?)[ \t]*$", re.MULTILINE)
_SIZES_AT_MOST = 20
"""Files without a diff whose size is asked for, one by one."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a review looks at, and the words around it."""

    subject: Subject
    title: str
    body: str
    author: str
    draft: bool
    head: str


async def read_subject(
    client: RepoClient, number: int, folder: str, ours: Ours, allowed: Collection[str] = ()
) -> Looked:
    """All of it as it is now; `folder` is that of the feature's documents. Raises `GitHubError`."""
    found = await client.call("GET", f"/pulls/{number}")
    head, base = str(found["head"]["sha"]), str(found["base"].get("ref") or found["base"]["sha"])
    files = await client.pages(f"/pulls/{number}/files")
    commits = await client.pages(f"/pulls/{number}/commits")
    pull = await read_head(client, base, head, ours=ours(found), files=files, listed=commits)
    bound = is_by_agents(pull)
    judged = judge(pull, allowed) if bound and pull.complete else None
    tasks = await _document(client, folder, "tasks.md", head)
    subject = Subject(
        files=tuple([await _sized(client, _changed(one), head, n) for n, one in _numbered(files)]),
        commits=tuple(_signed(one) for one in commits),
        trespasses=judged.trespasses if judged else (),
        tasks=parse_tasks(tasks).tasks if tasks is not None else None,
        spec=await _document(client, folder, "spec.md", head),
        spec_path=f"{folder}/spec.md" if folder else "",
        tasks_path=f"{folder}/tasks.md" if folder else "",
        draft=bool(found.get("draft")),
        complete=len(files) < MOST_FILES and len(commits) < MOST_COMMITS,
        judged=pull.complete or not bound,
    )
    author = str((found.get("user") or {}).get("login") or "")
    words = str(found.get("title") or ""), str(found.get("body") or "")
    return Looked(subject, *words, author, subject.draft, head)


def _numbered(files: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """The files, with how many without a diff came before each."""
    count, found = 0, []
    for one in files:
        found.append((count, one))
        count += one.get("patch") is None
    return found


async def _document(client: RepoClient, folder: str, name: str, head: str) -> str | None:
    return await client.text_at(f"{folder}/{name}", head) if folder else None


def _changed(one: dict[str, Any]) -> Changed:
    patch = one.get("patch")
    return Changed(
        path=str(one.get("filename", "")),
        status=str(one.get("status", "modified")),
        old_path=str(one.get("previous_filename") or ""),
        patch=str(patch) if patch is not None else None,
        added=int(one.get("additions") or 0),
        deleted=int(one.get("deletions") or 0),
        size=len(patch) if patch else None,
    )


async def _sized(client: RepoClient, one: Changed, head: str, before: int) -> Changed:
    """GitHub shows no diff of what is binary or very large: its size tells which."""
    if one.patch is not None or one.status == "removed" or before >= _SIZES_AT_MOST:
        return one
    path = quote(one.path)
    try:
        found = await client.call("GET", f"/contents/{path}", params={"ref": head})
    except GitHubError as error:
        if error.status in {403, 404} and not error.rate_limited:
            return one  # above 100 MB, or a submodule
        raise
    size = found.get("size") if isinstance(found, dict) else None
    return Changed(one.path, one.status, one.old_path, None, one.added, one.deleted, size)


def _signed(listed: dict[str, Any]) -> Signed:
    message = str((listed.get("commit") or {}).get("message", ""))
    return Signed(str(listed["sha"]), agents_in(message), tuple(_TASK.findall(message)))
