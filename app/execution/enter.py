"""Started inside the sandbox: `enter.py PLAN PROGRAM …`. Confines a child that becomes PROGRAM.

It stays as the child's keeper: passes calls on to the forwarder, ends a run that takes too much of
the machine, and leaves no process behind. PLAN is a file in
Python's own form, see `sandbox.py`. It runs with `python -I -S` and imports little, as every run
waits for it.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import sys
import time

TYPE_CHECKING = False  # typing itself takes its time to import
if TYPE_CHECKING:
    import signal
    from socket import socket
    from types import ModuleType, TracebackType
    from typing import Any

    from app.execution import landlock, seccomp

    Plan = dict[str, Any]
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import _signal as signal  # what `signal` is made of, without what it imports

    import landlock
    import seccomp

_CANNOT_START = 126
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_PR_CAPBSET_DROP, _LAST_CAPABILITY = 24, 63
_CAPABILITIES_3 = 0x20080522
_TICK = 0.1
"""Seconds between two looks at what the run takes."""
_ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


class _Passing:
    """`contextlib.suppress`, which takes longer to import than all else here."""

    def __init__(self, *errors: type[BaseException]) -> None:
        self._errors = errors

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> bool:
        return kind is not None and issubclass(kind, self._errors)


def main() -> int:
    """How the program ended: its code, 128 + its signal, or 126 if it could not start."""
    with open(sys.argv[1], "rb") as file:
        plan: Plan = marshal.load(file)  # noqa: S302 - the service wrote it, nobody else can
    program = sys.argv[2:]
    if sys.platform != "linux":
        os.chdir(plan["worktree"])
        os.execve(program[0], program, plan["environment"])  # noqa: S606 - no shell is meant
    _keep_to_ourselves(plan)
    listener = _listener(plan)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *_ENDING})
    child = os.fork()
    if child == 0:
        _become(plan, program, listener)
    _let_go_of_pipes()
    try:
        if listener is not None:
            _bridge().relay(listener, plan["bridge"])
        return _kept(child, plan)
    finally:
        _end_all()


def _bridge() -> ModuleType:
    """Imported late: not every run has one."""
    if TYPE_CHECKING:
        from app.execution import bridge
    else:
        import bridge
    return bridge


def _listener(plan: Plan) -> socket | None:
    found: socket | None = _bridge().listen(plan["port"]) if plan["bridge"] else None
    return found


def _keep_to_ourselves(plan: Plan) -> None:
    """Nobody looks into us; who starts us ends us; who loses its parent becomes our child."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getpid() == 1:  # bubblewrap sees that we die in time
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    else:  # Landlock hides us; the service has to find us by our mark
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != plan["parent"]:  # it died before we could ask
            os._exit(1)
        with _Passing(PermissionError):
            os.setsid()


def _let_go_of_pipes() -> None:
    """Standard error stays: a reason may have to be told."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def _become(plan: Plan, program: list[str], listener: socket | None) -> None:
    """In the child: give up everything, then be the program. Never returns."""
    try:
        if listener is not None:
            listener.close()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        os.setsid()
        os.chdir(plan["worktree"])
        os.umask(0o022)
        for name, most in plan["rlimits"].items():
            _limit(getattr(resource, name), most)
        _confine(plan)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, others should not
            signal.signal(number, signal.SIG_DFL)
        os.execve(program[0], program, plan["environment"])  # noqa: S606 - no shell is meant
    except BaseException as error:
        print(f"{program[0]}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
    finally:
        os._exit(_CANNOT_START)


def _limit(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _confine(plan: Plan) -> None:
    if not plan["confined"]:
        landlock.no_new_privileges()
        return
    seccomp.leave_keyrings()
    _drop_capabilities()
    if plan["landlock"] is not None:
        landlock.restrict(plan["landlock"], plan["ports"])
    landlock.no_new_privileges()
    seccomp.refuse()


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None)
    for capability in range(_LAST_CAPABILITY + 1):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())


def _kept(child: int, plan: Plan) -> int:
    """Wait for the child's end, and see that the run takes no more than it may."""
    disk = _Disk(plan)
    while True:
        got = signal.sigtimedwait({signal.SIGCHLD, *_ENDING}, _TICK)
        if got is not None and got.si_signo in _ENDING:
            return 128 + got.si_signo
        code = _reaped(child)
        if code is not None:
            return code
        reason = disk.problem() or _crowd(plan["processes"])
        if reason:
            print(f"ended: {reason}", file=sys.stderr)
            return 128 + signal.SIGKILL


def _reaped(child: int) -> int | None:
    """Bury who has died; the child's code if it is among them."""
    code = None
    with _Passing(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                ended = os.waitstatus_to_exitcode(status)
                code = ended if ended >= 0 else 128 - ended
    return code


def _crowd(most: int) -> str:
    if os.getpid() == 1:
        found = sum(name.isdigit() for name in os.listdir("/proc"))
    else:
        found = len(_below())
    return f"more than {most} processes" if found > most else ""


class _Disk:
    """What the run has written, measured only when the disks have lost as much as it may write."""

    def __init__(self, plan: Plan) -> None:
        self._places: list[str] = plan["measured"]
        self._most: int = plan["disk"]
        self._since = time.time()
        self._free = self._left()
        self._hidden = False

    def problem(self) -> str:
        """Why it has to end, if so."""
        left = self._left()
        if all(before - now <= self._most for before, now in zip(self._free, left, strict=True)):
            return ""
        if self._written() + _unlinked() > self._most:
            return f"it has written more than {self._most >> 20} MB"
        if self._hidden:
            return "the disk fills, and part of what it has written cannot be looked at"
        self._free = left  # somebody else has: look again when as much is gone once more
        return ""

    def _note(self, error: OSError) -> None:
        self._hidden = self._hidden or not isinstance(error, FileNotFoundError)

    def _left(self) -> list[int]:
        return [_free(place) for place in self._places]

    def _written(self) -> int:
        """Bytes of the files that were changed since the start; nobody can set that time back."""
        total, self._hidden = 0, False
        for place in self._places:
            for folder, _, names in os.walk(place, onerror=self._note):
                for name in names:
                    with _Passing(OSError):
                        found = os.lstat(os.path.join(folder, name))
                        total += found.st_blocks * 512 if found.st_ctime >= self._since else 0
        return total


def _unlinked() -> int:
    """Bytes of files that have no name any more, but are still open."""
    found: dict[tuple[int, int], int] = {}
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    for pid in pids if os.getpid() == 1 else _below():
        with _Passing(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with _Passing(OSError):
                    one = os.stat(f"/proc/{pid}/fd/{name}")
                    if one.st_nlink == 0:
                        found[one.st_dev, one.st_ino] = one.st_blocks * 512
    return sum(found.values())


def _free(place: str) -> int:
    try:
        found = os.statvfs(place)
    except OSError:  # it is gone
        return 0
    return found.f_bavail * found.f_frsize


def _below() -> list[int]:
    """Everything that descends from us. Who has lost its parent is our child."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with _Passing(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found, ahead = [], [os.getpid()]
    while ahead:
        more = children.get(ahead.pop(), [])
        found += more
        ahead += more
    return found


def _end_all() -> None:
    """Kill until nobody is left."""
    if os.getpid() == 1:
        return  # the kernel kills the whole namespace with us
    with _Passing(ChildProcessError):
        while True:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue  # there may be more to bury
            for pid in _below():
                with _Passing(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, 0.01)


if __name__ == "__main__":
    ended = main()
    sys.stderr.flush()
    os._exit(ended)  # nothing else is left to be tidied up
