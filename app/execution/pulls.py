"""A pull request read from git: GitHub lists 3,000 files and 250 commits of one, and no more."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from app.execution.git import GitFailed
from app.execution.mirror import Mirrors
from app.execution.repository import Mirror
from app.execution.worktrees import names
from app.scopes.pulls import Commit, Pull, agents_in

_SHA = re.compile(r"[0-9a-f]{40}")
MOST = 200_000
"""Paths of one pull request."""


async def read_large(mirrors: Mirrors, repo: str, base: str, head: str, known: Pull) -> Pull:
    """The same pull request with all its paths and commits. Raises `GitFailed`."""
    mirror = await mirrors.mirror(repo)
    for commit in (base, head):
        if not _SHA.fullmatch(commit) or (await mirror.ask("cat-file", "-e", commit)).code:
            raise GitFailed("its commits are on no branch of this repository")
    asked = ("diff", "--name-only", "-z", "--no-renames", f"{base}...{head}", "--")
    paths = names(await mirror.run(*asked))
    if len(paths) > MOST:
        raise GitFailed(f"it changes more than {MOST} paths")
    commits = await _commits(mirror, base, head, known)
    return replace(known, paths=tuple(paths), commits=commits, complete=True)


async def _commits(mirror: Mirror, base: str, head: str, known: Pull) -> tuple[Commit, ...]:
    printed = await mirror.run(
        "log", "-z", "--format=%H%n%ae%n%B", "--end-of-options", f"{base}..{head}", "--"
    )
    told = [entry.split("\n", 2) for entry in names(printed)]
    touched = await _touched(mirror, [entry[0] for entry in told])
    return tuple(
        Commit(sha, agents_in(message), touched.get(sha, ()), known.emails.get(mail, ""))
        for sha, mail, message in ((*entry, "", "")[:3] for entry in told)
    )


async def _touched(mirror: Mirror, commits: list[str]) -> dict[str, tuple[str, ...]]:
    """Commit → what it changes; of a merge what neither side had so."""
    given = "".join(f"{sha}\n" for sha in commits).encode()
    asked = ("diff-tree", "--stdin", "-z", "-r", "-c", "--root", "--name-only", "--no-renames")
    wanted, found, current = set(commits), dict[str, list[str]](), ""
    for word in (os.fsdecode(one) for one in (await mirror.run(*asked, given=given)).split(b"\0")):
        if word in wanted and word not in found:
            current, found[word] = word, []
        elif word and current:
            found[current].append(word)
    return {sha: tuple(paths) for sha, paths in found.items()}
