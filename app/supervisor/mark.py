"""Finding every descendant of a child, whatever process group or parent it has by now.

Children carry a mark in their environment, which everything that they start inherits.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from app.embedded.process import bare_environment, processes

VARIABLE = "KR_SUPERVISED"


def marked(mark: str) -> list[int]:
    """Processes whose mark starts so, but for ourselves; empty where there is no /proc."""
    wanted = f"\0{VARIABLE}={mark}".encode()
    return [pid for pid in processes() if pid != os.getpid() and wanted in _environment(pid)]


def _environment(pid: int) -> bytes:
    try:
        return b"\0" + Path("/proc", str(pid), "environ").read_bytes()
    except OSError:
        return b""


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal processes of which some may be gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def send_group(leader: int, number: signal.Signals) -> None:
    """Signal a child's process group, if it has members left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def start_guard(mark: str, seconds: float) -> subprocess.Popen[bytes]:
    """Start the guard of this process; it ends when its `stdin` is closed and all is quiet."""
    return subprocess.Popen(
        [sys.executable, "-m", "app.supervisor.guard", mark, str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=bare_environment() | {"PYTHONPATH": ":".join(filter(None, sys.path))},
        start_new_session=True,
    )
