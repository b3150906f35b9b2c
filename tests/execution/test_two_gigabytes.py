"""A repository of two gigabytes, most of it in its history, as old repositories have it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.execution.branches import commit
from app.execution.diff import changes
from app.execution.landing import Landed, land
from app.execution.sealing import size_of
from app.execution.worktrees import Worktrees
from tests.execution.git_help import DEDE, REPO, Remote, finished, git

pytestmark = [pytest.mark.needs("git"), pytest.mark.slow]

PIECE = 32 << 20
PIECES = 64
KEPT = 4
"""So many of the pieces are still there in the newest commit."""


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    found = Remote(tmp_path / "remote")
    _fill(found.bare())
    yield found
    found.close()
    for part in tmp_path.iterdir():  # nobody wants to look at two gigabytes afterwards
        shutil.rmtree(part)


def _fill(bare: Path) -> None:
    """Each commit replaces a picture by another that nothing can make smaller."""
    command = [
        "git",
        "-C",
        str(bare),
        "-c",
        "core.compression=0",
        "fast-import",
        "--quiet",
        "--depth=0",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as importing:
        assert importing.stdin is not None
        for number in range(PIECES):
            head = "commit refs/heads/main\ncommitter m <m@acme.test> 1700000000 +0000\ndata 1\nx\n"
            path = f"pictures/p{number % KEPT}.png"
            importing.stdin.write(f"{head}M 100644 inline {path}\ndata {PIECE}\n".encode())
            importing.stdin.write(os.urandom(PIECE) + b"\n")
        importing.stdin.write(b"M 100644 inline src/app.py\ndata 2\nx\n\n")
    assert importing.returncode == 0
    git(bare, "branch", "012-export", "main")


@finished
async def test_a_task_is_done_in_it(remote: Remote, tmp_path: Path) -> None:
    mirrors = remote.mirrors(tmp_path / "mirrors", disk_cap=1 << 30)
    mirror = await mirrors.mirror(REPO)
    assert size_of(mirror.path) > 2 << 30  # larger than the cap, and kept: it is in use

    worktrees = Worktrees(mirrors, tmp_path / "worktrees")
    async with worktrees.lease(REPO, "tasks/T001", "012-export") as worktree:
        (worktree.path / "src" / "export.py").write_text("x = 1\n")
        found = await changes(worktree)
        made = await commit(mirrors, worktree, found, "T001 Export", DEDE, [("Task", "T001")])
    assert made is not None
    landed = await land(mirrors, REPO, made, "012-export")
    assert isinstance(landed, Landed)
    assert git(remote.bare(), "show", "--name-only", "--format=%s", "012-export").split("\n") == [
        "T001 Export", "", "src/export.py"
    ]  # fmt: skip
