"""Which processes make up the service."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    """A child process by name; secrets go into `env`, never into `argv`."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


def _module(name: str, *argv: str) -> Program:
    return Program(name, (sys.executable, "-m", *argv))


def web() -> Program:
    """The webhook route, the API and the dashboard."""
    return _module("web", "app.web")


def events(count: int) -> list[Program]:
    """Processes that decide: `events-1` to `events-COUNT`."""
    return [_module(f"events-{n}", "workers", "events") for n in range(1, count + 1)]


def outbox() -> Program:
    """The process that writes to GitHub."""
    return _module("outbox", "workers", "outbox")


def agents() -> Program:
    """The process that asks agents and runs tasks."""
    return _module("agents", "workers", "agents")


def timer() -> Program:
    """The process that finds what was left behind, and what is due."""
    return _module("timer", "workers", "timer")


def worker_programs(count: int) -> list[Program]:
    """All worker processes, with `count` for events."""
    return [*events(count), outbox(), agents(), timer()]
