"""The second wall: what changed in a worktree, judged by the scopes of its base (specs/1, US5).

Reads the files themselves, not what git says of them; git only tells which of the base's files it
need not look at again. A change that is not kept can get into no commit.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.execution.comparing import (
    FOLDER,
    GITLINK,
    Base,
    Change,
    Kind,
    before,
    compared,
    levels,
)
from app.execution.git import GitFailed, names
from app.execution.index import note_index, own_index, touched
from app.execution.tree import point_nowhere, remove_below, scan, strip_folders
from app.execution.worktree import Worktree
from app.scopes import Scopes, Verdict, check, ends, is_guarded
from app.scopes.links import escaped

__all__ = ["Change", "Dropped", "Judged", "Kind", "changes", "drop", "judge", "settled"]

_ROUNDS = 8
"""Links over links that are judged anew, one behind the other."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A change that is not kept, and why, for people."""

    change: Change
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What may be committed, what may not, and what nobody wants to commit."""

    kept: tuple[Change, ...]
    dropped: tuple[Dropped, ...]
    ignored: tuple[Change, ...]
    """Within the scope, and left out by `.gitignore`: neither committed nor worth a word."""


async def changes(worktree: Worktree) -> tuple[Change, ...]:
    """All that is not as in the base, by path. Call it when nobody works there any more.

    Raises `GitFailed`, `TooManyChanges`.
    """
    base = await _base(worktree)
    await own_index(worktree)
    dirty = await touched(worktree)
    submodules = {path for path, (mode, _) in base.items() if mode == GITLINK}
    fresh = await asyncio.to_thread(lambda: list(scan(worktree.path, base.keys(), submodules)))
    ignored = await _ignored(worktree, fresh)
    asked = (worktree.path, base, {*dirty, *submodules}, fresh, ignored)
    return await asyncio.to_thread(compared, *asked)


async def _base(worktree: Worktree) -> Base:
    printed = await worktree.mirror.run("ls-tree", "-r", "-z", "--full-tree", worktree.base)
    rows = (row.split("\t", 1) for row in names(printed))
    return {path: (what.split(" ")[0], what.split(" ")[2]) for what, path in rows}


async def _ignored(worktree: Worktree, fresh: Iterable[str]) -> frozenset[str]:
    asked = [path for path in fresh if not is_guarded(path)]
    if not asked:
        return frozenset()
    # This command knows no literal paths: "./" keeps it from reading magic into ":(top)".
    given = b"".join(b"./" + os.fsencode(path) + b"\0" for path in asked)
    done = await worktree.mirror.ask(
        *("check-ignore", "-z", "--stdin"),
        at=worktree.place,
        given=given,
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    if done.code > 1:
        raise GitFailed("git cannot read the .gitignore files of the worktree; correct them")
    return frozenset(path.removeprefix("./") for path in names(done.output))


def judge(found: Iterable[Change], scopes: Scopes, agent: str) -> Judged:
    """What an agent (`@dede`) may commit, by the scopes of the **base**. Pure."""
    kept: list[Change] = []
    ignored: list[Change] = []
    dropped: list[Dropped] = []
    for one in found:
        if reason := _objection(one, scopes, agent):
            dropped.append(Dropped(one, reason))
        else:
            (ignored if one.kind is Kind.IGNORED else kept).append(one)
    back = {path for one in dropped for path in before(one.change)}
    above = {level for path in back for level in levels(path)}
    blocked = {one for one in kept if one.kind in _APPEARS and _blocked(one.path, back, above)}
    dropped += [
        Dropped(one, "stands where a file has to stay") for one in sorted(blocked, key=_path)
    ]
    return Judged(tuple(one for one in kept if one not in blocked), tuple(dropped), (*ignored,))


_APPEARS = (Kind.ADDED, Kind.RENAMED)


def _objection(one: Change, scopes: Scopes, agent: str) -> str:
    if one.odd:
        return one.odd
    if any(path.rpartition("/")[2].casefold() == ".gitmodules" for path in one.paths):
        return "a submodule brings code of others; a person has to add it"
    if refused := check(scopes, agent, one.paths):
        return _whose(refused[0])
    if one.target is None:
        return ""
    if one.leads_to is None:
        return f"links to {escaped(one.target)}, outside of the repository"
    if refused := check(scopes, agent, ends(scopes, one.leads_to)):
        return f"links to {escaped(one.leads_to)}, which {_whose(refused[0])}"
    return ""


def _whose(verdict: Verdict) -> str:
    if is_guarded(verdict.path):
        return "is guarded: only people change it"
    owners = ", ".join(verdict.owners) or "nobody"
    where = f" (line {verdict.line} of the scopes)" if verdict.line else ""
    return f"belongs to {owners}{where}"


def _blocked(path: str, back: Collection[str], above: Collection[str]) -> bool:
    """Whether it stands in the way of what comes back: one of these is below the other."""
    return path in above or not set(levels(path)).isdisjoint(back)


def _path(one: Change) -> str:
    return one.path


async def drop(worktree: Worktree, dropped: Iterable[Dropped]) -> None:
    """Undo changes: what came is removed, what was there comes back. Raises `GitFailed`."""
    undone = [one.change for one in dropped]
    await asyncio.to_thread(_removed, worktree.path, undone)
    exact = {path for one in undone for path in one.paths}
    folders = {one.path for one in undone if one.mode == FOLDER}
    back = [path for path in await _base(worktree) if path in exact or _is_below(path, folders)]
    if back:
        given = b"\0".join(map(os.fsencode, back)) + b"\0"
        asked = ("checkout-index", "--force", "--index", "-z", "--stdin")
        await worktree.mirror.run(*asked, at=worktree.place, given=given)
        await note_index(worktree)


async def settled(worktree: Worktree, scopes: Scopes, agent: str) -> Judged:
    """Judge, and undo what is not kept, until that changes nothing any more.

    What comes back may be a link, by which one that was kept leads elsewhere. Raises `GitFailed`.
    """
    await asyncio.to_thread(strip_folders, worktree.path)
    dropped: dict[Dropped, None] = {}
    for _ in range(_ROUNDS):
        judged = judge(await changes(worktree), scopes, agent)
        new = [one for one in judged.dropped if one not in dropped]
        if not new:
            return replace(judged, dropped=tuple(dropped))
        dropped.update(dict.fromkeys(new))
        await drop(worktree, judged.dropped)
    raise GitFailed("what was changed cannot be judged: its links lead over each other")


def _removed(root: Path, undone: Iterable[Change]) -> None:
    for one in undone:
        if one.path == ".git":
            point_nowhere(root)
        else:
            remove_below(root, one.path)


def _is_below(path: str, folders: set[str]) -> bool:
    return bool(folders) and not folders.isdisjoint(levels(path))
