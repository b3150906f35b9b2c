"""The one RQ job: there is work, do it."""

from __future__ import annotations

from collections.abc import Callable

_drains: dict[str, Callable[[], None]] = {}


def serve(queue: str, drain: Callable[[], None]) -> None:
    """What this process does when its queue is rung; set once, at its start."""
    _drains[queue] = drain


def drain(queue: str) -> None:
    """Called by RQ."""
    _drains[queue]()
