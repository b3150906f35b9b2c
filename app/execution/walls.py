"""Which walls of the kernel are here, which the operator wants, and what is open without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from enum import Enum
from functools import cache
from pathlib import Path

from app.execution import landlock

HERE = Path(__file__).parent
_PATIENCE = 10.0
"""Seconds that a wall has to show that it works."""
_NEEDED = ("--as-pid-1", "--clearenv", "--size", "--cap-drop")
_TRY_LANDLOCK = (
    "import os, sys; sys.path.append(sys.argv[1]); import landlock\n"
    "landlock.restrict([('/usr', landlock.READ)], None)\n"
    "try:\n    os.listdir(sys.argv[1])\n"
    "except PermissionError:\n    print('stopped')\n"
)


class Walls(Enum):
    """What stands between a run and the rest of the machine."""

    BOTH = "landlock inside bubblewrap"
    LANDLOCK = "landlock"
    BWRAP = "bubblewrap"
    NONE = "none"

    @property
    def landlock(self) -> bool:
        """Whether Landlock is one of them."""
        return self in (Walls.BOTH, Walls.LANDLOCK)

    @property
    def bwrap(self) -> bool:
        """Whether bubblewrap is one of them."""
        return self in (Walls.BOTH, Walls.BWRAP)


class SandboxMissing(Exception):
    """The walls that are wanted are not here; the text tells the operator what to do."""


@cache
def walls_here() -> frozenset[str]:
    """Which of `landlock` and `bwrap` really work here: each is tried once."""
    tried = {"landlock": _landlock_works, "bwrap": _bwrap_works}
    return frozenset(name for name, works in tried.items() if works())


def decide(wanted: str, here: Iterable[str]) -> Walls:
    """The walls for a value of `KR_SANDBOX`. Raises `SandboxMissing`."""
    found = frozenset(here)
    needed = {
        "strict": (Walls.BOTH, ("landlock", "bwrap")),
        "landlock": (Walls.LANDLOCK, ("landlock",)),
        "bwrap": (Walls.BWRAP, ("bwrap",)),
        "none": (Walls.NONE, ()),
    }
    walls, parts = needed[wanted]
    missing = [part for part in parts if part not in found]
    if missing:
        raise SandboxMissing(_advice(wanted, missing, found))
    return walls


def _advice(wanted: str, missing: list[str], here: frozenset[str]) -> str:
    how = {
        "landlock": "Landlock does not work here: it takes Linux 5.13 or newer with"
        " landlock among the lsm= of the kernel",
        "bwrap": "bubblewrap does not work here: install the package bubblewrap (0.6 or newer),"
        " and allow user namespaces",
    }
    told = "; ".join(how[part] for part in missing)
    other = next(iter(here & {"landlock", "bwrap"}), "none")
    return (
        f"no task is carried out with KR_SANDBOX={wanted}: {told}. "
        f"Or set KR_SANDBOX={other}; `kr doctor` says what is open then"
    )


def open_without(walls: Walls) -> tuple[str, ...]:
    """What a run can still do that both walls together would stop; sentences for `kr doctor`."""
    match walls:
        case Walls.BOTH:
            return ()
        case Walls.LANDLOCK:
            return _open_with_landlock(landlock.abi())
        case Walls.BWRAP:
            return (
                "a mistake in the mounts of bubblewrap is not caught by a second wall",
                "a run can read its own environment, the ticket for the forwarder in it, and what"
                " /proc tells of the machine: mounts, disks, kernel",
            )
        case Walls.NONE:
            return (
                "a run can read and write everything that the service can, its keys included",
                "a run can reach every address of the network",
                "a run can signal and trace the processes of the service",
                "only the judgement on the diff and the check run keep it to its scope",
            )


def _open_with_landlock(version: int) -> tuple[str, ...]:
    found = [
        "a run can change modes, owners, times and attributes (chmod, chown, utimes, setxattr)"
        " of files outside its scope, if the service's user owns them",
        "a run can send and receive UDP",
        "a run can reach Unix sockets that have a path, those of the embedded servers included",
        "a run sees which processes there are, and may outlive a worker that is killed",
    ]
    missing = {
        3: "a run can empty files outside its scope (truncate)",
        4: "a run can reach every TCP port",
        6: "a run can signal the processes of the service and reach abstract Unix sockets",
    }
    return (*found, *(told for needed, told in missing.items() if version < needed))


def bwrap() -> str:
    """The program. Raises `SandboxMissing`."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxMissing("there is no bwrap on the path; install the package bubblewrap")
    return found


@cache
def bwrap_options() -> tuple[str, ...]:
    """Namespaces and privileges: what every run is started with."""
    user = ("--uid", "1000", "--gid", "1000") if os.getuid() == 0 else ()
    newer = ("--disable-userns",) if "--disable-userns" in _help() else ()
    return (
        *("--unshare-user", *user, *newer),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--clearenv"),
    )


@cache
def _help() -> str:
    done = subprocess.run(
        [bwrap(), "--help"], capture_output=True, text=True, timeout=_PATIENCE, check=False
    )
    return done.stdout


def _bwrap_works() -> bool:
    try:
        if not all(option in _help() for option in _NEEDED):
            return False
        tried = (*bwrap_options(), *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"))
        return _succeeds([bwrap(), *tried, "--", "/bin/true"]) is not None
    except (SandboxMissing, OSError, subprocess.TimeoutExpired):
        return False


def _landlock_works() -> bool:
    if landlock.abi() < 1:
        return False
    python = os.path.realpath(sys.executable)
    said = _succeeds([python, "-I", "-S", "-c", _TRY_LANDLOCK, str(HERE)])
    return said is not None and b"stopped" in said


def _succeeds(command: list[str]) -> bytes | None:
    """What a command says, None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
