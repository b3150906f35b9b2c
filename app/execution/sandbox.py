"""A place in which a task is carried out, with walls of the kernel around it (specs/1, FR-018).

It holds the system's programs, the worktree for reading, the scope in it for writing, a home and a
temporary directory; `enter.py` is started there and starts the program.
"""

from __future__ import annotations

import contextlib
import marshal
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.agents.contained import Enclosure, enclosure
from app.embedded.process import processes
from app.execution.bridge import bridge
from app.execution.building import USUAL, Building, Limits
from app.execution.reach import Reach, prepared, writable_of
from app.execution.walls import SandboxMissing, Walls, decide, open_without, walls_here
from app.supervisor.mark import marked, send

__all__ = [
    "Inside",
    "Limits",
    "Reach",
    "SandboxMissing",
    "Walls",
    "decide",
    "open_without",
    "sandbox",
    "walls_here",
    "writable_of",
]


@dataclass(frozen=True, slots=True)
class Inside(Enclosure):
    """A place for a run. `root` is outside; `root/"home"` is what the program has as `home`."""

    walls: Walls
    worktree: Path
    home: Path
    """As the program sees it."""
    tmp: Path
    """As the program sees it."""
    notes: tuple[str, ...]
    """Where the kernel allows more, or less, than the scope says; for people."""
    command: tuple[str, ...]

    @property
    def work(self) -> Path:
        """The directory it starts in: the worktree."""
        return self.worktree

    def argv(self, program: Sequence[str]) -> list[str]:
        """How to start a program in here; its path has to be absolute.

        It gets `environment`, whatever the environment of whoever starts it.
        """
        return [*self.command, *program]

    def kill(self) -> bool:
        """Kill all that belongs to it. Whether there was any."""
        if not self.walls.bwrap:  # in a namespace of their own they die with its first process
            self._kill_below()
        return Enclosure.kill(self)

    def _kill_below(self) -> None:
        """Who has lost the mark is still a descendant of a keeper: end them before the keeper."""
        give_up = time.monotonic() + 1.0
        while time.monotonic() < give_up:
            keepers = [pid for pid in marked(self.mark) if self._is_keeper(pid)]
            below = _descendants(keepers)
            if not below:
                return
            send(below, signal.SIGKILL)
            time.sleep(0.002)

    def _is_keeper(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            return str(self.root / "plan").encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False


@contextlib.asynccontextmanager
async def sandbox(
    reach: Reach, walls: Walls, environment: Mapping[str, str], limits: Limits = USUAL
) -> AsyncIterator[Inside]:
    """A place for one run that sees `environment` besides the harmless; nothing remains of it.

    Folders of the scope that are missing are made, and removed afterwards if nothing is in them.
    Raises `SandboxMissing`, `AgentUnavailable`, and `OSError` if the worktree is not there.
    """
    worktree = reach.worktree.resolve(strict=True)
    reach = replace(reach, worktree=worktree)
    async with contextlib.AsyncExitStack() as stack:
        ready = stack.enter_context(prepared(reach))
        place = await stack.enter_async_context(enclosure({}))
        if walls.bwrap and reach.forwarder is not None:
            await stack.enter_async_context(bridge(place.root / "bridge", reach.forwarder))
        yield _made(Building(reach, walls, limits, place, ready), environment)


def _made(building: Building, given: Mapping[str, str]) -> Inside:
    place = building.place
    environment = building.environment(given)
    plan = place.root / "plan"
    plan.write_bytes(marshal.dumps(building.plan(environment)))
    return Inside(
        root=place.root,
        mark=place.mark,
        environment=environment,
        walls=building.walls,
        worktree=building.reach.worktree,
        home=building.home,
        tmp=building.tmp,
        notes=(*building.reach.notes, *building.ready.notes),
        command=tuple(building.command(plan)),
    )


def _descendants(pids: Sequence[int]) -> list[int]:
    """Everything that lives below these processes."""
    children: dict[int, list[int]] = {}
    for pid in processes():
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(pid)
    found: list[int] = []
    ahead = list(pids)
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found
