"""One bare mirror for each repository: fetched, sealed, made anew when broken, bounded on disk.

Beside `name.git` stand `name.write` (held while somebody writes into it) and `name.keep` (held by
all who need it to stay). The remote's branches are `refs/remotes/origin/*`, ours `refs/heads/*`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

from app.execution.git import (
    NETWORK,
    Access,
    Git,
    GitFailed,
    GitRefused,
    GitTooLong,
    Place,
    one_line,
    surely,
)
from app.execution.locks import alone, exclusive, shared
from app.execution.repository import ORIGIN, Mirror
from app.execution.sealing import beside, seal, size_of, tidy
from app.execution.tree import remove

UrlOf = Callable[[str], str]
"""Where a repository (`owner/name`) is fetched from."""
Credentials = Callable[[str], Awaitable[str | None]]
"""A token for a repository, asked for before each use; None where none is needed."""

DISK_CAP = 20 << 30
"""Bytes that all mirrors may take together."""

_REPO = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")
_TRIES = 3


class Mirrors:
    """All mirrors below `folder`; any number of processes may share it.

    `disk_cap` is in bytes; above it the least recently used mirrors go, never one in use.
    """

    def __init__(
        self, folder: Path, url_of: UrlOf, credentials: Credentials, disk_cap: int = DISK_CAP
    ) -> None:
        self.folder = folder.absolute()
        self.git = Git(self.folder / ".home")
        self._url_of = url_of
        self._credentials = credentials
        self._disk_cap = disk_cap

    async def mirror(self, repo: str) -> Mirror:
        """The mirror as the remote is now; a broken one is made anew. Raises `GitFailed`."""
        mirror, access = self._named(repo), await self.access(repo)
        async with self._written(mirror):
            made = not mirror.path.exists()
            await (self._create if made else self._fetch)(mirror, access)
        if made:
            await self.shrink()
        return mirror

    @contextlib.asynccontextmanager
    async def hold(self, repo: str) -> AsyncIterator[Mirror]:
        """The mirror as it is, fetched only if there is none; it stays while it is held."""
        mirror = self._named(repo)
        for _ in range(_TRIES):
            async with shared(beside(mirror.path, "keep")):
                if mirror.path.exists():
                    _touch(beside(mirror.path, "write"))
                    yield mirror
                    return
            await self.mirror(repo)
        raise GitFailed("mirrors go faster than they come; give them more room on disk")

    @contextlib.asynccontextmanager
    async def writing(self, repo: str) -> AsyncIterator[Mirror]:
        """The same, with nobody else writing into it."""
        async with self.hold(repo) as mirror, self._written(mirror):
            yield mirror

    async def repair(self, repo: str) -> bool:
        """Make a mirror anew if it is broken; gives whether it was. Branches that only it had are
        lost. Raises `GitFailed`, also if it is in use.
        """
        mirror, access = self._named(repo), await self.access(repo)
        async with self._written(mirror):
            if mirror.path.exists() and not await self.is_broken(mirror):
                return False
            await self._create(mirror, access)
        return True

    async def is_broken(self, mirror: Mirror) -> bool:
        """Whether objects are missing or damaged. Reads all of them."""
        return (
            await mirror.ask("fsck", "--no-dangling", "--no-progress", limits=NETWORK)
        ).code != 0

    def path(self, repo: str) -> Path:
        """Where a mirror is, or would be. Raises `GitFailed` if that is no repository's name."""
        return self._named(repo).path

    async def access(self, repo: str) -> Access:
        """How to reach the remote now. Raises `GitFailed`."""
        self._named(repo)
        return Access(self._url_of(repo), await self._credentials(repo))

    async def default_branch(self, repo: str) -> str | None:
        """Asked of the remote; None if it has none, or the branch does not exist."""
        access = await self.access(repo)
        printed = await self.git.run("ls-remote", "--symref", access.url, "HEAD", access=access)
        found = re.search(r"(?m)^ref: refs/heads/(.+)\tHEAD$", printed.decode(errors="replace"))
        return found[1] if found else None

    async def recover(self) -> None:
        """At the start: remove what processes left that were killed."""
        for mirror in self._all():
            with self.quiet(mirror.repo) as free:
                if free:
                    await asyncio.to_thread(tidy, mirror.path)

    def quiet(self, repo: str) -> contextlib.AbstractContextManager[bool]:
        """Keeps others from writing; gives whether nobody does so already."""
        return alone(beside(self.path(repo), "write"))

    async def shrink(self) -> tuple[str, ...]:
        """Remove the least recently used until the rest fits; gives what was removed."""
        return await asyncio.to_thread(self._shrunk)

    @contextlib.asynccontextmanager
    async def _written(self, mirror: Mirror) -> AsyncIterator[None]:
        lock = beside(mirror.path, "write")
        async with exclusive(lock) as interrupted:
            if interrupted:
                await asyncio.to_thread(tidy, mirror.path)
            yield
            _touch(lock)

    async def _fetch(self, mirror: Mirror, access: Access) -> None:
        try:
            await self._fetched(mirror.path, access)
        except (GitRefused, GitTooLong):
            raise
        except GitFailed:
            # Does the remote answer? This says what is wrong if it does not.
            await self.git.run("ls-remote", "--heads", access.url, access=access)
            if not await self.is_broken(mirror):
                raise
            await self._create(mirror, access)

    async def _create(self, mirror: Mirror, access: Access) -> None:
        fresh = beside(mirror.path, "tmp")
        await asyncio.to_thread(remove, fresh)
        try:
            await self.git.run("init", "--quiet", "--bare", "--template=", str(fresh))
            await self._fetched(fresh, access)
            _replace(mirror.path, fresh)
        finally:
            await surely(asyncio.to_thread(remove, fresh))
            await surely(asyncio.to_thread(remove, beside(mirror.path, "old")))

    async def _fetched(self, path: Path, access: Access) -> None:
        seal(path)
        quiet = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head")
        await self.git.run(
            *("fetch", *quiet, "--no-auto-maintenance", "--no-recurse-submodules"),
            *(access.url, f"+refs/heads/*:{ORIGIN}*"),
            at=Place(path),
            access=access,
            limits=NETWORK,
        )

    def _shrunk(self) -> tuple[str, ...]:
        mirrors = sorted(self._all(), key=lambda one: beside(one.path, "write").stat().st_mtime)
        sizes = {mirror.repo: size_of(mirror.path) for mirror in mirrors}
        gone: list[str] = []
        for mirror in mirrors[:-1]:  # the last one is what somebody has just asked for
            if sum(sizes.values()) <= self._disk_cap:
                break
            if _forgotten(mirror.path):
                gone.append(mirror.repo)
                sizes.pop(mirror.repo)
        return tuple(gone)

    def _named(self, repo: str) -> Mirror:
        if not _REPO.fullmatch(repo):
            raise GitFailed(one_line(f'"{repo}" is no repository; write owner/name'))
        return Mirror(repo, self.folder / f"{repo.lower()}.git", self.git)  # GitHub has one case

    def _all(self) -> Iterator[Mirror]:
        # by their locks: one that never became a mirror has one, too
        for lock in sorted(self.folder.glob("*/*.write")):
            yield self._named(f"{lock.parent.name}/{lock.name.removesuffix('.write')}")


def _touch(lock: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(lock)


def _replace(path: Path, fresh: Path) -> None:
    with alone(beside(path, "keep")) as free:
        if not free and path.exists():
            raise GitFailed("the mirror is broken and in use; it is made anew when its tasks end")
        if path.exists():
            path.rename(beside(path, "old"))
        fresh.rename(path)


def _forgotten(path: Path) -> bool:
    with alone(beside(path, "write")) as unwritten, alone(beside(path, "keep")) as free:
        if not (unwritten and free and path.exists()):
            return False
        path.rename(beside(path, "old"))
        remove(beside(path, "old"))
        return True
