"""One GraphQL call, and what its errors mean: they come with status 200."""

from __future__ import annotations

import re
from typing import Any

from githubkit import GitHub

from app.github.calls import GitHubError, read_json, send

_STATUS = {
    "NOT_FOUND": 404,
    "FORBIDDEN": 403,
    "INSUFFICIENT_SCOPES": 403,
    "RATE_LIMIT": 429,
    "RATE_LIMITED": 429,
}


async def run(github: GitHub[Any], query: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The `data` of the answer. Raises `GitHubError`, also where only a part of it failed."""
    body = {"query": query, "variables": variables}
    response = await send(github, "POST", _address(github), json=body)
    answer = read_json(response)
    errors = answer.get("errors") or []
    if errors:
        kind, message = errors[0].get("type"), errors[0].get("message", "")
        status = _STATUS.get(str(kind), 422)
        headers = {name.lower(): value for name, value in response.headers.items()}
        raise GitHubError(f"{status} {message}".strip()[:500], status, headers)
    return dict(answer.get("data") or {})


def _address(github: GitHub[Any]) -> str:
    """Enterprise has it beside `/api/v3`, github.com below the API's own address."""
    address, enterprise = re.subn(r"/api/v3/?$", "/api/graphql", str(github.config.base_url))
    return address if enterprise else "/graphql"
