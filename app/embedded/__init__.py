"""PostgreSQL and Redis that come with the package, for when no URL is set."""

from __future__ import annotations

from app.embedded.errors import EmbeddedError
from app.embedded.lock import DataDirLock, DataDirLocked
from app.embedded.postgres import EmbeddedPostgres
from app.embedded.redis import EmbeddedRedis
from app.embedded.servers import Servers, reach_servers

__all__ = [
    "DataDirLock",
    "DataDirLocked",
    "EmbeddedError",
    "EmbeddedPostgres",
    "EmbeddedRedis",
    "Servers",
    "reach_servers",
]
