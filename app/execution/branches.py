"""Commits and pushes that need no checkout and believe no file but those judged."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.execution.diff import Change
from app.execution.git import (
    NETWORK,
    GitFailed,
    Place,
    branch_name,
    failure,
    one_line,
    surely,
)
from app.execution.mirror import Mirrors
from app.execution.repository import Mirror
from app.execution.tree import blob_of, read, remove
from app.execution.worktree import Worktree

ZERO = "0" * 40
_LINK = "120000"
_REJECTED = re.compile(r"^!\t\S*\t(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Author:
    """Who a commit is by, as git shows it."""

    name: str
    email: str

    def environment(self) -> dict[str, str]:
        """What git reads it from."""
        name, email = (
            re.sub(r"[<>\x00-\x1f]", " ", one).strip() for one in (self.name, self.email)
        )
        found = {"NAME": name or "nobody", "EMAIL": email}
        return {f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in found.items()}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was brought together; these paths were changed on both sides."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """The remote has the branch at this commit."""

    sha: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """The remote did not take the branch: somebody else pushed, or a rule forbids it."""

    reason: str


async def commit(
    mirrors: Mirrors,
    worktree: Worktree,
    kept: Sequence[Change],
    message: str,
    author: Author,
    trailers: Sequence[tuple[str, str]],
) -> str | None:
    """Commit the base with the kept changes and nothing else; None if the branch has that already.

    Raises `GitFailed`, also if a file is no longer the one that was judged.
    """
    folder = worktree.path.with_suffix(".stage")
    try:
        staged = await asyncio.to_thread(_staged, worktree.path, kept, folder)
        async with mirrors.writing(worktree.repo) as mirror:
            tree = await _tree(mirror, worktree.base, kept, staged, folder / "index")
            if tree == await _tree_of(mirror, worktree.head):
                return None
            text = _worded(message, trailers)
            sha = await _committed(mirror, tree, (worktree.head,), text, author)
            await mirror.run("update-ref", f"refs/heads/{branch_name(worktree.branch)}", sha)
    finally:
        await surely(asyncio.to_thread(remove, folder))
    worktree.head = sha
    return sha


def _staged(root: Path, kept: Sequence[Change], folder: Path) -> list[Path]:
    """Copies that nobody can change any more, the very contents that were judged."""
    folder.mkdir(mode=0o700)
    found = []
    for number, one in enumerate(one for one in kept if one.mode):
        copy = folder / str(number)
        try:
            content = _content(root, one)
        except OSError:
            content = b""
        if one.odd or blob_of(content) != one.blob:
            raise GitFailed(one_line(f"{one.shown} changed after it was judged; judge it again"))
        copy.write_bytes(content)
        found.append(copy)
    return found


def _content(root: Path, one: Change) -> bytes:
    if one.mode != _LINK:
        return read(root, one.path)
    return os.fsencode(one.target or "")


async def _tree(
    mirror: Mirror, base: str, kept: Sequence[Change], staged: list[Path], index: Path
) -> str:
    place = Place(mirror.path, index=index)
    given = "".join(f"{one}\n" for one in staged).encode()
    await mirror.run("hash-object", "-w", "--no-filters", "--stdin-paths", given=given)
    await mirror.run("read-tree", base, at=place)
    gone = [old for one in kept for old in (one.path, one.old_path) if old]
    rows = [f"0 {ZERO}\t{path}" for path in gone]
    rows += [f"{one.mode} {one.blob}\t{one.path}" for one in kept if one.mode]
    lines = b"".join(os.fsencode(row) + b"\0" for row in rows)
    await mirror.run("update-index", "--add", "-z", "--index-info", at=place, given=lines)
    return (await mirror.run("write-tree", at=place)).decode().strip()


async def _tree_of(mirror: Mirror, commit: str) -> str:
    return (await mirror.run("rev-parse", "--verify", commit + "^{tree}")).decode().strip()


async def _committed(
    mirror: Mirror, tree: str, parents: Sequence[str], text: str, author: Author
) -> str:
    above = [word for parent in parents for word in ("-p", parent)]
    asked = ("commit-tree", tree, *above, "-F", "-")
    given, env = text.encode(errors="replace"), author.environment()
    return (await mirror.run(*asked, given=given, env=env)).decode().strip()


def _worded(message: str, trailers: Sequence[tuple[str, str]]) -> str:
    lines = [f"{name}: {' '.join(value.split())}" for name, value in trailers]
    text = message.replace("\0", "").strip() or "No message"
    return "\n\n".join(filter(None, (text, "\n".join(lines)))) + "\n"


async def push_commit(mirrors: Mirrors, repo: str, sha: str, branch: str) -> Pushed | Rejected:
    """Have the remote's branch be at a commit, never by force. Raises `GitFailed`."""
    access = await mirrors.access(repo)
    async with mirrors.writing(repo) as mirror:
        name = f"refs/heads/{branch_name(branch)}"
        asked = ("push", "--porcelain", "--no-verify", "--no-follow-tags")
        command = (*asked, access.url, f"{sha}:{name}")
        done = await mirror.ask(*command, access=access, limits=NETWORK)
        if found := _REJECTED.search(done.output.decode(errors="replace")):
            return Rejected(one_line(found[1], access.token))
        if done.code:
            raise failure(command, done, access)
        await mirror.run("update-ref", f"refs/remotes/origin/{branch}", sha)
        return Pushed(sha)
