"""The servers that the settings leave to us, together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from app.embedded.errors import EmbeddedError
from app.embedded.lock import DataDirLock, DataDirLocked
from app.embedded.postgres import EmbeddedPostgres
from app.embedded.process import wait_until
from app.embedded.redis import EmbeddedRedis

ATTACH_SECONDS = 10.0


class Server(Protocol):
    """What PostgreSQL and Redis have in common."""

    def start(self) -> str:
        """Start it, or do nothing if it runs; its URL. Raises `EmbeddedError`."""
        ...

    def stop(self) -> None:
        """End it."""
        ...

    def running(self) -> bool:
        """Whether it is there."""
        ...

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        ...

    def tidy(self) -> None:
        """Keep its log short."""
        ...


class Servers:
    """PostgreSQL and Redis for one data folder; one whose URL is given is left alone."""

    def __init__(
        self, data_dir: Path, database_url: str | None = None, redis_url: str | None = None
    ) -> None:
        self._lock = DataDirLock(data_dir)
        self._database_url = database_url
        self._redis_url = redis_url
        self._postgres = EmbeddedPostgres(data_dir)
        self._redis = EmbeddedRedis(data_dir)
        self.ours: dict[str, Server] = {}
        if database_url is None:
            self.ours["postgres"] = self._postgres
        if redis_url is None:
            self.ours["redis"] = self._redis

    def start(self) -> tuple[str, str]:
        """Lock the folder, start what is ours, and return (database URL, Redis URL).

        Raises `DataDirLocked` if another process has the folder, `EmbeddedError` otherwise.
        """
        if self.ours:
            self._lock.acquire()
        try:
            return (
                self._database_url or self._postgres.start(),
                self._redis_url or self._redis.start(),
            )
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End what is ours and give the folder back."""
        for server in self.ours.values():
            server.stop()
        self._lock.release()

    def find(self) -> tuple[str | None, str | None]:
        """The URLs (database, Redis): given ones, or those of a server that answers in the folder.

        Starts nothing; `None` for a server that is ours to start and does not run.
        """
        return (
            self._database_url or self._postgres.url_if_answering(),
            self._redis_url or self._redis.url_if_answering(),
        )

    def find_soon(self, seconds: float = ATTACH_SECONDS) -> tuple[str, str]:
        """`find`, waiting for those that another process has only just begun to start.

        Raises `EmbeddedError` if they do not answer in time.
        """
        found: list[tuple[str, str]] = []

        def look() -> bool:
            database_url, redis_url = self.find()
            if database_url and redis_url:
                found.append((database_url, redis_url))
            return bool(found)

        if not wait_until(look, seconds, pause=0.2):
            raise EmbeddedError(
                "another process holds the data folder, but its servers do not answer. "
                "Stop it, or give this one a folder of its own: KR_DATA_DIR=/another/folder."
            )
        return found[0]


@contextmanager
def reach_servers(
    data_dir: Path, database_url: str | None = None, redis_url: str | None = None
) -> Iterator[tuple[str, str]]:
    """(database URL, Redis URL): given ones, or those of a running `kr up`, or our own meanwhile.

    Raises `EmbeddedError` if there are none and none can be started.
    """
    servers = Servers(data_dir, database_url, redis_url)
    try:
        urls = servers.start()
    except DataDirLocked:
        urls = servers.find_soon()
    try:
        yield urls
    finally:
        servers.stop()
