"""A remote for each test, and a pool of worktrees on it. Files that want content add it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.execution.worktrees import Worktrees
from tests.execution.git_help import Remote, pool


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    found = Remote(tmp_path / "remote")
    yield found
    found.close()


@pytest.fixture
def worktrees(remote: Remote, tmp_path: Path) -> Worktrees:
    return pool(remote, tmp_path)
