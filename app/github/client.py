"""Talking to GitHub as the App: installation tokens, no retries of our client's own.

A client that repeats a POST which had already worked creates things twice, so `auto_retry` is off:
what is to be done again is decided in `app.perform`, after a look.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

import httpx
from githubkit import AppAuthStrategy, GitHub, TokenAuthStrategy
from githubkit.cache import MemCacheStrategy

from app.features.model import Place
from app.github import graphql
from app.github.calls import GitHubError, ask, pages, read_json, send
from app.scopes.rules import MAX_BYTES
from app.settings import Settings

__all__ = ["AppClient", "GitHubError", "RepoClient"]

TIMEOUT = 15.0
_TOKEN_SPARE = 600.0
"""Seconds that a token must still be good for: a push may take minutes."""
_ROLES = ("none", "read", "triage", "write", "maintain", "admin")


class _KeptOpen(httpx.AsyncBaseTransport):
    """One pool of connections for all calls; githubkit opens and closes a client for each."""

    def __init__(self) -> None:
        self._pool = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=20))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._pool.handle_async_request(request)

    async def aclose(self) -> None:
        """Called after each call: the pool stays."""


class AppClient:
    """The App, and through it the installations. One for each event loop."""

    def __init__(self, settings: Settings) -> None:
        key = settings.private_key()
        if not settings.github_app_id or not key:
            raise ValueError(
                "No GitHub App is configured: set KR_GITHUB_APP_ID and"
                " KR_GITHUB_PRIVATE_KEY_PATH, or open /setup."
            )
        self._github: GitHub[AppAuthStrategy] = GitHub(
            AppAuthStrategy(settings.github_app_id, key),
            base_url=settings.github_api_url + "/",
            timeout=TIMEOUT,
            auto_retry=False,
            http_cache=False,
            # githubkit's default is one cache for the process, keyed by the App's number alone:
            # an App of the same number on another server would be asked with this one's token.
            cache_strategy=MemCacheStrategy(),
            async_transport=_KeptOpen(),
        )
        self._app_id = settings.github_app_id
        self._installations: dict[int, GitHub[Any]] = {}
        self._found: dict[str, int] = {}
        self._tokens: dict[str, tuple[str, float]] = {}
        self._slug = ""

    async def slug(self) -> str:
        """The App's slug; its comments are by `SLUG[bot]`. Raises `GitHubError`."""
        if not self._slug:
            self._slug = str((await ask(self._github, "GET", "/app")).get("slug", ""))
        return self._slug

    async def recogniser(self) -> Callable[[dict[str, Any]], bool]:
        """Tells whether a comment is the App's own. Raises `GitHubError`."""
        bot, app_id = f"{await self.slug()}[bot]", self._app_id

        def ours(comment: dict[str, Any]) -> bool:
            author = comment.get("user") or {}
            via = comment.get("performed_via_github_app") or {}
            by_bot = author.get("login") == bot and author.get("type", "Bot") == "Bot"
            return by_bot or (author.get("type") == "Bot" and str(via.get("id")) == app_id)

        return ours

    async def installation_of(self, repo: str) -> int:
        """The installation that covers a repository. Raises `GitHubError`."""
        if repo not in self._found:
            found = await ask(self._github, "GET", f"/repos/{repo}/installation")
            self._found[repo] = int(found["id"])
        return self._found[repo]

    async def repository(self, place: Place) -> RepoClient:
        """A client for the repository of an issue. Raises `GitHubError`."""
        installation = place.installation or await self.installation_of(place.repo)
        if installation not in self._installations:
            auth = self._github.auth.as_installation(installation)
            self._installations[installation] = self._github.with_auth(auth)
        return RepoClient(self._installations[installation], place.repo)

    async def git_token(self, repo: str) -> str:
        """A token for git in one repository, and for nothing else. Raises `GitHubError`.

        Workflow files want a right of their own; without it everything else can be pushed.
        """
        held = self._tokens.get(repo)
        if held and held[1] > time.time() + _TOKEN_SPARE:
            return held[0]
        path = f"/app/installations/{await self.installation_of(repo)}/access_tokens"
        wanted = {"repositories": [repo.partition("/")[2]]}
        rights = {"contents": "write", "workflows": "write"}
        try:
            found = await self.request("POST", path, json={**wanted, "permissions": rights})
        except GitHubError as error:
            if error.status != 422:
                raise
            del rights["workflows"]
            found = await self.request("POST", path, json={**wanted, "permissions": rights})
        until = datetime.fromisoformat(str(found["expires_at"]).replace("Z", "+00:00"))
        self._tokens[repo] = (str(found["token"]), until.timestamp())
        return str(found["token"])

    def forget_token(self, repo: str) -> None:
        """It was refused: the next one is new."""
        self._tokens.pop(repo, None)

    async def text(self, place: Place, repo: str, path: str) -> str | None:
        """A file on a repository's default branch; None if it is not there or not shown to us.

        Asked through the installation of `place`. Raises `GitHubError`.
        """
        client = await self.repository(replace(place, repo=repo))
        try:
            found = await client.call("GET", f"/contents/{quote(path)}")
        except GitHubError as error:
            if error.status in {403, 404} and not error.rate_limited:
                return None
            raise
        if not isinstance(found, dict) or found.get("encoding") != "base64":
            return None  # a folder, a link, or larger than a configuration may be
        return base64.b64decode(found["content"]).decode("utf-8", "replace")

    async def deliveries(self, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
        """A page of the App's webhook deliveries, newest first, and the cursor of the next."""
        params = {"per_page": "100"} | ({"cursor": cursor} if cursor else {})
        response = await send(self._github, "GET", "/app/hook/deliveries", params=params)
        following = response.links.get("next", {}).get("url", "")
        return read_json(response), httpx.URL(following).params.get("cursor") if following else None

    async def request(self, method: str, path: str, **kwargs: Any) -> Any:
        """A call as the App itself. Raises `GitHubError`."""
        return await ask(self._github, method, path, **kwargs)


def repository_with_token(api_url: str, token: str, repo: str) -> RepoClient:
    """A client for one repository, as a job on a runner has it."""
    github = GitHub(
        TokenAuthStrategy(token),
        base_url=api_url.rstrip("/") + "/",
        timeout=TIMEOUT,
        auto_retry=False,
        http_cache=False,
    )
    return RepoClient(github, repo)


class RepoClient:
    """What we do in one repository. Every method raises `GitHubError`."""

    def __init__(self, github: GitHub[Any], repo: str) -> None:
        self._github = github
        self._repo = repo

    @cached_property
    def _root(self) -> str:
        return f"/repos/{self._repo}"

    async def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """A call below `/repos/{owner}/{name}`; returns the JSON of the answer, or None."""
        return await ask(self._github, method, self._root + path, **kwargs)

    @property
    def owner(self) -> str:
        """Whose repository it is: an organisation, or a person."""
        return self._repo.partition("/")[0]

    @property
    def name(self) -> str:
        """The repository's name without its owner."""
        return self._repo.partition("/")[2]

    async def graphql(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        """A GraphQL call; returns its `data`.

        An error in the answer becomes a `GitHubError` with the status that REST would give: 404
        for NOT_FOUND, 403 for FORBIDDEN, 429 for RATE_LIMITED, otherwise 422.
        """
        return await graphql.run(self._github, query, variables)

    async def pages(self, path: str, **params: Any) -> list[Any]:
        """All pages of a list, at a hundred a page."""
        return await pages(self._github, self._root + path, **params)

    async def issue_now(self, number: int) -> tuple[tuple[str, ...] | None, bool | None]:
        """An issue's labels, and whether it is closed; None for both if it is not there."""
        try:
            found = await self.call("GET", f"/issues/{number}")
        except GitHubError as error:
            if error.status in {301, 403, 404, 410} and not error.rate_limited:
                return None, None
            raise
        labels = tuple(str(label.get("name", "")) for label in found.get("labels", []))
        return labels, found.get("state") == "closed"

    async def search_code(self, words: str) -> list[dict[str, Any]]:
        """Files of this repository in which the words stand, with the lines that match."""
        response = await send(
            self._github,
            "GET",
            "/search/code",
            params={"q": f"{words} repo:{self._repo}", "per_page": "10"},
            accept="application/vnd.github.text-match+json",
        )
        items = read_json(response).get("items", [])
        ours = self._repo.lower()
        return [
            item
            for item in items
            if str(item.get("repository", {}).get("full_name", "")).lower() == ours
        ]

    async def text_at(self, path: str, ref: str, unreadable: str | None = None) -> str | None:
        """A file at a commit, None if nothing is there.

        `unreadable` stands for one above 3 MB, and for a folder, a link or a submodule.
        """
        try:
            found = await self.call("GET", f"/contents/{quote(path)}", params={"ref": ref})
        except GitHubError as error:
            if error.status == 404:
                return None
            raise
        if isinstance(found, dict) and found.get("encoding") == "none":  # above 1 MB
            if int(found.get("size") or 0) > MAX_BYTES:
                return unreadable
            found = await self.call("GET", f"/git/blobs/{found['sha']}")
        if not isinstance(found, dict) or found.get("encoding") != "base64":
            return unreadable
        return base64.b64decode(found["content"]).decode("utf-8", "replace")

    async def is_member(self, team: str, login: str) -> bool:
        """Whether somebody belongs to a team (`owner/slug`); also False where it is not shown."""
        owner, _, slug = team.partition("/")
        path = f"/orgs/{quote(owner, safe='')}/teams/{quote(slug, safe='')}"
        try:
            found = await ask(self._github, "GET", f"{path}/memberships/{quote(login, safe='')}")
        except GitHubError as error:
            if error.status in {403, 404}:
                return False
            raise
        return bool(found) and found.get("state") == "active"

    async def permission(self, login: str) -> str:
        """What somebody may do: `none`, `read`, `triage`, `write`, `maintain` or `admin`.

        A custom role counts as the highest of those that it includes.
        """
        try:
            found = await self.call("GET", f"/collaborators/{quote(login, safe='')}/permission")
        except GitHubError as error:
            if error.status == 404:
                return "none"
            raise
        role = str(found.get("role_name") or "")
        if role in _ROLES:
            return role
        granted = (found.get("user") or {}).get("permissions") or {}
        for role, name in (
            ("admin", "admin"),
            ("maintain", "maintain"),
            ("write", "push"),
            ("triage", "triage"),
            ("read", "pull"),
        ):
            if granted.get(name):
                return role
        legacy = str(found.get("permission") or "none")
        return legacy if legacy in _ROLES else "none"
