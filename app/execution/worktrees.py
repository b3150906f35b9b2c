"""A pool of worktrees: one for each task, handed out clean, taken back from the dead.

Below `folder/owner/name/` each worktree is a folder `<id>`. Beside it stands `<id>.lease`, with its
owner, branch and base, or `<id>.idle`. Git's part is `worktrees/<id>` in the mirror. A folder, or a
part, without one of the two is what a killed process left.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from app.execution import slots
from app.execution.git import (
    GitFailed,
    GitRefused,
    GitTooLong,
    branch_name,
    one_line,
    surely,
)
from app.execution.index import note_index, own_index, touched
from app.execution.locks import exclusive, lives, us
from app.execution.mirror import Mirrors
from app.execution.repository import Mirror
from app.execution.sealing import size_of
from app.execution.tree import (
    is_altered,
    is_folder,
    point_nowhere,
    remove,
    remove_below,
    scan,
    strip,
)
from app.execution.worktree import Worktree

DISK_CAP = 20 << 30
"""Bytes that worktrees waiting for the next task may take together."""
IDLE = 64
"""Worktrees of one repository that may wait for the next task."""

_FOLDER_MODE = 0o755  # git keeps none; an agent may have set another


class BranchTaken(GitFailed):
    """Another task works on this branch."""


class NoSuchBase(GitFailed):
    """There is no such commit or branch, not even after a fetch."""


class Worktrees:
    """Leases worktrees of the repositories in `mirrors`. Processes may share a folder.

    They have to see each other: containers with process ids of their own need folders of their own.
    """

    def __init__(
        self, mirrors: Mirrors, folder: Path, idle: int = IDLE, disk_cap: int = DISK_CAP
    ) -> None:
        self.mirrors = mirrors
        self.folder = folder.absolute()
        self._idle = idle
        self._disk_cap = disk_cap
        self._left: dict[Path, tuple[str, str]] = {}
        """The base and the index of those that we ourselves have cleaned."""

    @contextlib.asynccontextmanager
    async def lease(self, repo: str, branch: str, base: str) -> AsyncIterator[Worktree]:
        """A worktree at `base` (a full hash or a branch) that nobody else has.

        The branch begins anew at the base with the first commit. Raises `BranchTaken`,
        `NoSuchBase`, `GitFailed`.
        """
        branch_name(branch)
        async with contextlib.AsyncExitStack() as stack:
            leased = stack.enter_async_context
            try:
                worktree = await leased(self._leased(repo, branch, base))
            except NoSuchBase:
                await self.mirrors.mirror(repo)
                worktree = await leased(self._leased(repo, branch, base))
            except (BranchTaken, GitRefused, GitTooLong):
                raise
            except GitFailed:
                if not await self.mirrors.repair(repo):
                    raise
                worktree = await leased(self._leased(repo, branch, base))
            yield worktree

    @contextlib.asynccontextmanager
    async def _leased(self, repo: str, branch: str, base: str) -> AsyncIterator[Worktree]:
        async with self.mirrors.hold(repo) as mirror:
            known = slots.usable(self._pool(repo), mirror, base, only=True)
            commit = base if known else await mirror.resolve(base)  # saves a process
            if commit is None:
                raise NoSuchBase(
                    one_line(f'{repo} has no commit or branch "{base}"; push it first')
                )
            slot = await self._claimed(mirror, branch, commit)
            worktree = Worktree(repo, slot, branch, commit, commit, mirror)
            try:
                await self._make_ready(worktree)
                yield worktree
            finally:
                await surely(self._returned(worktree))

    async def recover(self) -> None:
        """At the start: take back what dead processes had, and remove what they left."""
        for pool in self._pools():
            repo = f"{pool.parent.name}/{pool.name}"
            async with exclusive(pool / "lock"):
                for lease in pool.glob("*.lease"):
                    if not lives(slots.owner(lease)):
                        slots.set_aside(lease.with_suffix(""))
                slots.remove_strays(pool)
            await asyncio.to_thread(slots.remove_gone, pool)
            with self.mirrors.quiet(repo) as free:
                async with exclusive(pool / "lock"):
                    if free:
                        slots.forget_unknown(self.mirrors.path(repo), pool)

    async def prune(self) -> int:
        """Remove idle worktrees above the caps, the longest unused first; gives how many."""
        sizes = {idle: slots.size(idle) for pool in self._pools() for idle in pool.glob("*.idle")}
        removed = 0
        for idle in sorted(sizes, key=slots.since):
            pool = idle.parent
            useless = not self.mirrors.path(f"{pool.parent.name}/{pool.name}").exists()
            if useless or sum(sizes.values()) > self._disk_cap:
                removed += await self._discarded(idle)
                sizes.pop(idle)
        return removed

    async def _claimed(self, mirror: Mirror, branch: str, commit: str) -> Path:
        """The folder of an idle worktree, or of one to be made, under our name."""
        pool = self._pool(mirror.repo)
        async with exclusive(pool / "lock"):
            taken = {slots.branch(one) for one in pool.glob("*.lease") if lives(slots.owner(one))}
            if branch in taken:
                raise BranchTaken(f"another task works on {branch}; wait until it ends")
            idle = slots.usable(pool, mirror, commit)
            slot = idle.with_suffix("") if idle else pool / secrets.token_hex(8)
            content = json.dumps({"owner": us(), "branch": branch, "base": commit})
            slots.write(slot.with_suffix(".lease"), content)
            slot.with_suffix(".idle").unlink(missing_ok=True)
        return slot

    async def _make_ready(self, worktree: Worktree) -> None:
        fresh = not worktree.path.exists()
        if fresh:
            async with self.mirrors.writing(worktree.repo) as mirror:
                quiet = ("--quiet", "--detach", "--no-checkout")
                asked = ("worktree", "add", *quiet, str(worktree.path), worktree.base)
                await mirror.run(*asked)
        point_nowhere(worktree.path)
        base, index = self._left.pop(worktree.path, ("", ""))
        await note_index(worktree)
        if not fresh and index != worktree.index:  # a predecessor's, or not ours at all
            worktree.index = ""
            await own_index(worktree)
        as_left = base == worktree.base and index == worktree.index
        if not as_left or await touched(worktree):  # to look takes half as long as to reset
            await _reset(worktree, worktree.base)
            await note_index(worktree)

    async def _returned(self, worktree: Worktree) -> None:
        """Clean it for the next task; where that fails it is removed."""
        slot, pool, base = worktree.path, worktree.path.parent, worktree.base
        try:
            await _cleaned(worktree)
            await note_index(worktree)
            size = await asyncio.to_thread(size_of, slot)
        except (GitFailed, OSError, RecursionError):
            size = -1
        async with exclusive(pool / "lock"):
            if size < 0 or len(list(pool.glob("*.idle"))) >= self._idle:
                slots.set_aside(slot)
            else:
                self._left[slot] = base, worktree.index
                slots.write(slot.with_suffix(".idle"), json.dumps({"bytes": size, "base": base}))
                slot.with_suffix(".lease").unlink(missing_ok=True)
        if not slot.exists():
            await asyncio.to_thread(remove, worktree.place.git_dir)
            await asyncio.to_thread(slots.remove_gone, pool)

    async def _discarded(self, idle: Path) -> bool:
        slot, pool = idle.with_suffix(""), idle.parent
        async with exclusive(pool / "lock"):
            if slot not in slots.idle(pool):
                return False  # somebody was quicker
            self._left.pop(slot, None)
            slots.set_aside(slot)
        admin = self.mirrors.path(f"{pool.parent.name}/{pool.name}") / "worktrees" / slot.name
        await asyncio.to_thread(remove, admin)
        await asyncio.to_thread(slots.remove_gone, pool)
        return True

    def _pool(self, repo: str) -> Path:
        pool = self.folder / repo.lower()
        pool.mkdir(mode=0o700, parents=True, exist_ok=True)
        return pool

    def _pools(self) -> Iterator[Path]:
        yield from (lock.parent for lock in sorted(self.folder.glob("*/*/lock")))


async def _reset(worktree: Worktree, commit: str) -> None:
    await worktree.mirror.run("reset", "--hard", "--quiet", commit, "--", at=worktree.place)


async def _cleaned(worktree: Worktree) -> None:
    """Nothing but the files of the base, made anew where somebody touched them.

    Git's own `clean` would leave a `.git` in a folder, modes and attributes of files.
    """
    root = worktree.path
    await own_index(worktree)
    known = await worktree.mirror.run("ls-files", "-s", "-z", at=worktree.place)
    rows = [os.fsdecode(row).split("\t", 1) for row in known.split(b"\0") if row]
    tracked = {path for _, path in rows}
    submodules = {path for mode, path in rows if mode.startswith("160000")}
    files = [(what[:6], path) for what, path in rows]
    dirty = await touched(worktree)

    def clean() -> None:
        odd = (path for mode, path in files if is_altered(root, path, mode))
        for path in [*dirty, *odd, *scan(root, tracked, submodules)]:
            remove_below(root, path)
        for path in submodules:
            if not is_folder(root, path):
                remove_below(root, path)
                (root / path).mkdir(parents=True)
        for folder, _, _ in os.walk(root, topdown=False):
            kept = folder == str(root) or os.path.relpath(folder, root) in submodules
            if kept or os.listdir(folder):
                os.chmod(folder, _FOLDER_MODE)
                strip(folder)
            else:
                os.rmdir(folder)
        point_nowhere(root)

    await asyncio.to_thread(clean)
    await _reset(worktree, worktree.base)
