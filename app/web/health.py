"""`/healthz`, `/readyz`, `/metrics`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Response

from app.queue import connect_redis
from app.settings import Settings
from app.store import health, outbox
from app.store.engine import DatabaseError, Engine, connect
from app.store.migrate import at_head
from app.web.access import Reader


def router(settings: Settings) -> APIRouter:
    """The process lives; the parts behind it are fine; figures in Prometheus' text format.

    Orchestrators ask the first two without a token; the figures are for readers.
    """
    routes = APIRouter()
    engine = connect(settings.database_url or "", pool=2)

    @routes.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @routes.get("/readyz")
    def readyz(response: Response) -> dict[str, Any]:
        database = _database(engine)
        redis = _redis(settings.redis_url or "")
        if database != "ok":
            response.status_code = 503
        status = "ok" if database == redis == "ok" else "degraded"
        return {
            "status": status if database == "ok" else "unavailable",
            "database": database,
            "redis": redis,
        }

    @routes.get("/metrics", dependencies=[Depends(Reader(settings))])
    def metrics() -> Response:
        return Response(_metrics(engine), media_type="text/plain; version=0.0.4")

    return routes


def _database(engine: Engine) -> str:
    try:
        with engine.connect() as connection:
            return "ok" if at_head(connection) else "not migrated: run kr migrate"
    except DatabaseError:
        return "unreachable"


def _redis(url: str) -> str:
    try:
        connect_redis(url).ping()
    except Exception:  # whatever it is, the bell is away and the rest goes on
        return "unreachable"
    return "ok"


def _metrics(engine: Engine) -> str:
    with engine.connect() as connection:
        figures = {
            "kr_deliveries": ("state", health.counts(connection, "deliveries")),
            "kr_effects_waiting": ("lane", outbox.waiting(connection)),
            "kr_features": ("state", health.counts(connection, "features")),
            "kr_workers": ("kind", health.alive(connection)),
        }
    lines: list[str] = []
    for name, (label, values) in figures.items():
        lines.append(f"# TYPE {name} gauge")
        lines += [f'{name}{{{label}="{key}"}} {count}' for key, count in sorted(values.items())]
    return "\n".join(lines) + "\n"
