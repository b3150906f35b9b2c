"""Who does tasks here: the execution roles of the server's roster, each with its backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from app.agents.choosing import choose, executors
from app.agents.models import Models
from app.config.loader import Config
from app.config.models import Role
from app.execution.running import ClaudeRunner, CommandRunner, Runner
from app.execution.sandbox import Walls, decide, walls_here
from app.execution.workshop import Worker
from app.questions.durations import duration
from app.settings import Settings


def crew(
    config: Config,
    settings: Settings,
    models: Models,
    passages: Callable[[str, str], Sequence[str]] = lambda role, text: (),
) -> Mapping[str, Worker]:
    """Role → who does its tasks. Raises `SandboxMissing` if the walls that are wanted are not."""
    able = executors(config, settings)
    if not able:
        return {}
    walls = walls_of(settings)
    return {
        name: replace(
            _worker(name, config.agents.roles[name], settings, models, walls),
            knowledge=partial(passages, name),
        )
        for name in sorted(able)
    }


@cache
def _walls(wanted: str) -> Walls:
    return decide(wanted, walls_here())


def walls_of(settings: Settings) -> Walls:
    """The walls for `KR_SANDBOX`. Raises `SandboxMissing`."""
    return _walls(settings.sandbox)


def _worker(name: str, role: Role, settings: Settings, models: Models, walls: Walls) -> Worker:
    runner: Runner
    if choose(name, role, settings).kind == "claude":
        runner = ClaudeRunner(models.forwarder, models.slots, walls)
    else:
        runner = CommandRunner(role.command, models.forwarder, models.slots, walls, models.usable)
    return Worker(
        runner,
        role.description or f"the {name} of the team",
        duration(role.timeout).total_seconds(),
    )
