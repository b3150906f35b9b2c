"""A folder for embedded servers, and servers in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.embedded import EmbeddedPostgres, EmbeddedRedis


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder below one that only its owner may pass."""
    closed = tmp_path_factory.mktemp("closed")
    closed.chmod(0o700)
    return closed / "kr"


@pytest.fixture(scope="module")
def postgres(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(data_dir)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(tmp_path / "kr")
    yield server
    server.stop()
