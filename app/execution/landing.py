"""A task's commit comes onto the feature's branch: on top of it, one commit, pushed without force.

Done again after a process died anywhere, it neither loses the commit nor brings it twice: the
commit's trailers tell which task and which run it is of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.execution.branches import Conflict, Rejected, push_commit
from app.execution.git import GitFailed, branch_name, names, one_line
from app.execution.mirror import Mirrors
from app.execution.repository import Mirror

TRIES = 4
"""How often it is put on top of what others pushed meanwhile."""
_RUN = re.compile(r"^Run: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Landed:
    """It stands on the branch, here and at the remote. `sha` is the branch's newest commit."""

    sha: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The commit is not here: the mirror was made anew since."""


async def land(mirrors: Mirrors, repo: str, commit: str, branch: str) -> Landed | Conflict | Lost:
    """Put a commit on top of a branch and push it. Raises `GitFailed`."""
    refused = ""
    for _ in range(TRIES):
        await mirrors.mirror(repo)
        found = await _replayed(mirrors, repo, commit, branch_name(branch))
        if not isinstance(found, Landed):
            return found
        pushed = await push_commit(mirrors, repo, found.sha, branch)
        if not isinstance(pushed, Rejected):
            return Landed(pushed.sha)
        refused = pushed.reason
    raise GitFailed(one_line(f"the branch {branch} does not take our push: {refused}"))


async def _replayed(
    mirrors: Mirrors, repo: str, commit: str, branch: str
) -> Landed | Conflict | Lost:
    async with mirrors.writing(repo) as mirror:
        tip = await mirror.remote(branch)  # never ours: a run without walls could have moved it
        if tip is None:
            raise GitFailed(one_line(f"the branch {branch} is gone; push it again, then `/retry`"))
        if (await mirror.ask("cat-file", "-e", commit + "^{commit}")).code:
            return Lost()
        if await mirror.holds(tip, commit) or await _has(mirror, tip, commit):
            return Landed(tip)
        parent = (await mirror.run("rev-parse", commit + "^")).decode().strip()
        if parent == tip:
            return Landed(commit)
        if not await mirror.holds(tip, parent):
            return Conflict(("the whole branch, whose history was rewritten",))
        return await _on_top(mirror, branch, tip, commit)


async def _has(mirror: Mirror, tip: str, commit: str) -> bool:
    """Whether this very run is on the branch already, as another commit."""
    wanted = _RUN.search(await _message(mirror, commit))
    if wanted is None:
        return False
    asked = ("log", "--format=%B", "-n", "2000", "--end-of-options", f"{commit}^..{tip}")
    done = await mirror.ask(*asked)
    return done.code == 0 and wanted[1] in _RUN.findall(done.output.decode(errors="replace"))


async def _message(mirror: Mirror, commit: str) -> str:
    printed = await mirror.run("log", "-n", "1", "--format=%B", "--end-of-options", commit)
    return printed.decode(errors="replace").strip() + "\n"


async def _on_top(mirror: Mirror, branch: str, tip: str, commit: str) -> Landed | Conflict:
    asked = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", tip, commit)
    done = await mirror.ask(*asked)
    if done.code > 1 or not done.output:
        raise GitFailed(one_line(f"{commit[:10]} cannot be merged into {branch}"))
    tree, *paths = names(done.output)
    if done.code:
        return Conflict(tuple(dict.fromkeys(paths)))
    if tree == (await mirror.run("rev-parse", tip + "^{tree}")).decode().strip():
        return Landed(tip)  # others did the same
    who = (await mirror.run("log", "-n", "1", "--format=%an%x00%ae", commit)).decode().strip()
    name, _, email = who.partition("\0")
    env = {f"GIT_{one}_{key}": value for one in ("AUTHOR", "COMMITTER")
           for key, value in (("NAME", name), ("EMAIL", email))}  # fmt: skip
    text = (await _message(mirror, commit)).encode()
    printed = await mirror.run("commit-tree", tree, "-p", tip, "-F", "-", given=text, env=env)
    return Landed(printed.decode().strip())
