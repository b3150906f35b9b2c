"""Where the App is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator

from githubkit import GitHub, TokenAuthStrategy

from app.github.calls import ask
from app.github.client import TIMEOUT, AppClient, RepoClient, repository_with_token


async def repositories(app: AppClient, api_url: str) -> AsyncIterator[tuple[RepoClient, str]]:
    """Repositories and their default branches; neither suspended nor archived ones.

    Of the first hundred installations, and of each its first hundred. Raises `GitHubError`.
    """
    for installation in await app.request("GET", "/app/installations", params={"per_page": 100}):
        if installation.get("suspended_at"):
            continue
        path = f"/app/installations/{installation['id']}/access_tokens"
        token = str((await app.request("POST", path))["token"])
        github = GitHub(
            TokenAuthStrategy(token),
            base_url=f"{api_url}/",
            timeout=TIMEOUT,
            auto_retry=False,
            http_cache=False,
        )
        params = {"per_page": 100}  # archived ones are among them
        listed = await ask(github, "GET", "/installation/repositories", params=params)
        for one in listed["repositories"]:
            if not one.get("archived"):
                name = str(one["full_name"])
                yield repository_with_token(api_url, token, name), str(one["default_branch"])
