"""One mirror: git in it, with what others could have laid there undone before every call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.execution.git import USUAL, Access, Done, Git, Limits, Place, branch_name
from app.execution.sealing import seal, seal_worktree

_SHA = re.compile(r"[0-9a-f]{40}")
ORIGIN = "refs/remotes/origin/"
"""Where the remote's branches are, as of the last fetch."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """A repository as far as we have it."""

    repo: str
    path: Path
    git: Git

    async def run(
        self,
        *args: str,
        at: Place | None = None,
        given: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git in it, after sealing it. Raises `GitFailed`."""
        self._seal(at)
        return await self.git.run(*args, at=at or Place(self.path), given=given, env=env)

    async def ask(
        self,
        *args: str,
        at: Place | None = None,
        given: bytes = b"",
        access: Access | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits = USUAL,
    ) -> Done:
        """The same where more than one exit code means something. Raises `GitTooLong`."""
        self._seal(at)
        place = at or Place(self.path)
        return await self.git.ask(
            *args, at=place, given=given, access=access, env=env, limits=limits
        )

    def _seal(self, at: Place | None) -> None:
        seal(self.path)
        if at is not None and at.git_dir.parent == self.path / "worktrees":
            seal_worktree(at.git_dir)

    async def heads(self) -> dict[str, str]:
        """The remote's branches at the last fetch, and their commits; empty if it has none."""
        printed = await self.run("for-each-ref", "--format=%(objectname) %(refname)", ORIGIN)
        rows = (line.split(" ", 1) for line in printed.decode(errors="replace").splitlines())
        return {name.removeprefix(ORIGIN): sha for sha, name in rows}

    async def resolve(self, name: str) -> str | None:
        """The commit that a full hash means, or a branch as the remote has it."""
        return await self._commit(name) if _SHA.fullmatch(name) else await self.remote(name)

    async def remote(self, branch: str) -> str | None:
        """Where a branch was at the remote when it was fetched last."""
        return await self._commit(ORIGIN + branch_name(branch))

    async def holds(self, commit: str, other: str) -> bool:
        """Whether `other` is `commit` or one of its ancestors."""
        return (await self.ask("merge-base", "--is-ancestor", other, commit)).code == 0

    async def _commit(self, name: str) -> str | None:
        wanted = name + "^{commit}"
        done = await self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        return None if done.code else done.output.decode().strip()
