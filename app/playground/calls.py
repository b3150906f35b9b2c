"""One call of the REST API: who asks, about what, and the answer with GitHub's headers."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from app.playground.auth import authenticate
from app.playground.box import Actor, Box
from app.playground.errors import ApiError, forbidden, not_found
from app.playground.responses import Responses
from app.playground.state import Comment, Issue, Json, Repo, User, visible

Handler = Callable[["Call"], Awaitable[Response]]
LIMIT = 5000


class Call:
    """A request with what every handler needs of it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.box: Box = request.app.state.box
        self.actor: Actor = authenticate(self.box, request.headers.get("authorization"))
        self._body: Any = None

    @property
    def show(self) -> Responses:
        """Makes the JSON."""
        return self.box.show

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def number(self, name: str) -> int:
        """A part of the path that is a number, or 404."""
        try:
            return int(self.part(name))
        except ValueError as error:
            raise not_found() from error

    def query(self, name: str, default: str = "") -> str:
        """A query parameter."""
        return self.request.query_params.get(name, default)

    async def json(self) -> Json:
        """The body, an object; nothing counts as an empty one."""
        raw = await self.request.body()
        try:
            data = json.loads(raw) if raw else {}
        except ValueError as error:
            raise ApiError(400, "Problems parsing JSON") from error
        if not isinstance(data, dict):
            raise ApiError(400, "Body should be a JSON object")
        return data

    # what it is about

    def repo(self, need: str = "read") -> Repo:
        """The repository of the path. 404 if it may not be seen, 403 if the role is too small."""
        repo = self.box.world.repo(self.part("owner"), self.part("repo"))
        if repo is None or not self.box.may(self.actor, repo, "read"):
            raise not_found()
        self.need(repo, need)
        return repo

    def need(self, repo: Repo, role: str) -> None:
        """Raise unless the actor has at least this role."""
        if role != "read" and self.actor.user is None:
            raise ApiError(401, "Requires authentication")
        if not self.box.may(self.actor, repo, role):
            raise forbidden(self.actor.is_app)

    def person(self) -> User:
        """The user who acts; 401 for anybody without a name."""
        if self.actor.user is None:
            raise ApiError(401, "Requires authentication")
        return self.actor.user

    def issue(self, repo: Repo) -> Issue:
        """The issue of the path: 404, or 410 if it was deleted."""
        number = self.number("number")
        if number in repo.gone:
            raise ApiError(410, "This issue was deleted")
        found = visible([repo.issues[number]] if number in repo.issues else [])
        if not found:
            raise not_found()
        return found[0]

    def comment(self, repo: Repo) -> tuple[Issue, Comment]:
        """The comment of the path, with its issue."""
        wanted = self.number("comment")
        for issue in repo.issues.values():
            for comment in visible(issue.comments):
                if comment.id == wanted:
                    return issue, comment
        raise not_found()

    # answers

    def reply(
        self, data: Any, status: int = 200, headers: dict[str, str] | None = None
    ) -> Response:
        """JSON with an ETag; 304 if the caller has it already."""
        body = json.dumps(data, ensure_ascii=False).encode()
        found = {**(headers or {}), "ETag": f'W/"{hashlib.sha256(body).hexdigest()}"'}
        known = self.request.headers.get("if-none-match") == found["ETag"]
        if known and self.request.method == "GET" and status == 200:
            return Response(status_code=304, headers=found)
        return Response(body, status, found, "application/json; charset=utf-8")

    def page_of(self, items: Sequence[Any]) -> tuple[list[Any], dict[str, str]]:
        """The page that was asked for, and its `Link` header."""
        size = _bounded(self.query("per_page"), 30, 100)
        page = _bounded(self.query("page"), 1, 10**6)
        last = max(1, -(-len(items) // size))
        links = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        shown = [
            f'<{self._address(page=target)}>; rel="{name}"'
            for name, target in links.items()
            if 1 <= target <= last and not (target == page or (name == "last" and page == last))
        ]
        headers = {"Link": ", ".join(shown)} if last > 1 and shown else {}
        return list(items[(page - 1) * size : page * size]), headers

    def listed(self, items: Sequence[Any], make: Callable[[Any], Any]) -> Response:
        """One page of a list."""
        page, headers = self.page_of(items)
        return self.reply([make(item) for item in page], headers=headers)

    def _address(self, **changed: Any) -> str:
        query = {**self.request.query_params, **{k: str(v) for k, v in changed.items()}}
        path = self.request.url.path.removeprefix("/api/v3")
        return f"{self.box.config.api_url}{path}?{urlencode(query)}"

    def link_next(self, **changed: Any) -> dict[str, str]:
        """A `Link` header with only the next page."""
        return {"Link": f'<{self._address(**changed)}>; rel="next"'}


def _bounded(text: str, default: int, most: int) -> int:
    return min(int(text), most) if text.isdigit() and int(text) > 0 else default


def _limits(box: Box, label: str) -> dict[str, str]:
    """`X-RateLimit-*`: counted by the hour for each actor, never enforced."""
    hour = int(time.time() // 3600)
    key = f"{label}/{hour}"
    box.used[key] += 1
    used = min(box.used[key], LIMIT - 1)
    return {
        "X-RateLimit-Limit": str(LIMIT),
        "X-RateLimit-Remaining": str(LIMIT - used),
        "X-RateLimit-Used": str(used),
        "X-RateLimit-Reset": str((hour + 1) * 3600),
        "X-RateLimit-Resource": "core",
    }


def api(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Make a handler an endpoint: authentication before, GitHub's headers after."""

    async def endpoint(request: Request) -> Response:
        label = "anonymous"
        try:
            await request.app.state.box.start()
            call = Call(request)
            label = call.actor.label
            entry = request.scope.get("state", {}).get("entry")
            if entry is not None:
                entry.who = label
            response = await handler(call)
        except ApiError as error:
            body = json.dumps(error.body).encode()
            response = Response(body, error.status, media_type="application/json; charset=utf-8")
        response.headers.update(
            {
                "X-GitHub-Request-Id": uuid.uuid4().hex.upper()[:16],
                "X-GitHub-Media-Type": "github.v3; format=json",
                "X-GitHub-Api-Version-Selected": "2022-11-28",
                **_limits(request.app.state.box, label),
            }
        )
        return response

    return endpoint
