"""What `kr up`, `kr serve` and `kr worker` share."""

from __future__ import annotations

import os
import signal
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli_commands import CommandError, print_json
from app.embedded import DataDirLocked, Servers
from app.supervisor import Program, Supervisor

if TYPE_CHECKING:
    from app.settings import Settings


def servers_of(settings: Settings) -> Servers:
    """The servers that the settings leave to us."""
    return Servers(settings.data_dir, settings.database_url, settings.redis_url)


def run_programs(
    settings: Settings,
    programs: Sequence[Program],
    *,
    quiet: bool = False,
    as_json: bool = False,
    share: bool = False,
) -> int:
    """Start servers, migrate, and keep the programs running until a signal comes.

    With `share`, use the servers of another `kr` in the same data folder instead of refusing.
    """
    check_configuration(settings)
    end_like_ctrl_c()
    servers = servers_of(settings)
    ours: Servers | None = servers
    try:
        database_url, redis_url = servers.start()
    except DataDirLocked:
        if not share:
            raise
        ours = None
        database_url, redis_url = servers.find_soon()
    try:
        migrate(database_url)
        supervisor = Supervisor(
            programs,
            env=child_environment(settings, database_url, redis_url),
            servers=ours,
            logs=settings.data_dir.absolute() / "logs" if quiet else None,
        )
        url = settings.base_url if any(p.name == "web" for p in programs) else None
        supervisor.run(_Announcement(supervisor, f"http://{_local(settings)}", url, as_json))
    finally:
        if ours is not None:
            ours.stop()
    return 0


def check_configuration(settings: Settings) -> None:
    """Refuse to start on a configuration that cannot come into force.

    Raises `CommandError` with file, line and key of every mistake.
    """
    from app.config.loader import load_config
    from app.config.problems import ConfigInvalid
    from app.config.shipped import config_folder

    folder = config_folder(settings)
    try:
        load_config(folder)
    except ConfigInvalid as invalid:
        lines = "\n".join(f"  {problem}" for problem in invalid.errors)
        raise CommandError(
            f"The configuration in {folder} cannot come into force:\n{lines}\n"
            "Correct these lines; `kr config check` looks again.",
            2,
        ) from None
    except OSError as error:
        raise CommandError(f"cannot read {error.filename or folder}: {error.strerror}", 2) from None


def end_like_ctrl_c() -> None:
    """Let SIGTERM and SIGHUP clean up, too, until the supervisor takes them over."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def migrate(database_url: str) -> None:
    """Bring the database to this version's schema."""
    from app.store.migrate import migrate as run_migrations

    run_migrations(database_url)


def child_environment(settings: Settings, database_url: str, redis_url: str) -> dict[str, str]:
    """Our environment, with the addresses of the servers; all programs use the same folders."""
    return {
        **os.environ,
        "KR_DATABASE_URL": database_url,
        "KR_REDIS_URL": redis_url,
        "KR_DATA_DIR": str(settings.data_dir.absolute()),
        "PYTHONPATH": ":".join(filter(None, (str(_source()), os.environ.get("PYTHONPATH")))),
        "PYTHONUNBUFFERED": "1",
    }


def need_port(settings: Settings) -> None:
    """Raises `CommandError` if the web process could not listen."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise CommandError(
                f"cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
                "End the program that uses it, or set KR_PORT to another port."
            ) from None


def answers(url: str) -> bool:
    """Whether a GET there says 200."""
    try:
        with urllib.request.urlopen(url, timeout=1) as response:  # noqa: S310 - our own address
            return bool(response.status == 200)
    except (OSError, ValueError, urllib.error.URLError):
        return False


def _source() -> Path:
    """The folder that holds `app` and `workers`, for a start from another folder."""
    return Path(__file__).resolve().parents[2]


def _local(settings: Settings) -> str:
    host = "127.0.0.1" if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104
    return f"{host}:{settings.port}"


class _Announcement:
    """Says once, between two looks of the supervisor, that the service is there."""

    def __init__(self, supervisor: Supervisor, probe: str, url: str | None, as_json: bool) -> None:
        self._supervisor = supervisor
        self._probe = probe
        self._url = url
        self._as_json = as_json
        self._looks = 0
        self._said = False

    def __call__(self) -> bool:
        self._looks += 1
        if not self._said and self._looks % 3 == 0 and self._ready():
            self._said = True
            self._say()
        return False

    def _ready(self) -> bool:
        return self._url is None or answers(f"{self._probe}/healthz")

    def _say(self) -> None:
        if self._as_json:
            print_json({"ok": True, "url": self._url, "processes": self._supervisor.pids()})
        elif self._url is not None:
            print(f"Knowledge Router: {self._url}", flush=True)
        else:
            print("workers started", file=sys.stderr, flush=True)
