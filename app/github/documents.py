"""The documents of a feature as they stand on its branch, and a pull request as it is now."""

from __future__ import annotations

from app.features.dispatch import Planned
from app.features.model import Feature
from app.github.client import RepoClient
from app.handlers.facts import Head
from app.scopes.pulls import SCOPE_FILE


async def read_planned(client: RepoClient, feature: Feature, commit: str = "") -> Planned:
    """As of a commit, or of the branch now; what is not there is None. Raises `GitHubError`."""
    folder, branch = feature.folder, commit or feature.branch
    return Planned(
        plan=await client.text_at(f"{folder}/plan.md", branch),
        tasks=await client.text_at(f"{folder}/tasks.md", branch),
        spec=await client.text_at(f"{folder}/spec.md", branch),
        scopes=await client.text_at(SCOPE_FILE, feature.default_branch),
    )


async def read_pull_head(client: RepoClient, number: int) -> Head:
    """A pull request as it is now. Raises `GitHubError`."""
    found = await client.call("GET", f"/pulls/{number}")
    head, base = found["head"], found["base"]
    same = (head.get("repo") or {}).get("id") == (base.get("repo") or {}).get("id")
    return Head(
        sha=str(head["sha"]),
        base=str(base["sha"]),
        branch=str(head["ref"]) if same else "",
        draft=bool(found.get("draft")),
        author=str((found.get("user") or {}).get("login") or ""),
        closed=found.get("state") == "closed",
    )
