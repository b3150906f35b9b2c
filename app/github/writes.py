"""The writes, one function each, and the looks that make them safe to do again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from app.actions import CommitFiles, React, ShowComment, ShowLabel
from app.features.blobs import blob_sha
from app.github.client import GitHubError, RepoClient
from app.texts.marker import read_marker


async def find_comment(
    client: RepoClient, number: int, key: str, ours: Callable[[dict[str, Any]], bool]
) -> int | None:
    """The id of our own comment with that key, or None.

    A marker in a comment that is not `ours` is a forgery and does not count.
    """
    for comment in await client.pages(f"/issues/{number}/comments"):
        if not ours(comment):
            continue
        fields = read_marker(comment.get("body") or "")
        if fields and fields.get("key") == key:
            return int(comment["id"])
    return None


async def create_comment(client: RepoClient, effect: ShowComment) -> int:
    """Post it. Returns its id."""
    path = f"/issues/{effect.place.number}/comments"
    created = await client.call("POST", path, json={"body": effect.body})
    return int(created["id"])


async def edit_comment(client: RepoClient, comment_id: int, effect: ShowComment) -> None:
    await client.call("PATCH", f"/issues/comments/{comment_id}", json={"body": effect.body})


async def react(client: RepoClient, effect: React) -> None:
    """GitHub keeps one reaction of a kind for each user: doing it again changes nothing."""
    number = effect.place.number
    where = f"/issues/comments/{effect.comment_id}" if effect.comment_id else f"/issues/{number}"
    await client.call("POST", f"{where}/reactions", json={"content": effect.content})


async def label_changes(
    client: RepoClient, effect: ShowLabel, ours: tuple[str, ...]
) -> tuple[list[str], list[str]]:
    """Which labels are to be added and which taken off, as the issue stands now."""
    found = await client.pages(f"/issues/{effect.place.number}/labels")
    names = {label["name"] for label in found}
    add = [effect.label] if effect.label and effect.label not in names else []
    remove = [name for name in ours if name in names and name != effect.label]
    return add, remove


async def add_label(client: RepoClient, number: int, name: str) -> None:
    await client.call("POST", f"/issues/{number}/labels", json={"labels": [name]})


async def remove_label(client: RepoClient, number: int, name: str) -> None:
    """Take a label off. A 404 is an error here: only a look tells whether it is really gone."""
    await client.call("DELETE", f"/issues/{number}/labels/{quote(name, safe='')}")


async def _reference(client: RepoClient, branch: str) -> str | None:
    try:
        found = await client.call("GET", f"/git/ref/heads/{quote(branch)}")
    except GitHubError as error:
        if error.status == 404:
            return None
        raise
    return str(found["object"]["sha"])


async def standing_commit(
    client: RepoClient, effect: CommitFiles
) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    """The branch's head, or None, and the files that do not stand there as wanted.

    What people made of a file that we had written is theirs, and is not written over.
    """
    head = await _reference(client, effect.branch)
    if head is None:
        return None, effect.files
    ours: dict[str, set[str | None]] = {}
    for path, blob in effect.ours:
        ours.setdefault(path, {None}).add(blob)
    missing = []
    for path, content in effect.files:
        there = await _blob_at(client, path, effect.branch)
        changed_by_people = path in ours and there not in ours[path]
        if there != blob_sha(content) and not changed_by_people:
            missing.append((path, content))
    return head, tuple(missing)


async def _blob_at(client: RepoClient, path: str, branch: str) -> str | None:
    try:
        found = await client.call("GET", f"/contents/{quote(path)}", params={"ref": branch})
    except GitHubError as error:
        if error.status == 404:
            return None
        raise
    return str(found.get("sha"))


async def make_commit(client: RepoClient, effect: CommitFiles, head: str | None) -> tuple[str, str]:
    """Make the commit object on top of the branch, or of the base. Returns (parent, commit)."""
    parent = head or await _reference(client, effect.base)
    if parent is None:
        raise GitHubError(f"the branch {effect.base} does not exist", 409)
    base = await client.call("GET", f"/git/commits/{parent}")
    entries = [
        {"path": path, "mode": "100644", "type": "blob", "content": content}
        for path, content in effect.files
    ]
    tree: Any = await client.call(
        "POST", "/git/trees", json={"base_tree": base["tree"]["sha"], "tree": entries}
    )
    commit = await client.call(
        "POST",
        "/git/commits",
        json={"message": effect.message, "tree": tree["sha"], "parents": [parent]},
    )
    return parent, str(commit["sha"])


async def move_branch(client: RepoClient, effect: CommitFiles, head: str | None, to: str) -> None:
    """Create the branch or move it forward; never by force."""
    if head is None:
        body = {"ref": f"refs/heads/{effect.branch}", "sha": to}
        await client.call("POST", "/git/refs", json=body)
    else:
        path = f"/git/refs/heads/{quote(effect.branch)}"
        await client.call("PATCH", path, json={"sha": to, "force": False})
