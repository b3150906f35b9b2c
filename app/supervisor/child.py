"""One child process: started, watched, started again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from app.embedded.files import open_log, trim_log
from app.embedded.process import spawn
from app.supervisor.mark import VARIABLE, marked, send, send_group
from app.supervisor.programs import Program

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
LONG_LIFE = 10.0


class Child:
    """A program that should be running."""

    def __init__(self, program: Program, env: Mapping[str, str], mark: str, log: Path | None):
        self.program = program
        self._env = {**env, **program.env}
        self._mark = mark
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._generation = 0
        self._started_at = 0.0
        self._pause = FIRST_PAUSE
        self.next_start = 0.0
        self.output: int | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid if self._process is not None else None

    def start(self, now: float) -> None:
        """Start it. Raises `OSError`."""
        self._generation += 1
        reader, writer = self._pipe()
        try:
            self._process = spawn(
                self.program.argv,
                death_signal=signal.SIGTERM,
                env={**self._env, VARIABLE: self._own_mark()},
                output=writer,
            )
        except OSError:
            if reader is not None:
                os.close(reader)
            raise
        finally:
            os.close(writer)
        self.output = reader
        self._started_at = now

    def collect(self, now: float) -> tuple[int, int] | None:
        """(process id, exit status) if it has died; its descendants are ended, a restart is due."""
        if self._process is None or self._process.poll() is None:
            return None
        pid, status = self._process.pid, self._process.returncode
        self._process = None
        self.end_descendants(pid)
        if now - self._started_at >= LONG_LIFE:
            self._pause = FIRST_PAUSE
        self.next_start = now + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return pid, status

    def end_descendants(self, leader: int) -> None:
        """Kill what a dead child left: nobody waits for it any more."""
        send_group(leader, signal.SIGKILL)
        send(marked(self._own_mark()), signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to finish."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and everything that it started, at once."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()
            self.end_descendants(self._process.pid)
            self._process = None

    def gone(self) -> bool:
        """Whether it has ended."""
        return self._process is None or self._process.poll() is not None

    def tidy(self) -> None:
        """Keep its log short."""
        if self._log is not None:
            trim_log(self._log)

    def _own_mark(self) -> str:
        return f"{self._mark}/{self.program.name}/{self._generation}/"

    def _pipe(self) -> tuple[int | None, int]:
        if self._log is not None:
            return None, open_log(self._log)
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        return reader, writer


def now() -> float:
    """The clock that restarts go by."""
    return time.monotonic()
