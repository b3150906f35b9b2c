"""The pages: an overview at `/`, the way to an App at `/setup`."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Depends, Request, Response
from fastapi.templating import Jinja2Templates

from app.settings import Settings
from app.store import deliveries, health, outbox, threads
from app.store.engine import connect
from app.web.access import Reader
from app.web.manifest import manifest


def router(settings: Settings) -> APIRouter:
    """Server-rendered, without scripts."""
    routes = APIRouter(include_in_schema=False, dependencies=[Depends(Reader(settings))])
    templates = Jinja2Templates(Path(__file__).parent / "templates")
    engine = connect(settings.database_url or "", pool=2)

    @routes.get("/")
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

    @routes.get("/setup")
    def setup(request: Request) -> Response:
        ready = bool(settings.github_app_id and settings.github_webhook_secret)
        values = {
            "ready": ready,
            "manifest": manifest(settings),
            "action": f"{settings.github_url}/settings/apps/new",
        }
        return templates.TemplateResponse(request, "setup.html", values)

    return routes
