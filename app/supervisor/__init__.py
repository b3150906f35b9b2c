"""Starts the processes of the service, keeps them running, and ends them all."""

from __future__ import annotations

from app.supervisor.programs import Program, agents, events, outbox, timer, web, worker_programs
from app.supervisor.supervisor import Supervisor

__all__ = [
    "Program",
    "Supervisor",
    "agents",
    "events",
    "outbox",
    "timer",
    "web",
    "worker_programs",
]
