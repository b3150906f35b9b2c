"""Real servers for the tests: one PostgreSQL and one Redis a session, a schema for each test."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine

from app.embedded.servers import Servers
from app.store.engine import connect
from app.store.migrate import migrate

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Backing:
    """Addresses of the servers; `database_url` leads to a schema of this test's own."""

    database_url: str
    redis_url: str


def _plain(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """(database URL, Redis URL) of servers that only the tests use."""
    started = Servers(Path(tmp_path_factory.mktemp("servers")))
    try:
        yield started.start()
    finally:
        started.stop()


@pytest.fixture
def backing(servers: tuple[str, str]) -> Iterator[Backing]:
    """A database schema of the test's own, migrated, and an empty Redis."""
    database_url, redis_url = servers
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(_plain(database_url), autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"')
    url = f"{database_url}?options=-csearch_path%3D{name}"
    migrate(url)
    Redis.from_url(redis_url).flushall()
    yield Backing(url, redis_url)
    with psycopg.connect(_plain(database_url), autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA "{name}" CASCADE')


@pytest.fixture
def engine(backing: Backing) -> Iterator[Engine]:
    made = connect(backing.database_url, pool=2)
    yield made
    made.dispose()
