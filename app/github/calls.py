"""One call to GitHub, and what its errors mean."""

from __future__ import annotations

from typing import Any

import httpx
from githubkit import GitHub
from githubkit.exception import GitHubException, RequestFailed, RequestTimeout
from githubkit.exception import RequestError as TransportError

VERSION = "2022-11-28"
MOST_PAGES = 1_000
"""Pages of a list, each of a hundred; no issue has as many comments."""


class GitHubError(Exception):
    """GitHub said no, or nothing. `status` is None where there was no answer."""

    def __init__(
        self, message: str, status: int | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}

    @property
    def rate_limited(self) -> bool:
        """A primary or secondary limit: the whole installation has to wait."""
        if self.status == 429:
            return True
        if self.status != 403:
            return False
        text = str(self).lower()
        return (
            "retry-after" in self.headers
            or self.headers.get("x-ratelimit-remaining") == "0"
            or "rate limit" in text
            or "abuse" in text
        )

    def pause(self, now: float) -> float:
        """Seconds that GitHub asks to wait; `now` is in seconds since the epoch."""
        after = self.headers.get("retry-after", "")
        if after.isdigit():
            return max(1.0, float(after))
        reset = self.headers.get("x-ratelimit-reset", "")
        if self.headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
            return max(1.0, float(reset) - now)
        return 60.0


async def ask(github: GitHub[Any], method: str, path: str, **kwargs: Any) -> Any:
    response = await send(github, method, path, **kwargs)
    return read_json(response) if response.content else None


async def pages(github: GitHub[Any], path: str, **params: Any) -> list[Any]:
    """All pages of a list, at a hundred a page. Raises `GitHubError`."""
    found: list[Any] = []
    for page in range(1, MOST_PAGES + 1):
        query = {**params, "per_page": 100, "page": page}
        response = await send(github, "GET", path, params=query)
        told = read_json(response)
        if not isinstance(told, list):
            raise GitHubError(f"GitHub's answer to {path} is no list")
        found += told
        if 'rel="next"' not in response.headers.get("link", ""):
            return found
    raise GitHubError(f"GitHub's answer to {path} has no end")


def read_json(response: httpx.Response) -> Any:
    """What an answer says; something between us and GitHub may have put a page in its place.

    Raises `GitHubError`.
    """
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise GitHubError(f"GitHub's answer is no JSON: {str(error)[:200]}") from error


async def send(
    github: GitHub[Any], method: str, path: str, *, accept: str = "", **kwargs: Any
) -> httpx.Response:
    headers = {"X-GitHub-Api-Version": VERSION} | ({"Accept": accept} if accept else {})
    try:
        response = await github.arequest(method, path, headers=headers, **kwargs)
    except RequestFailed as error:
        raise _failure(error.response.raw_response) from error
    except (RequestTimeout, TransportError, GitHubException, httpx.HTTPError, ValueError) as error:
        # a ValueError: a header of the answer that githubkit cannot read
        raise GitHubError(f"no answer from GitHub: {error!r}"[:500]) from error
    return response.raw_response


def _failure(response: httpx.Response) -> GitHubError:
    try:
        message = str(response.json().get("message", ""))
    except (ValueError, AttributeError):
        message = response.text[:200]
    headers = {name.lower(): value for name, value in response.headers.items()}
    text = f"{response.status_code} {message}".strip()[:500]
    return GitHubError(text, response.status_code, headers)
