"""Starting a child that dies with us, and finding those that did not."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
_PROC = Path("/proc")
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def dies_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    """What a child runs before exec: ask the kernel for `death_signal` when its parent dies.

    Linux counts the *thread* that started the child as its parent: start children from a thread
    that lives as long as they do.
    """
    parent = os.getpid()

    def prepare() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died before we could ask
            os._exit(1)

    return prepare


def spawn(
    argv: Sequence[str],
    *,
    death_signal: signal.Signals,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: int = subprocess.DEVNULL,
    output: int = subprocess.DEVNULL,
    user: tuple[int, int] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own that ends when we end. Raises `OSError`."""
    return subprocess.Popen(
        argv,
        env=dict(env),
        cwd=cwd,
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT if output != subprocess.DEVNULL else subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=dies_with_parent(death_signal),  # noqa: PLW1509 - runs after setuid, as it must
        user=user[0] if user else None,
        group=user[1] if user else None,
        extra_groups=[] if user else None,
    )


def bare_environment() -> dict[str, str]:
    """An environment without a secret of ours, for a server that needs none of them."""
    kept = ("PATH", "TMPDIR", "TZ", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ}


def alive(pid: int) -> bool:
    """Whether a process with this id exists and is not a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError, IndexError):
        state = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
        return state not in {"Z", "X"}
    return True


def processes() -> list[int]:
    """Ids of all processes that this system shows us; empty where there is no /proc."""
    if not _PROC.is_dir():
        return []
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def working_in(folder: Path, program: str) -> list[int]:
    """Processes of this program whose working directory is `folder`: servers started there.

    A process id in a file may belong to anybody by now; a working directory does not lie.
    """
    try:
        wanted = folder.stat()
    except OSError:
        return []
    return [pid for pid in processes() if _works_in(pid, wanted, program)]


def _works_in(pid: int, wanted: os.stat_result, program: str) -> bool:
    try:
        found = (_PROC / str(pid) / "cwd").stat()
        if (_PROC / str(pid) / "comm").read_text().strip() != program:
            return False
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino)


def end_all(find: Callable[[], list[int]], steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """Send each signal to what `find` still finds, waiting so many seconds after each."""
    for number, seconds in steps:
        for pid in find():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        if wait_until(lambda: not any(alive(pid) for pid in find()), seconds):
            return


def end_child(
    child: subprocess.Popen[bytes], steps: Sequence[tuple[signal.Signals, float]]
) -> None:
    """End our own child, politely first."""
    for number, seconds in steps:
        if child.poll() is not None:
            return
        child.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)


def wait_until(done: Callable[[], bool], seconds: float, pause: float = 0.02) -> bool:
    """Wait until `done()`; false if that took longer than so many seconds."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
