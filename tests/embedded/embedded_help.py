"""What the tests look at processes and files with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up being root")


def wait_for(done: Callable[[], bool], seconds: float = 10.0) -> None:
    """Fail unless `done()` becomes true in time."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def mode(path: Path) -> int:
    """The permission bits of a path."""
    return path.stat().st_mode & 0o777


def argv_of(pid: int) -> str:
    """A process's command line, as everybody on the machine can read it."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
