"""The playground as one ASGI application: routes, the guard against other websites, faults."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from app.playground import (
    api_app,
    api_checks,
    api_commits,
    api_contents,
    api_control,
    api_git,
    api_graphql,
    api_issues,
    api_protection,
    api_pulls,
    api_repos,
    api_reviews,
    git_http,
    pages,
    pages_code,
    pages_pulls,
    pages_settings,
)
from app.playground.box import Box
from app.playground.calls import Call, api
from app.playground.config import PlaygroundConfig
from app.playground.errors import not_found
from app.playground.faults import API, FaultMiddleware
from app.playground.views import templates

__all__ = ["PlaygroundConfig", "create_playground"]

_SAFE = ("GET", "HEAD", "OPTIONS")
_STATIC = Path(__file__).parent / "static"


def create_playground(config: PlaygroundConfig) -> Starlette:
    """GitHub in a box: REST below `/api/v3`, GraphQL, pages elsewhere. Filled on first request."""
    box = Box(config)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await box.start()
        yield
        await box.hooks.close()

    app = Starlette(
        routes=_routes(),
        middleware=[
            Middleware(OwnSiteOnly, own=urlsplit(config.base_url).hostname),
            Middleware(FaultMiddleware, faults=box.faults),
        ],
        lifespan=lifespan,
    )
    app.state.box = box
    app.state.templates = templates()
    return app


def _routes() -> list[BaseRoute]:
    """The first that matches answers: the more special ones stand before the general ones."""
    rest = [
        *api_app.ROUTES,
        *api_graphql.ROUTES,
        *api_checks.ROUTES,
        *api_pulls.ROUTES,
        *api_reviews.ROUTES,
        *api_protection.ROUTES,
        *api_issues.ROUTES,
        *api_contents.ROUTES,
        *api_commits.ROUTES,
        *api_git.ROUTES,
        *api_repos.ROUTES,
        Route("/{rest:path}", api(_unknown), methods=["GET", "POST", "PATCH", "PUT", "DELETE"]),
    ]
    return [
        Mount(API, routes=rest),
        *api_graphql.OUTSIDE,
        *api_control.ROUTES,
        Mount("/_playground/static", StaticFiles(directory=_STATIC)),
        *git_http.ROUTES,
        *pages_settings.ROUTES,
        *pages.ROUTES,
        *pages_pulls.ROUTES,
        *pages_code.ROUTES,
    ]


async def _unknown(_: Call) -> Response:
    raise not_found()


class OwnSiteOnly:
    """Keeps other websites out: the Host must be ours, and so must a write's Origin."""

    def __init__(self, app: ASGIApp, own: str | None) -> None:
        self.app = app
        self._own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] == "http":
            refusal = self._refusal(Request(scope))
            if refusal:
                await JSONResponse({"message": refusal}, 403)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refusal(self, request: Request) -> str | None:
        host = request.headers.get("host", "")
        if not self._is_ours(host):
            return "this host name is not the playground's"
        if request.method in _SAFE:
            return None
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "none")
        if (origin is not None and urlsplit(origin).netloc != host) or site not in (
            "none",
            "same-origin",
        ):
            return "the request comes from another website"
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname
            return name in (self._own, "localhost") or ipaddress.ip_address(name or "").is_loopback
        except ValueError:
            return False
