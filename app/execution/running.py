"""A task is carried out behind both walls: in the sandbox, and what came of it is judged.

The agent works in a worktree with write access to its scope alone; afterwards whatever lies outside
is put back and told. It holds a ticket for the forwarder, and nothing else (specs/1, US5, FR-018).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from app.agents.claude import Slots, find_claude
from app.agents.command import VARIABLES
from app.agents.contained import Finished, Lease, Leases, one_line
from app.agents.contained import run as run_program
from app.agents.protocols import NOBODY, Account, AgentUnavailable, Prompt
from app.execution.diff import Change, Dropped, settled
from app.execution.sandbox import Inside, Reach, Walls, sandbox, writable_of
from app.execution.worktree import Worktree
from app.questions.model import Cost
from app.scopes import Scopes

MOST = 8_000_000
"""Bytes that a program may write to its standard output."""
_HOME = re.compile(r"^home *= *(.+)$", re.MULTILINE)
_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
}


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is to do, and in whose scope."""

    prompt: Prompt
    agent: str
    """Its handle, `@dede`: the scopes name it."""
    scopes: Scopes
    """Those of the base branch, never of the worktree."""
    model: str | None = None
    account: Account = NOBODY
    seconds: float = 1800.0
    turns: int = 80


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task: `kept` may be committed, `dropped` was put back."""

    kept: tuple[Change, ...]
    dropped: tuple[Dropped, ...]
    said: str
    """What the agent said at the end."""
    model: str
    cost: Cost
    notes: tuple[str, ...] = ()
    """Where the kernel allowed more than the scope says."""


class Runner(Protocol):
    """Carries tasks out: Claude Code, or a program."""

    async def run(self, task: Task, worktree: Worktree) -> Outcome:
        """Do it, and judge it. Raises `AgentUnavailable`, `SandboxMissing`, `GitFailed`."""
        ...


class ClaudeRunner:
    """Tasks by the real Claude Code CLI, with its own tools."""

    def __init__(self, leases: Leases, slots: Slots, walls: Walls, cli: str | None = None) -> None:
        self._leases = leases
        self._slots = slots
        self._walls = walls
        self._cli = cli

    async def run(self, task: Task, worktree: Worktree) -> Outcome:
        """See `Runner.run`."""
        cli = self._cli or find_claude()
        if cli is None:
            raise AgentUnavailable("Claude Code is not here; name another backend, or install it")
        async with self._slots.one():
            with self._leases.lease("anthropic", task.account, task.seconds) as lease:
                given = {
                    **_ENVIRONMENT,
                    "ANTHROPIC_BASE_URL": lease.base_url,
                    "ANTHROPIC_API_KEY": lease.key,
                }
                told = task.prompt.user.encode()
                place = _Place(task, worktree, [lease], self._walls, (Path(cli),), told)
                done, notes = await place.run(given, lambda inside: _claude(cli, task, inside))
            said = _result(done, lease)
            return await _judged(task, worktree, said, [lease], notes)


class CommandRunner:
    """Tasks by any program: the task on its standard input, in words, and words on its output."""

    def __init__(
        self,
        argv: Sequence[str],
        leases: Leases,
        slots: Slots,
        walls: Walls,
        providers: Sequence[str] = (),
    ) -> None:
        """`providers` are those that it gets a ticket for; without one it has no network at all."""
        self._argv = tuple(argv)
        self._leases = leases
        self._slots = slots
        self._walls = walls
        self._providers = tuple(providers)

    async def run(self, task: Task, worktree: Worktree) -> Outcome:
        """See `Runner.run`."""
        async with self._slots.one():
            with contextlib.ExitStack() as stack:
                given: dict[str, str] = {}
                leases: list[Lease] = []
                for provider in self._providers:
                    lent = self._leases.lease(provider, task.account, task.seconds)
                    leases.append(stack.enter_context(lent))
                    address, ticket = VARIABLES[provider]
                    given |= {address: leases[-1].base_url, ticket: leases[-1].key}
                programs = needed(self._argv, worktree.path)
                told = f"{task.prompt.system}\n\n{task.prompt.user}".encode()
                place = _Place(task, worktree, leases, self._walls, programs, told)
                done, notes = await place.run(given, lambda inside: list(self._argv))
            _check(done, Path(self._argv[0]).name, leases)
            said = done.output.decode("utf-8", "replace")
            return await _judged(task, worktree, said, leases, notes)


@dataclass(frozen=True, slots=True)
class _Place:
    """One run: what it may reach, and how long it may take."""

    task: Task
    worktree: Worktree
    leases: Sequence[Lease]
    walls: Walls
    programs: tuple[Path, ...]
    document: bytes
    """What it reads on standard input."""

    async def run(self, given: Mapping[str, str], program: Any) -> tuple[Finished, tuple[str, ...]]:
        paths, notes = writable_of(_patterns(self.task))
        forwarder = None
        if self.leases:  # they all lead to the same one
            address = urlsplit(self.leases[0].base_url)
            forwarder = (address.hostname or "127.0.0.1", address.port or 0)
        reach = Reach(self.worktree.path, paths, forwarder, self.programs, notes)
        try:
            async with (
                sandbox(reach, self.walls, given) as inside,
                asyncio.timeout(self.task.seconds),
            ):
                done = await run_program(inside, program(inside), self.document, MOST)
                return done, inside.notes
        except TimeoutError:
            raise _refusal(self.leases) or AgentUnavailable(
                f"the task was not done within {self.task.seconds:g} seconds"
            ) from None


def needed(argv: Sequence[str], worktree: Path) -> tuple[Path, ...]:
    """What a program's command line names and has to be able to read, the outermost first.

    A file that is a link is found only by way of its links, and an interpreter of Python only with
    the folder that it is installed in. What holds the worktree is never shown as a whole.
    """
    named = [Path(word) for word in argv if word.startswith("/")]
    found = [link for path in named if path.exists() for link in _links(path)]
    found = [*_installations(Path(argv[0])), *found]
    around = {Path("/"), *worktree.absolute().parents, *worktree.resolve().parents}
    wanted = sorted({path for path in found if path.resolve() not in around}, key=_depth)
    return tuple(
        path for at, path in enumerate(wanted) if not any(map(path.is_relative_to, wanted[:at]))
    )


def _depth(path: Path) -> tuple[int, str]:
    return len(path.parts), str(path)


def _links(path: Path) -> list[Path]:
    """The path, and where its links lead, one after another."""
    found = [Path(os.path.abspath(path))]
    while found[-1].is_symlink() and len(found) < 40:
        found.append(Path(os.path.abspath(found[-1].parent / os.readlink(found[-1]))))
    return found


def _installations(program: Path) -> list[Path]:
    """Of an interpreter of Python: its environment, and what that was made from."""
    found: list[Path] = []
    for link in _links(program) if program.is_absolute() else ():
        root = link.parent.parent
        with contextlib.suppress(OSError):
            home = _HOME.search((root / "pyvenv.cfg").read_text("utf-8", "replace"))
            found += [root, *([Path(home[1].strip()).parent] if home else [])]
        if any(root.glob("lib/python3*/os.py")):
            found.append(root)
    return found


def _patterns(task: Task) -> list[str]:
    """The lines of the scopes that name the agent."""
    name = task.agent.casefold()
    rules = task.scopes.rules if not task.scopes.flaws else ()
    return [rule.pattern for rule in rules if name in {one.casefold() for one in rule.owners}]


def _claude(cli: str, task: Task, inside: Inside) -> list[str]:
    system = inside.root / "home" / "system.md"
    system.write_text(task.prompt.system, "utf-8")
    model = ["--model", task.model] if task.model else []
    return [
        *(cli, "-p", "--output-format", "json", "--permission-mode", "bypassPermissions"),
        *("--append-system-prompt-file", str(inside.home / "system.md")),
        *("--max-turns", str(task.turns), "--setting-sources", "", "--strict-mcp-config"),
        *("--no-session-persistence", "--disable-slash-commands"),
        *model,
    ]


def _result(done: Finished, lease: Lease) -> str:
    """What Claude Code said. Raises `AgentUnavailable`."""
    try:
        found = json.loads(done.output)
    except ValueError:
        found = {}
    text = str(found.get("result", "")) if isinstance(found, dict) else ""
    if lease.refusal is not None:
        raise lease.refusal
    if done.code != 0 or not isinstance(found, dict) or found.get("is_error"):
        why = text or done.last_line or f"it ended with {done.code}"
        raise AgentUnavailable(one_line(f"Claude Code failed: {why}", lease.key, lease.base_url))
    return text


def _check(done: Finished, name: str, leases: Sequence[Lease]) -> None:
    if refusal := _refusal(leases):
        raise refusal
    if done.code != 0 or done.too_much:
        why = f": {done.last_line}" if done.last_line else ""
        keys = [lease.key for lease in leases]
        raise AgentUnavailable(one_line(f"{name} ended with {done.code}{why}", *keys))


def _refusal(leases: Sequence[Lease]) -> AgentUnavailable | None:
    """Why the forwarder let a call not through, if there was one."""
    return next((lease.refusal for lease in leases if lease.refusal is not None), None)


async def _judged(
    task: Task, worktree: Worktree, said: str, leases: Sequence[Lease], notes: tuple[str, ...]
) -> Outcome:
    """The second wall, after everybody has left the sandbox."""
    judged = await settled(worktree, task.scopes, task.agent)
    model = next((lease.model for lease in leases if lease.model), "")
    cost = sum((lease.cost for lease in leases), Cost())
    return Outcome(judged.kept, judged.dropped, said, model, cost, notes)
