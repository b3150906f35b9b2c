"""What a run leaves for the next one in the same worktree: nothing, whatever it did."""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.execution.branches import commit
from app.execution.diff import changes, settled
from app.execution.worktrees import Worktrees
from app.scopes import parse
from tests.execution.git_help import DEDE, REPO, Remote, finished, git, pool

pytestmark = pytest.mark.needs("git")

FILES: dict[str, bytes | None] = {
    "src/a": b"1\n",
    "src/b": b"2\n",
    "100755|run": b"3",
    "ops/x": b"4",
}
LOCKED_OUT = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", kind, 0, 0xFFFFFFFF) for kind in (0x01, 0x04, 0x20)
)
"""A default access list: whatever is made in the folder may be read by nobody."""


@pytest.fixture
def remote(remote: Remote) -> Remote:
    remote.push(FILES)
    return remote


def _lists(root: Path) -> None:
    os.setxattr(root / "src", "system.posix_acl_default", LOCKED_OUT)
    (root / "src/a").write_text("x")


def _folders(root: Path) -> None:
    (root / "src/one/two/three").mkdir(parents=True)
    (root / "src/z/y").mkdir(parents=True)
    (root / "src/z/y/link").symlink_to("../../a")


def _modes(root: Path) -> None:
    """In the second in which git wrote them, which is all that it compares."""
    (root / "src/a").chmod(0o400)
    (root / "src/b").chmod(0o666)


def _attributes(root: Path) -> None:
    os.setxattr(root / "src/a", "user.evil", b"1")
    os.setxattr(root / "src", "user.evil", b"1")


def _names(root: Path) -> None:
    os.link(root / "src/a", root.parent / "other-name")


LEFT = [_folders, _modes, _names]
if sys.platform == "linux":
    LEFT += [_lists, _attributes]


def _state(root: Path) -> dict[str, tuple[int, int, list[str]]]:
    """Path → mode, names of the file, and what is written beside it."""
    found = {}
    for one in sorted([root, *root.rglob("*")]):
        seen = one.lstat()
        links = 0 if stat.S_ISDIR(seen.st_mode) else seen.st_nlink
        beside = os.listxattr(one, follow_symlinks=False) if sys.platform == "linux" else []
        found[str(one.relative_to(root))] = (seen.st_mode, links, beside)
    return found


@pytest.mark.parametrize("leave", LEFT, ids=lambda one: one.__name__.lstrip("_"))
@finished
async def test_nothing_is_left_for_the_next(
    remote: Remote, worktrees: Worktrees, leave: Callable[[Path], None]
) -> None:
    base = remote.head("main")
    newer = remote.push({"src/b": b"newer\n"})
    async with worktrees.lease(REPO, "task/1", base) as one:
        before, path = _state(one.path), one.path
        leave(one.path)
    async with worktrees.lease(REPO, "task/2", base) as two:
        assert two.path == path
        assert _state(two.path) == before
        assert await changes(two) == ()
    async with worktrees.lease(REPO, "task/3", newer) as three:
        assert _state(three.path) == before


@pytest.mark.parametrize("again", [False, True], ids=["same-process", "another-process"])
@finished
async def test_a_file_that_git_was_told_to_overlook_comes_back(
    remote: Remote, worktrees: Worktrees, tmp_path: Path, again: bool
) -> None:
    """Without walls a run can get at the index of a worktree that waits."""
    base = remote.head("main")
    async with worktrees.lease(REPO, "task/1", base) as one:
        path, admin = one.path, one.place.git_dir
    git(path, "--git-dir", str(admin), "--work-tree", str(path),
        "update-index", "--skip-worktree", "ops/x")  # fmt: skip
    (path / "ops/x").write_text("evil\n")
    following = pool(remote, tmp_path) if again else worktrees
    async with following.lease(REPO, "task/2", base) as two:
        assert (two.path, (path / "ops/x").read_text()) == (path, "4")
        assert await changes(two) == ()


@finished
async def test_a_link_is_judged_by_where_it_leads_in_the_commit(
    remote: Remote, worktrees: Worktrees
) -> None:
    """`lib` is a link in the base. Taken away, another link seems to lead somewhere else."""
    remote.push({"120000|lib": b"ops", "ops/q.py": b"q\n"})
    scopes = parse("* @ops\n*.py @dede\n/src/ @dede\n/ops/ @ops\n")
    async with worktrees.lease(REPO, "task/1", "main") as one:
        (one.path / "lib").unlink()
        (one.path / "lib").mkdir()
        (one.path / "lib/q.py").write_text("x\n")
        (one.path / "src/way.py").symlink_to("../lib/q.py")
        (one.path / "src/good.py").write_text("x\n")
        judged = await settled(one, scopes, "@dede")
        assert [change.path for change in judged.kept] == ["src/good.py"]
        reasons = {gone.change.path: gone.reason for gone in judged.dropped}
        assert "links to ops/q.py, which belongs to @ops" in reasons["src/way.py"]
        sha = await commit(worktrees.mirrors, one, judged.kept, "x", DEDE, ())
        assert sha
        told = await one.mirror.run("diff-tree", "-r", "--name-only", one.base, sha)
        assert told.decode().split() == ["src/good.py"]
