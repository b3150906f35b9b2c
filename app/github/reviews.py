"""Our reviews of pull requests, and the threads that their comments on lines begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from app.github.client import GitHubError, RepoClient
from app.texts.marker import read_marker

Ours = Callable[[dict[str, Any]], bool]
"""Tells whether something that has a `user` is by our App (`AppClient.recogniser`)."""

_THREADS = """
query($owner: String!, $name: String!, $number: Int!, $cursor: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $cursor) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          isOutdated
          path
          comments(first: 1) { nodes { databaseId body author { login __typename } } }
        }
      }
    }
  }
}
"""
_RESOLVE = """
mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { isResolved } }
}
"""


class LineComment(Protocol):
    """What is to be said about a line of the new file, such as `app.actions.LineNote`."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def body(self) -> str: ...


@dataclass(frozen=True, slots=True)
class OurThread:
    """A thread that a comment of ours begins."""

    id: str
    """In GraphQL."""
    resolved: bool
    outdated: bool
    """The line has changed since."""
    path: str
    body: str
    """Of the first comment."""


async def threads(client: RepoClient, number: int, ours: Ours) -> list[OurThread]:
    """All threads whose first comment is ours, the oldest first. Raises `GitHubError`."""
    found: list[OurThread] = []
    cursor: str | None = None
    while True:
        variables = {"owner": client.owner, "name": client.name, "number": number, "cursor": cursor}
        data = await client.graphql(_THREADS, variables)
        page = data["repository"]["pullRequest"]["reviewThreads"]
        found += [thread for node in page["nodes"] if (thread := _ours(node, ours))]
        cursor = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"] or cursor is None:
            return found


def _ours(node: dict[str, Any], ours: Ours) -> OurThread | None:
    first = next(iter(node["comments"]["nodes"]), None)
    if first is None or not ours({"user": _user(first.get("author") or {})}):
        return None
    return OurThread(
        id=str(node["id"]),
        resolved=bool(node["isResolved"]),
        outdated=bool(node["isOutdated"]),
        path=str(node["path"]),
        body=str(first.get("body") or ""),
    )


def _user(author: dict[str, Any]) -> dict[str, str]:
    """An author as REST has it: GraphQL leaves `[bot]` off an App's login."""
    login, kind = str(author.get("login") or ""), str(author.get("__typename") or "")
    if kind == "Bot" and not login.endswith("[bot]"):
        login += "[bot]"
    return {"login": login, "type": kind}


async def resolve(client: RepoClient, thread_id: str) -> None:
    """Mark a thread as settled; one that is stays so. Raises `GitHubError`: 404 if it is gone."""
    await client.graphql(_RESOLVE, {"id": thread_id})


async def find_review(client: RepoClient, number: int, key: str, ours: Ours) -> int | None:
    """The id of our own review with that key, or None. Raises `GitHubError`.

    A marker in a review that is not `ours` is a forgery, and a pending one is shown to nobody:
    neither counts.
    """
    for review in await client.pages(f"/pulls/{number}/reviews"):
        if not ours(review) or review.get("state") == "PENDING":
            continue
        fields = read_marker(review.get("body") or "")
        if fields and fields.get("key") == key:
            return int(review["id"])
    return None


async def submit(
    client: RepoClient,
    number: int,
    *,
    head: str,
    body: str,
    without_lines: str,
    comments: Sequence[LineComment] = (),
    event: Literal["COMMENT", "REQUEST_CHANGES"] = "COMMENT",
) -> int:
    """Review the commit `head`. Returns the review's id. Raises `GitHubError`.

    GitHub takes a review with all its comments or not at all, and does not say which line is not
    part of the diff. If it refuses them, the review is sent again without any, with
    `without_lines`, which says in its text what they say, in place of `body`.
    """
    data: dict[str, Any] = {"commit_id": head, "event": event}
    notes = [_note(comment) for comment in comments]
    path = f"/pulls/{number}/reviews"
    if notes:
        try:
            sent = {**data, "body": body, "comments": notes}
            return int((await client.call("POST", path, json=sent))["id"])
        except GitHubError as error:
            if error.status != 422:
                raise
    text = without_lines if notes else body
    return int((await client.call("POST", path, json={**data, "body": text}))["id"])


def _note(comment: LineComment) -> dict[str, Any]:
    return {
        "path": comment.path,
        "line": comment.line,
        "side": "RIGHT",
        "body": comment.body,
    }
