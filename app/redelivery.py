"""GitHub never sends a failed delivery again by itself: we ask for those that never reached us."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from app.github.client import AppClient
from app.store import deliveries
from app.store.engine import Engine

KEPT = timedelta(days=3)
"""How long GitHub keeps a delivery."""
_PAGES = 20
_TRIES = 5


def missed(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest attempt of each delivery of which no attempt succeeded, oldest first.

    One that failed five times is given up: something in it makes it fail.
    """
    attempts: dict[str, list[dict[str, Any]]] = {}
    for item in listed:
        attempts.setdefault(str(item.get("guid", "")), []).append(item)
    found = []
    for tries in attempts.values():
        ok = any(200 <= int(item.get("status_code") or 0) < 300 for item in tries)
        if not ok and len(tries) < _TRIES:
            found.append(max(tries, key=lambda item: str(item.get("delivered_at", ""))))
    return sorted(found, key=lambda item: str(item.get("delivered_at", "")))


async def ask_again(app: AppClient, engine: Engine) -> int:
    """Ask for what failed and is not here. Returns how many. Raises `GitHubError`."""
    oldest = (datetime.now(UTC) - KEPT).isoformat()
    listed: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page, cursor = await app.deliveries(cursor)
        listed += page
        if not cursor or not page or str(page[-1].get("delivered_at", "")) < oldest:
            break
    asked = 0
    for item in missed([item for item in listed if str(item.get("delivered_at", "")) >= oldest]):
        with engine.connect() as connection:
            if deliveries.finished(connection, str(item.get("guid"))):
                continue
        await app.request("POST", f"/app/hook/deliveries/{item['id']}/attempts")
        asked += 1
    return asked
