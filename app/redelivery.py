"""GitHub never sends a failed delivery again by itself: we ask for those that never reached us."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from app.github.client import AppClient, GitHubError
from app.store import deliveries
from app.store.engine import Engine

logger = logging.getLogger(__name__)

KEPT = timedelta(days=3)
"""How long GitHub keeps a delivery."""
_PAGES = 20
_REFUSALS = 5
"""Refusals of our own (4xx) after which a delivery is given up: something in it makes it fail."""
_FIRST, _LONGEST = timedelta(seconds=45), timedelta(hours=1)
"""How long a failed attempt is waited on before the next; doubled each time."""


def missed(
    listed: list[dict[str, Any]], now: datetime, *, back: bool = False
) -> list[dict[str, Any]]:
    """The newest attempt of each delivery that is to be asked for again now, oldest first.

    Attempts that did not reach us are no reason to give up: we may be away for days. With `back`
    we have just come back, and nothing waits for its next try.
    """
    attempts: dict[str, list[dict[str, Any]]] = {}
    for item in listed:
        attempts.setdefault(str(item.get("guid", "")), []).append(item)
    found = []
    for tries in attempts.values():
        newest = max(tries, key=lambda item: str(item.get("delivered_at", "")))
        codes = [int(item.get("status_code") or 0) for item in tries]
        if any(200 <= code < 300 for code in codes):
            continue
        if sum(400 <= code < 500 for code in codes) >= _REFUSALS:
            continue
        if back or len(tries) == 1 or now >= _next_try(newest, len(tries)):
            found.append(newest)
    return sorted(found, key=lambda item: str(item.get("delivered_at", "")))


def _next_try(newest: dict[str, Any], tries: int) -> datetime:
    at = datetime.fromisoformat(str(newest.get("delivered_at", "")).replace("Z", "+00:00"))
    wait: timedelta = min(_FIRST * 2 ** min(tries - 2, 10), _LONGEST)
    return at + wait


async def ask_again(app: AppClient, engine: Engine, *, back: bool = False) -> int:
    """Ask for what failed and is not here. Returns how many. Raises `GitHubError`.

    One that GitHub refuses to send again does not hold up the others.
    """
    now = datetime.now(UTC)
    oldest = (now - KEPT).isoformat()
    listed: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page, cursor = await app.deliveries(cursor)
        listed += page
        if not cursor or not page or str(page[-1].get("delivered_at", "")) < oldest:
            break
    recent = [item for item in listed if str(item.get("delivered_at", "")) >= oldest]
    asked = 0
    for item in missed(recent, now, back=back):
        with engine.connect() as connection:
            if deliveries.finished(connection, str(item.get("guid"))):
                continue
        try:
            await app.request("POST", f"/app/hook/deliveries/{item['id']}/attempts")
            asked += 1
        except GitHubError as error:
            if error.rate_limited:
                raise
            logger.warning("delivery %s is not sent again: %s", item.get("guid"), error)
    return asked
