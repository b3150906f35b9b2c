"""Child processes that answer: what they may see, and that nothing remains of them.

A child has a session, a home and an empty working directory of its own. It sees a few harmless
variables and what it is explicitly given: no key and no setting of ours. Everything that bears
its mark is killed when the call ends, however it ends; a child dies with the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from pydantic import ValidationError

from app.agents.protocols import Account, AgentUnavailable
from app.questions.model import Cost
from app.supervisor.mark import VARIABLE, marked, send, send_group

LONGEST_REASON = 300
"""Characters of a reason for people."""
_HARMLESS = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "TERM"})
_LAUNCHER = Path(__file__).with_name("run_contained.py")
_STDERR_KEPT = 8_000
_LINGERS = 1.0
"""Seconds for which the pipes of a program that has ended may stay open."""
_DIES = 5.0


class Lease(Protocol):
    """Leave to call a model for a while, without its key."""

    @property
    def base_url(self) -> str: ...

    @property
    def key(self) -> str:
        """A ticket: worth nothing anywhere else, and nothing later."""
        ...

    @property
    def cost(self) -> Cost: ...

    @property
    def refusal(self) -> AgentUnavailable | None:
        """Why a call was not let through, if one was not."""
        ...

    @property
    def model(self) -> str:
        """The model that answered last; empty before that."""
        ...


class Leases(Protocol):
    """Gives leases: the forwarder."""

    def lease(
        self, provider: str, account: Account, seconds: float
    ) -> AbstractContextManager[Lease]:
        """For one conversation. Raises `AgentUnavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Where one child lives: a private directory, and a mark on all that it starts."""

    root: Path
    mark: str
    environment: Mapping[str, str]
    """Everything that the child may see."""

    @property
    def work(self) -> Path:
        """The empty directory it starts in."""
        return self.root / "work"

    def argv(self, program: Sequence[str]) -> list[str]:
        """How to start a program in here; its path has to be absolute."""
        names = ",".join(sorted(self.environment))
        return [sys.executable, "-I", str(_LAUNCHER), str(os.getpid()), names, *program]

    def script(self, program: str) -> Path:
        """The same as an executable file, for those who start a program themselves."""
        path = self.root / "start"
        path.write_text(f'#!/bin/sh\nexec {shlex.join(self.argv([program]))} "$@"\n', "utf-8")
        path.chmod(0o700)
        return path

    def kill(self) -> bool:
        """Kill all that bear the mark, and their groups. Whether there were any."""
        found = marked(self.mark)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                group = os.getpgid(pid)
                if group != os.getpgrp():  # ours, as long as the launcher has not run
                    send_group(group, signal.SIGKILL)
        send(found, signal.SIGKILL)
        return bool(found)

    def clear(self) -> None:
        """Kill until nobody is left, then remove the directory."""
        give_up = time.monotonic() + _DIES
        while self.kill() and time.monotonic() < give_up:
            time.sleep(0.01)
        _remove(self.root)


@contextlib.asynccontextmanager
async def enclosure(given: Mapping[str, str]) -> AsyncIterator[Enclosure]:
    """A place for one child that sees `given` besides the harmless; nothing remains of it.

    Raises `AgentUnavailable`.
    """
    try:
        made = _made(given)
    except OSError as error:
        told = f"no private directory for an agent: {error}; make room there, or set TMPDIR"
        raise AgentUnavailable(one_line(told)) from error
    try:
        yield made
    finally:
        await _surely(made.clear)


_PREFIX = "kr-agent-"


def sweep() -> None:
    """Remove what workers left that were killed: folders whose worker is no more."""
    if not Path("/proc/self").exists():
        return  # nobody can tell here who is alive
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}[0-9]*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == os.getuid() and not Path("/proc", pid).exists():
                shutil.rmtree(folder, ignore_errors=True)


def _made(given: Mapping[str, str]) -> Enclosure:
    root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    for name in ("home", "tmp", "work"):
        (root / name).mkdir(mode=0o700)
    # The supervisor's own mark comes first, so that its guard finds what a killed worker left.
    mark = f"{os.environ.get(VARIABLE, '')}agent-{secrets.token_hex(8)}/"
    own = {"HOME": str(root / "home"), "TMPDIR": str(root / "tmp"), VARIABLE: mark}
    return Enclosure(root, mark, {**_harmless(), **own, **given})


def _harmless() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _HARMLESS or name.startswith("LC_")
    }


def _remove(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    if not root.exists():
        return
    for folder, _, _ in os.walk(root):  # from the top: what a child locked is opened on the way
        with contextlib.suppress(OSError):
            Path(folder).chmod(0o700)
    shutil.rmtree(root, ignore_errors=True)


async def _surely(work: Callable[[], None]) -> None:
    """To the end of it, even if we are cancelled meanwhile."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `code` is negative for a signal, None if we ended it ourselves."""

    code: int | None
    output: bytes
    too_much: bool
    """It wrote more than it may; `output` is the beginning."""
    last_line: str
    """The last line of its standard error."""


async def run(inside: Enclosure, program: Sequence[str], given: bytes, most: int) -> Finished:
    """Run a program to its end: `given` on standard input, at most `most` bytes of output.

    It and all that it started are gone when this returns, or is cancelled. Raises `OSError`.
    """
    loop = asyncio.get_running_loop()
    transport, watching = await loop.subprocess_exec(
        lambda: _Watching(inside, most),
        *inside.argv(program),
        env=dict(inside.environment),
        cwd=inside.work,
    )
    pid = transport.get_pid()
    try:
        stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
        stdin.write(given)
        stdin.write_eof()
        await watching.done
        return watching.finished(transport.get_returncode())
    finally:
        inside.kill()
        send_group(pid, signal.SIGKILL)  # whoever has lost the mark and kept the group
        transport.close()


class _Watching(asyncio.SubprocessProtocol):
    """Keeps what a program writes, up to a bound, until it has ended or written too much."""

    def __init__(self, inside: Enclosure, most: int) -> None:
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        self._inside = inside
        self._most = most
        self._output = bytearray()
        self._errors = bytearray()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors += data
            del self._errors[:-_STDERR_KEPT]
            return
        self._output += data[: self._most + 1 - len(self._output)]
        if len(self._output) > self._most:
            self._finish()

    def process_exited(self) -> None:
        self._inside.kill()  # what it left behind would keep the pipes open
        self._loop.call_later(_LINGERS, self._finish)

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def finished(self, code: int | None) -> Finished:
        output, too_much = bytes(self._output[: self._most]), len(self._output) > self._most
        return Finished(code, output, too_much, last_line(self._errors.decode(errors="replace")))


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def one_line(text: str, *hidden: str) -> str:
    """A reason for people and for the log: one line, not long, without what has to be hidden."""
    for secret in filter(None, hidden):
        text = text.replace(secret, "…")
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def misfit(error: ValidationError) -> str:
    """What does not fit, for whoever is asked again: names and reasons, without the values."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    told = [f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in found[:8]]
    return "; ".join(told)
