"""The pages: an overview at `/`, the way to an App at `/setup`, the API's description."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import JSONResponse
from fastapi.templating import Jinja2Templates

from app.settings import Settings
from app.store import deliveries, health, outbox, threads
from app.store.engine import connect
from app.web.access import Reader
from app.web.manifest import KeyFolder, SetupFailed, States, manifest

_TEMPLATES = Path(__file__).parent / "templates"
_DESCRIPTION = "/openapi.json"


def router(settings: Settings) -> APIRouter:
    """Server-rendered, without scripts."""
    routes = APIRouter(include_in_schema=False)
    reader = Reader(settings)
    templates = Jinja2Templates(_TEMPLATES)
    engine = connect(settings.database_url or "", pool=2)

    @routes.get("/", dependencies=[Depends(reader)])
    def overview(request: Request) -> Response:
        with engine.connect() as connection:
            values = {
                "features": threads.listing(connection, 50),
                "workers": health.heartbeats(connection),
                "waiting": outbox.waiting(connection),
                "newest": deliveries.newest(connection),
                "github": settings.github_url,
            }
        return templates.TemplateResponse(request, "overview.html", values)

    _add_setup(routes, settings, reader, templates)
    return routes


def _add_setup(
    routes: APIRouter, settings: Settings, reader: Reader, templates: Jinja2Templates
) -> None:
    states, folder = States(), KeyFolder(settings)

    @routes.get("/setup")
    def setup(request: Request, code: str | None = None, state: str = "") -> Response:
        if code is None or not states.knows(state):
            reader(request)
        values, status = _offer(settings, folder), 200
        if code is not None and not values["ready"]:
            try:
                if not states.knows(state):
                    _refuse_strangers(request)
                values["made"] = folder.take(code)
            except SetupFailed as error:
                values["problem"], status = str(error), error.status
        elif not values["ready"] and not values["filled"]:
            values["state"] = states.make()
        response = templates.TemplateResponse(request, "setup.html", values, status)
        response.headers["Cache-Control"] = "no-store"
        return response


def _offer(settings: Settings, folder: KeyFolder) -> dict[str, Any]:
    return {
        "ready": bool(settings.github_app_id and settings.github_webhook_secret),
        "filled": folder.filled,
        "load": shlex.quote(str(folder.settings_file)),
        "manifest": manifest(settings),
        "action": f"{settings.github_url}/settings/apps/new",
        "apps": f"{settings.github_url}/settings/apps",
    }


def _refuse_strangers(request: Request) -> None:
    """A page of a stranger's must not bring us the keys of the stranger's App."""
    if request.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise SetupFailed(
            "This did not begin at this server's /setup, or more than an hour ago, or before it"
            " was started again. If it was you, copy this page's address into a new tab.",
            403,
        )


def add_description(rest: FastAPI, settings: Settings) -> None:
    """`/docs`, `/redoc` and `/openapi.json`, for those who may read."""
    routes = APIRouter(include_in_schema=False, dependencies=[Depends(Reader(settings))])

    @routes.get(_DESCRIPTION)
    def description() -> Response:
        return JSONResponse(rest.openapi())

    @routes.get("/docs")
    def docs() -> Response:
        return get_swagger_ui_html(openapi_url=_DESCRIPTION, title=rest.title)

    @routes.get("/redoc")
    def redoc() -> Response:
        return get_redoc_html(openapi_url=_DESCRIPTION, title=rest.title)

    rest.include_router(routes)
