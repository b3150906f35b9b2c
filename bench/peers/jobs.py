"""What `fastapi_rq` enqueues; no worker runs it here."""

from __future__ import annotations

from typing import Any


def handle(event: str, delivery: str, payload: dict[str, Any]) -> None:
    """A job's work would be here."""
