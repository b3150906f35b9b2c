"""The supervisor: one thread that waits, restarts and, at the end, leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.embedded import EmbeddedError, Servers
from app.embedded.files import private_folder
from app.embedded.process import wait_until
from app.supervisor.child import Child, now
from app.supervisor.mark import marked, send, start_guard
from app.supervisor.output import Forwarder, say
from app.supervisor.programs import Program

STOP_SECONDS = 10.0
_GUARD_SECONDS = 5.0
_TICK = 0.1
_TIDY_SECONDS = 10.0
_STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

ExitHook = Callable[[str, int], None]


class Supervisor:
    """Children by name, and the embedded servers, kept running until told to stop.

    Use it from the main thread: children end with the thread that started them.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        env: Mapping[str, str] | None = None,
        servers: Servers | None = None,
        logs: Path | None = None,
        on_exit: ExitHook | None = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._mark = secrets.token_hex(8)
        self._servers = servers
        self._on_exit = on_exit
        self._stop_seconds = stop_seconds
        self._forwarder = Forwarder()
        self._guard: subprocess.Popen[bytes] | None = None
        self._stop_asked = False
        self._last_tidy = 0.0
        self._server_retry = 0.0
        environment = dict(os.environ if env is None else env)
        if logs is not None:
            private_folder(logs)
        self.children = [
            Child(program, environment, self._mark, logs / f"{program.name}.log" if logs else None)
            for program in programs
        ]

    def run(self, meanwhile: Callable[[], bool] | None = None) -> None:
        """Start all, and watch them until SIGTERM, SIGINT or SIGHUP; then end all.

        `meanwhile` is called between looks; once it is true, the end has come, too.
        """
        with self._signals():
            try:
                while not self._stop_asked and not (meanwhile is not None and meanwhile()):
                    self.look()
            finally:
                self.stop()

    def request_stop(self) -> None:
        """Make `run` end soon."""
        self._stop_asked = True

    def look(self) -> None:
        """Wait a moment, copy output, and start whatever is not running."""
        if self._guard is None or self._guard.poll() is not None:
            self._guard = start_guard(self._mark, min(self._stop_seconds, _GUARD_SECONDS))
        self._restart_servers()
        for child in self.children:
            self._restart(child)
        self._tidy()
        self._forwarder.copy(_TICK)

    def stop(self) -> None:
        """End all children, politely for some seconds; then the servers."""
        for child in self.children:
            child.terminate()
        wait_until(self._all_gone, self._stop_seconds)
        for child in self.children:
            if not child.gone():
                say(f"{child.program.name} did not finish in time and is killed")
            child.kill()
        send(marked(self._mark), signal.SIGKILL)
        self._forwarder.close()
        if self._servers is not None:
            self._servers.stop()
        self._dismiss_guard()

    def pids(self) -> dict[str, int]:
        """Names and process ids of what runs now, servers included."""
        found = {child.program.name: child.pid for child in self.children}
        if self._servers is not None:
            found |= {name: server.pid for name, server in self._servers.ours.items()}
        return {name: pid for name, pid in found.items() if pid is not None}

    def _all_gone(self) -> bool:
        self._forwarder.copy(0)
        return all(child.gone() for child in self.children)

    def _restart(self, child: Child) -> None:
        moment = now()
        died = child.collect(moment)
        if died is not None:
            pid, status = died
            pause = child.next_start - moment
            say(f"{child.program.name} (process {pid}) ended: {_reason(status)}; "
                f"starting it again in {pause:.1f} s")  # fmt: skip
            self._call_hook(child.program.name, pid)
        if child.pid is None and moment >= child.next_start and not self._stop_asked:
            try:
                child.start(moment)
            except OSError as error:
                say(f"cannot start {child.program.name}: {error}")
                child.next_start = moment + 5.0
            if child.output is not None:
                self._forwarder.add(child.output, child.program.name)
                child.output = None

    def _restart_servers(self) -> None:
        if self._servers is None or now() < self._server_retry:
            return
        for name, server in self._servers.ours.items():
            if server.running():
                continue
            say(f"{name} ended; starting it again")
            try:
                server.start()
            except EmbeddedError as error:
                say(str(error))
                self._server_retry = now() + 2.0

    def _call_hook(self, name: str, pid: int) -> None:
        if self._on_exit is None:
            return
        try:
            self._on_exit(name, pid)
        except Exception as error:  # a hook must not end the service
            say(f"after the end of {name}: {type(error).__name__}: {error}")

    def _tidy(self) -> None:
        if now() - self._last_tidy < _TIDY_SECONDS:
            return
        self._last_tidy = now()
        for child in self.children:
            child.tidy()
        for server in self._servers.ours.values() if self._servers else ():
            server.tidy()

    def _dismiss_guard(self) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._guard.wait(2)
            self._guard = None

    @contextmanager
    def _signals(self) -> Iterator[None]:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        self._forwarder.watch(reader)
        wakeup = signal.set_wakeup_fd(writer)
        before = {n: signal.signal(n, lambda *_: self.request_stop()) for n in _STOPPING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)
            os.close(reader)
            os.close(writer)


def _reason(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
