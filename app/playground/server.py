"""The playground as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from app.playground import (
    api_app,
    api_checks,
    api_contents,
    api_control,
    api_git,
    api_issues,
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
from app.playground.config import PlaygroundConfig
from app.playground.faults import API, FaultMiddleware

__all__ = ["PlaygroundConfig", "create_playground"]


async def _not_found(request: Request) -> Response:
    return JSONResponse({"message": "Not Found", "status": "404"}, 404)


def create_playground(config: PlaygroundConfig) -> Starlette:
    """GitHub in a box: REST below `/api/v3`, pages elsewhere. Filled on the first request."""
    box = Box(config)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await box.start()
        yield
        await box.hooks.close()

    rest = [
        *api_app.ROUTES,
        *api_repos.ROUTES,
        *api_issues.ROUTES,
        *api_git.ROUTES,
        *api_contents.ROUTES,
        *api_checks.ROUTES,
        *api_pulls.ROUTES,
        *api_reviews.ROUTES,
        Route("/{rest:path}", _not_found),
    ]
    pages_ = [
        *git_http.ROUTES,
        *pages_settings.ROUTES,
        *pages_pulls.ROUTES,
        *pages_code.ROUTES,
        *pages.ROUTES,
    ]
    app = Starlette(
        routes=[Mount(API, routes=rest), *api_control.ROUTES, *pages_],
        middleware=[Middleware(FaultMiddleware, faults=box.faults)],
        lifespan=lifespan,
    )
    app.state.box = box
    app.state.templates = templates()
    return app
