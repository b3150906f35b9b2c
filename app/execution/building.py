"""How the walls are put up around one run: its plan for `enter.py`, and the command.

Within bubblewrap there is only what is mounted. Landlock says the same once more, from inside.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agents.contained import Enclosure
from app.execution.landlock import DEVICE, READ, READ_DIR, READ_FILE, WRITE
from app.execution.reach import Prepared, Reach, around, git_parts
from app.execution.walls import HERE, Walls, bwrap, bwrap_options

_INNER = Path("/run/kr-sandbox")
_SYSTEM = tuple(Path(at) for at in "/usr /bin /sbin /lib /lib32 /lib64 /libx32".split())
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ETC = (
    "alternatives ca-certificates.conf ld.so.cache ld.so.conf ld.so.conf.d localtime mime.types"
    " pki/ca-trust pki/tls/certs protocols services ssl/certs ssl/openssl.cnf"
).split()
_ETC_AS_IT_IS = "group hosts nsswitch.conf passwd".split()
"""With Landlock alone nothing can be made up; none of these is secret."""
_MADE_UP = {
    "passwd": "agent:x:{uid}:{gid}:agent:{home}:/bin/sh\n",
    "group": "agent:x:{gid}:\n",
    "hosts": "127.0.0.1 localhost sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "resolv.conf": "",
}
_PROC = (
    "cpuinfo filesystems loadavg meminfo stat sys/kernel/cap_last_cap sys/kernel/ngroups_max"
    " sys/kernel/osrelease sys/kernel/random sys/vm/overcommit_memory uptime version"
).split()
"""What tells of the machine, nothing of a process."""
_DEVICES = "full null ptmx pts random tty urandom zero".split()
_GIT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.directory",  # within a namespace files seem to be somebody else's
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_CONFIG_KEY_1": "core.checkStat",
    "GIT_CONFIG_VALUE_1": "minimal",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may take of the machine; what takes more is ended, or gets an error."""

    processes: int = 512
    disk_mb: int = 4096
    """All that it writes into its scope and its home together."""
    file_mb: int = 1024
    tmp_mb: int = 1024
    """Only with bubblewrap; else the temporary directory counts for `disk_mb`."""


USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Building:
    """One run's walls."""

    reach: Reach
    walls: Walls
    limits: Limits
    place: Enclosure
    ready: Prepared

    @property
    def home(self) -> Path:
        """As the program sees it."""
        return _INNER / "home" if self.walls.bwrap else self.place.root / "home"

    @property
    def tmp(self) -> Path:
        """Not /tmp if something lies there that it may only read: Landlock goes by folders."""
        if not self.walls.bwrap:
            return self.place.root / "tmp"
        shown = (self.reach.worktree, *git_parts(self.reach.worktree), *self.programs())
        return _INNER / "tmp" if any(one.is_relative_to("/tmp") for one in shown) else Path("/tmp")  # noqa: S108 - the run's own

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        bins = [str(one) for one in self.programs() if one.name == "bin" and one.is_dir()]
        own = {
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "PATH": ":".join([*bins, _PATH, f"{sys.base_prefix}/bin"]),
        }
        if os.getuid() == 0:  # some programs refuse to work for root, but in a sandbox
            own["IS_SANDBOX"] = "1"
        return {**self.place.environment, **own, **_GIT, **given}

    def programs(self) -> list[Path]:
        """What is shown besides the system's folders, the interpreter of `enter.py` included."""
        wanted = (*self.reach.programs, Path(sys.base_prefix))
        both = dict.fromkeys(one for path in wanted for one in (path.absolute(), path.resolve()))
        return [one for one in both if not any(one.is_relative_to(at) for at in _SYSTEM)]

    def plan(self, environment: Mapping[str, str]) -> dict[str, Any]:
        """What `enter.py` is told."""
        port = self.reach.forwarder[1] if self.reach.forwarder else 0
        measured = [self.home, *self.ready.writable, *([] if self.walls.bwrap else [self.tmp])]
        return {
            "environment": dict(environment),
            "worktree": str(self.reach.worktree),
            "parent": os.getpid(),
            "confined": self.walls is not Walls.NONE,
            "landlock": self.rules() if self.walls.landlock else None,
            # A private network needs no list of ports, and a run may serve itself there.
            "ports": None if self.walls.bwrap else [port] if port else [],
            "port": port,
            "bridge": str(_INNER / "bridge") if self.walls.bwrap and port else "",
            "measured": [str(one) for one in measured],
            "disk": self.limits.disk_mb << 20,
            "processes": self.limits.processes,
            "rlimits": self.rlimits(),
        }

    def rlimits(self) -> dict[str, int]:
        found = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": self.limits.file_mb << 20}
        if self.walls.bwrap:  # else it would count what the service itself has started
            found["RLIMIT_NPROC"] = self.limits.processes * 4  # threads count
        return found

    def rules(self) -> list[tuple[str, int]]:
        """What Landlock allows."""
        etc = _ETC + ([] if self.walls.bwrap else _ETC_AS_IT_IS)
        made_up = list(_MADE_UP) if self.walls.bwrap else []
        read = [*_SYSTEM, *(Path("/etc", name) for name in (*etc, *made_up))]
        read += [*self.programs(), *git_parts(self.reach.worktree), self.reach.worktree]
        found = [(path, READ) for path in read]
        found += [(Path("/proc", name), READ_FILE | READ_DIR) for name in _PROC]
        found += [(Path("/dev", name), DEVICE) for name in _DEVICES]
        if self.walls.bwrap:
            found += [(Path("/dev/shm"), WRITE), (_INNER / "bridge", DEVICE)]  # noqa: S108 - the run's own
        found += [(path, WRITE) for path in (self.home, self.tmp, *self.open_paths())]
        return [(str(path), access) for path, access in found]

    def open_paths(self) -> list[Path]:
        """The scope; without mounts nothing in it can be taken away again, so it goes around."""
        if self.walls.bwrap:
            return list(self.ready.writable)
        return [one for path in self.ready.writable for one in around(path, self.ready.guarded)]

    def command(self, plan: Path) -> list[str]:
        python = os.path.realpath(sys.executable)
        if not self.walls.bwrap:
            return [python, "-I", "-S", str(HERE / "enter.py"), str(plan)]
        enter = [python, "-I", "-S", str(_INNER / "code/enter.py"), str(_INNER / "plan")]
        return [bwrap(), *bwrap_options(), *self.mounts(plan), "--", *enter]

    def mounts(self, plan: Path) -> list[str]:
        """What there is to be seen; later ones lie on top of earlier ones."""
        root = self.place.root
        tmp, shm = str(self.limits.tmp_mb << 20), str(64 << 20)
        found = ["--proc", "/proc", "--dev", "/dev", "--size", shm, "--tmpfs", "/dev/shm"]  # noqa: S108 - the run's own
        found += ["--size", tmp, "--perms", "0700", "--tmpfs", str(self.tmp)]
        for path in (*_SYSTEM, *(Path("/etc", name) for name in _ETC)):
            found += _shown(path)
        for name, text in self.made_up().items():
            (root / name).write_text(text, "utf-8")
            found += ["--ro-bind", str(root / name), f"/etc/{name}"]
        for path in self.programs():
            found += _shown(path)
        found += ["--ro-bind", str(HERE), str(_INNER / "code")]
        found += ["--ro-bind", str(plan), str(_INNER / "plan")]
        found += ["--bind", str(root / "home"), str(self.home)]
        if self.reach.forwarder is not None:
            found += ["--ro-bind", str(root / "bridge"), str(_INNER / "bridge")]
        for path in (self.reach.worktree, *git_parts(self.reach.worktree)):
            found += ["--ro-bind", str(path), str(path)]
        for path in self.ready.writable:
            found += ["--bind", str(path), str(path)]
        for path in self.between():  # what is mounted cannot be moved away
            found += ["--bind", str(path), str(path)]
        for path in self.ready.guarded:
            found += ["--ro-bind", str(path), str(path)]
        return [*found, "--remount-ro", "/dev", "--remount-ro", "/"]

    def between(self) -> list[Path]:
        """Folders of the scope that hold something guarded."""
        above = dict.fromkeys(folder for one in self.ready.guarded for folder in one.parents)
        inside = [
            one
            for one in above
            if any(at != one and one.is_relative_to(at) for at in self.ready.writable)
        ]
        return sorted(inside)

    def made_up(self) -> dict[str, str]:
        uid, gid = (os.getuid() or 1000), (os.getgid() if os.getuid() else 1000)
        return {
            name: text.format(uid=uid, gid=gid, home=self.home) for name, text in _MADE_UP.items()
        }


def _shown(path: Path) -> list[str]:
    """A path as it is outside, for reading; a link stays a link."""
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []
