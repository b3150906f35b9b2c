"""The documents of a feature as they stand on its branch, and a pull request as it is now."""

from __future__ import annotations

from dataclasses import replace

from app.actions import WriteDocuments
from app.features.dispatch import Planned
from app.features.model import Feature
from app.features.templates import FOLDER, NAMES, fit
from app.github.client import GitHubError, RepoClient
from app.github.pulls import read_rules
from app.handlers.facts import Head
from app.scopes.pulls import SCOPE_FILE


async def read_planned(client: RepoClient, feature: Feature, commit: str = "") -> Planned:
    """As of a commit, or of the branch now; what is not there is None. Raises `GitHubError`."""
    folder, branch = feature.folder, commit or feature.branch
    return Planned(
        plan=await client.text_at(f"{folder}/plan.md", branch),
        tasks=await client.text_at(f"{folder}/tasks.md", branch),
        spec=await client.text_at(f"{folder}/spec.md", branch),
        scopes=await read_rules(client, SCOPE_FILE, feature.default_branch),
    )


async def read_pull_head(client: RepoClient, number: int) -> Head:
    """A pull request as it is now. Raises `GitHubError`."""
    found = await client.call("GET", f"/pulls/{number}")
    head, base = found["head"], found["base"]
    same = (head.get("repo") or {}).get("id") == (base.get("repo") or {}).get("id")
    return Head(
        sha=str(head["sha"]),
        base=str(base["sha"]),
        into=str(base["ref"]),
        branch=str(head["ref"]) if same else "",
        draft=bool(found.get("draft")),
        author=str((found.get("user") or {}).get("login") or ""),
        closed=found.get("state") == "closed",
    )


async def read_templates(client: RepoClient) -> tuple[str, ...]:
    """Documents that the default branch has spec-kit templates for. Raises `GitHubError`."""
    try:
        found = await client.call("GET", f"/contents/{FOLDER}")
    except GitHubError as error:
        if error.status in {403, 404} and not error.rate_limited:
            return ()
        raise
    there = {str(one.get("name")) for one in found} if isinstance(found, list) else set()
    return tuple(document for document, name in NAMES.items() if name in there)


async def in_form(client: RepoClient, wanted: WriteDocuments) -> WriteDocuments:
    """The drafts in the form of the repository's templates. Raises `GitHubError`."""
    drafts = []
    for name, text in wanted.drafts:
        template = None
        if name in wanted.templates:
            template = await client.text_at(f"{FOLDER}/{NAMES[name]}", wanted.base)
        drafts.append((name, fit(text, template) if template else text))
    return replace(wanted, drafts=tuple(drafts))
