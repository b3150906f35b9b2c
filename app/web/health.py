"""`/healthz`, `/readyz`, `/metrics`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.queue import connect_redis
from app.settings import Settings
from app.store import health, outbox
from app.store.engine import connect
from app.store.migrate import at_head


def router(settings: Settings) -> APIRouter:
    """The process lives; the parts behind it are fine; figures in Prometheus' text format."""
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

    @routes.get("/metrics")
    def metrics() -> Response:
        return Response(_metrics(engine), media_type="text/plain; version=0.0.4")

    return routes


def _database(engine: Engine) -> str:
    try:
        with engine.connect() as connection:
            return "ok" if at_head(connection) else "not migrated: run kr migrate"
    except SQLAlchemyError:
        return "unreachable"


def _redis(url: str) -> str:
    try:
        connect_redis(url).ping()
    except Exception:  # whatever it is, the bell is away and the rest goes on
        return "unreachable"
    return "ok"


def _metrics(engine: Engine) -> str:
    lines = ["# TYPE kr_deliveries gauge"]
    with engine.connect() as connection:
        for row in connection.execute(
            text("SELECT state, count(*) AS n FROM deliveries GROUP BY state ORDER BY state")
        ):
            lines.append(f'kr_deliveries{{state="{row.state}"}} {row.n}')
        lines.append("# TYPE kr_effects_waiting gauge")
        for kind, count in sorted(outbox.waiting(connection).items()):
            lines.append(f'kr_effects_waiting{{lane="{kind}"}} {count}')
        lines.append("# TYPE kr_features gauge")
        for row in connection.execute(
            text("SELECT state, count(*) AS n FROM features GROUP BY state ORDER BY state")
        ):
            lines.append(f'kr_features{{state="{row.state}"}} {row.n}')
        lines.append("# TYPE kr_workers gauge")
        kinds: dict[str, int] = {}
        for beat in health.heartbeats(connection):
            kinds[beat.kind] = kinds.get(beat.kind, 0) + int(beat.alive)
        lines += [f'kr_workers{{kind="{kind}"}} {n}' for kind, n in sorted(kinds.items())]
    return "\n".join(lines) + "\n"
