"""Git's index of a worktree: by it git tells which files were touched, so it has to be ours."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib

from app.execution.git import failure, names
from app.execution.tree import read, remove
from app.execution.worktree import Worktree


async def note_index(worktree: Worktree) -> None:
    """Remember git's index as it is now: ours, which `own_index` need not make anew."""
    worktree.index = await asyncio.to_thread(_index_of, worktree)


async def own_index(worktree: Worktree) -> None:
    """Make git's index anew from the base, unless it is the very one that we have left.

    A program outside of a sandbox can mark a file in it as never changed, or take one out: git
    would be silent about that file for ever. Raises `GitFailed`.
    """
    if worktree.index and worktree.index == await asyncio.to_thread(_index_of, worktree):
        return
    admin = worktree.place.git_dir
    for one in [admin / "index", *admin.glob("*.lock")]:  # also what a killed git left
        await asyncio.to_thread(remove, one)
    await worktree.mirror.run("read-tree", worktree.base, at=worktree.place)
    asked = ("update-index", "-q", "--ignore-submodules", "--refresh")
    done = await worktree.mirror.ask(*asked, at=worktree.place)
    if done.code > 1:  # 1: some files are not as in the base
        raise failure(asked, done)
    await note_index(worktree)


def _index_of(worktree: Worktree) -> str:
    with contextlib.suppress(OSError):
        return hashlib.sha256(read(worktree.place.git_dir, "index")).hexdigest()
    return ""


async def touched(worktree: Worktree) -> list[str]:
    """Paths of the base whose file git no longer finds as it has written it."""
    asked = ("diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")
    return names(await worktree.mirror.run(*asked, at=worktree.place))
