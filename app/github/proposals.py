"""Our pull requests: found by their branch, opened as drafts, edited, made ready."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from app.github.client import GitHubError, RepoClient

_READY = """
mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}
"""
_DRAFT = """
mutation($id: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pull request as it stands."""

    number: int
    node: str
    """Its id in GraphQL."""
    draft: bool
    merged: bool
    state: str
    """`open` or `closed`; a merged one is closed."""
    head_sha: str
    base: str
    """The branch it is to be merged into."""
    body: str
    title: str
    author: str
    """Login; an App's ends with `[bot]`."""


async def find(
    client: RepoClient, head: str, base: str | None = None, state: str = "open"
) -> Proposal | None:
    """The newest pull request from a branch of the same repository, or None.

    `state` is `open`, `closed` or `all`. Raises `GitHubError`.
    """
    wanted = {"head": f"{client.owner}:{head}", "state": state} | ({"base": base} if base else {})
    for found in await client.pages("/pulls", **wanted):
        # an owner may have a fork of the own repository, with a branch of the same name
        source = (found.get("head") or {}).get("repo") or {}
        same = source.get("id") == found["base"]["repo"]["id"]
        if same and found["head"]["ref"] == head:
            return _proposal(found)
    return None


async def get(client: RepoClient, number: int) -> Proposal:
    """The pull request as it stands now. Raises `GitHubError`."""
    return _proposal(await client.call("GET", f"/pulls/{number}"))


async def open_draft(
    client: RepoClient, *, head: str, base: str, title: str, body: str
) -> Proposal:
    """Open one, as a draft where the plan has drafts.

    Raises `GitHubError`: 422 where there is one, or nothing to propose.
    """
    data = {"head": head, "base": base, "title": title, "body": body}
    try:
        return _proposal(await client.call("POST", "/pulls", json={**data, "draft": True}))
    except GitHubError as error:
        if error.status != 422 or "draft" not in str(error).lower():
            raise
    return _proposal(await client.call("POST", "/pulls", json=data))


async def edit(client: RepoClient, number: int, *, title: str, body: str) -> Proposal:
    """Give it a title and a text. Raises `GitHubError`."""
    data = {"title": title, "body": body}
    return _proposal(await client.call("PATCH", f"/pulls/{number}", json=data))


async def set_ready(client: RepoClient, proposal: Proposal) -> Proposal:
    """Take it out of its draft state. Raises `GitHubError`."""
    return await _set(client, proposal, draft=False)


async def set_draft(client: RepoClient, proposal: Proposal) -> Proposal:
    """Make it a draft again. Raises `GitHubError`."""
    return await _set(client, proposal, draft=True)


async def closed_state(client: RepoClient, number: int) -> Literal["merged", "closed"] | None:
    """How it ended; None while it is open. Raises `GitHubError`."""
    now = await get(client, number)
    if now.merged:
        return "merged"
    return "closed" if now.state == "closed" else None


async def _set(client: RepoClient, proposal: Proposal, *, draft: bool) -> Proposal:
    """REST cannot change it. What is so already is left alone: GitHub may call it an error."""
    if proposal.draft == draft:
        return proposal
    try:
        await client.graphql(_DRAFT if draft else _READY, {"id": proposal.node})
    except GitHubError as error:
        if error.status != 422:
            raise
        now = await get(client, proposal.number)
        if now.draft != draft:
            raise
        return now
    return replace(proposal, draft=draft)


def _proposal(found: dict[str, Any]) -> Proposal:
    return Proposal(
        number=int(found["number"]),
        node=str(found["node_id"]),
        draft=bool(found.get("draft")),
        merged=found.get("merged_at") is not None,
        state=str(found["state"]),
        head_sha=str(found["head"]["sha"]),
        base=str(found["base"]["ref"]),
        body=str(found.get("body") or ""),
        title=str(found.get("title") or ""),
        author=str((found.get("user") or {}).get("login") or ""),
    )
