"""Becomes a program that knows little and dies with us: `run_contained.py PARENT NAMES PROGRAM …`.

PARENT is the process that has to live; NAMES, with commas, are the variables that the program may
see. Started with `python -I` and needs nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_CANNOT_START = 126


def main() -> int:
    """Never returns, but where the program cannot be started."""
    parent, names, program = int(sys.argv[1]), set(sys.argv[2].split(",")), sys.argv[3:]
    _die_with(parent)
    with contextlib.suppress(PermissionError):  # it leads a session already
        os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    environment = {name: value for name, value in os.environ.items() if name in names}
    try:
        os.execve(program[0], program, environment)  # noqa: S606 - no shell is meant
    except OSError as error:
        print(f"{program[0]}: {error.strerror}", file=sys.stderr)
        return _CANNOT_START


def _die_with(parent: int) -> None:
    """The kernel kills us when the thread that started us ends. Outside Linux nobody does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before we could ask
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
