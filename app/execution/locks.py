"""Locks between processes, and who lives."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
_BUSY = b"busy"


@contextlib.asynccontextmanager
async def exclusive(path: Path) -> AsyncIterator[bool]:
    """Held alone, also among processes; the kernel frees it when its holder dies.

    Gives whether the last holder stopped in the middle, so that something half may be there.
    """
    descriptor = await _taken(path, fcntl.LOCK_EX)
    try:
        interrupted = bool(os.pread(descriptor, 1, 0))
        os.pwrite(descriptor, _BUSY, 0)
        yield interrupted
        os.truncate(descriptor, 0)  # not after an error: the next one has to look
    finally:
        os.close(descriptor)


@contextlib.asynccontextmanager
async def shared(path: Path) -> AsyncIterator[None]:
    """Held by any number at a time; keeps `alone` away."""
    descriptor = await _taken(path, fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Held alone if that is possible at once; gives whether it is."""
    descriptor = _opened(path)
    try:
        yield _try(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


async def _taken(path: Path, kind: int) -> int:
    descriptor, pause = _opened(path), _FIRST_PAUSE
    try:
        while not _try(descriptor, kind):
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _opened(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def us() -> str:
    """This process, as no other ever was or will be: boot, process id, start time."""
    return f"{_boot()} {os.getpid()} {_started(os.getpid())}"


def lives(who: str) -> bool:
    """Whether the process that `us` named is still there."""
    boot, _, rest = who.partition(" ")
    pid, _, started = rest.partition(" ")
    return boot == _boot() and pid.isdigit() and bool(started) and _started(int(pid)) == started


def _started(pid: int) -> str:
    """Clock ticks since the boot; empty if there is no such process, or only its remains."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


@cache
def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return "-"
