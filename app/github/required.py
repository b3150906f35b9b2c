"""Which checks a branch requires before anything is merged into it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from app.github.client import GitHubError, RepoClient


async def required_checks(client: RepoClient, branch: str) -> frozenset[str] | None:
    """Names of the checks that rules and classic protection require.

    None where GitHub does not let us see all of them: an empty set says that none is required.
    Raises `GitHubError` for anything but a refusal, rate limits included.
    """
    by_rules = await _by_rules(client, branch)
    classic = await _classic(client, branch)
    if by_rules is None or classic is None:
        return None
    return by_rules | classic


async def _by_rules(client: RepoClient, branch: str) -> frozenset[str] | None:
    """By rulesets, which whoever reads the repository may see; older servers have none (404)."""
    try:
        rules = await client.pages(f"/rules/branches/{quote(branch, safe='')}")
    except GitHubError as error:
        return _refused(error)
    found = [rule for rule in rules if rule.get("type") == "required_status_checks"]
    parameters = [rule.get("parameters") or {} for rule in found]
    return frozenset(
        str(check["context"])
        for given in parameters
        for check in given.get("required_status_checks") or []
    )


async def _classic(client: RepoClient, branch: str) -> frozenset[str] | None:
    """By the branch's protection; the branch itself tells where only administrators see that."""
    path = f"/branches/{quote(branch, safe='')}"
    try:
        return _names(await client.call("GET", f"{path}/protection/required_status_checks"))
    except GitHubError as error:
        # "Branch not protected" says that there is nothing; "Not Found", that we may not know
        seen = None if str(error) == "404 Not Found" else _refused(error)
    if seen is not None:
        return seen
    try:
        found = await client.call("GET", path)
    except GitHubError as error:
        return _refused(error)
    protection = found.get("protection") or {}
    if found.get("protected") is False or protection.get("enabled") is False:
        return frozenset()
    shown = protection.get("required_status_checks")
    return _names(shown) if shown else None


def _names(shown: dict[str, Any]) -> frozenset[str]:
    """`checks` has taken the place of `contexts`; older servers have only the latter."""
    checks = [check["context"] for check in shown.get("checks") or []]
    return frozenset(map(str, [*checks, *(shown.get("contexts") or [])]))


def _refused(error: GitHubError) -> frozenset[str] | None:
    """404: there is nothing. 403: there may be something. Anything else is raised again."""
    if error.status == 404:
        return frozenset()
    if error.status == 403 and not error.rate_limited:
        return None
    raise error
