"""A pull request read from git: GitHub lists 3,000 files and 250 commits of one, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from app.execution.git import GitFailed, names
from app.execution.mirror import Mirrors
from app.execution.repository import Mirror
from app.scopes.links import ENDLESS, MAX_TARGET, unread
from app.scopes.pulls import Commit, Pull, agents_in, is_bound

_ALL = "--ignore-submodules=none"
"""Our configuration leaves submodules out; between two trees nothing runs in them."""
_LINK, _SUBMODULE = b"120000 ", b"160000 "
_SHA = re.compile(r"[0-9a-f]{40}")
MOST = 200_000
"""Paths of one pull request."""


async def read_large(mirrors: Mirrors, repo: str, base: str, head: str, known: Pull) -> Pull:
    """The same pull request with all its paths and commits. Raises `GitFailed`."""
    mirror = await mirrors.mirror(repo)
    for commit in (base, head):
        if not _SHA.fullmatch(commit) or (await mirror.ask("cat-file", "-e", commit)).code:
            raise GitFailed("its commits are on no branch of this repository")
    asked = ("diff", "--name-only", "-z", "--no-renames", _ALL, f"{base}...{head}", "--")
    paths = _plain(await mirror.run(*asked))
    if len(paths) > MOST:
        raise GitFailed(f"it changes more than {MOST} paths")
    commits = await _commits(mirror, base, head, known)
    pull = replace(known, paths=tuple(paths), commits=commits, complete=True)
    return await _with_links(mirror, head, pull) if is_bound(pull) else pull


def _plain(printed: bytes) -> list[str]:
    """Paths; bytes that are no UTF-8 as `\\xff`: nobody owns a path with a backslash in it."""
    return [one.decode("utf-8", "backslashreplace") for one in printed.split(b"\0") if one]


async def _with_links(mirror: Mirror, head: str, pull: Pull) -> Pull:
    """With the links and submodules among its paths, as the tree of the head has them."""
    printed = await mirror.run("ls-tree", "-r", "-z", "--full-tree", head)
    rows = [one for one in printed.split(b"\0") if one.startswith((_LINK, _SUBMODULE))]
    there = dict(
        zip(_plain(b"\0".join(row.partition(b"\t")[2] for row in rows)), rows, strict=True)
    )
    changed = [path for path in dict.fromkeys(pull.paths) if path in there]
    modules = {path for path, row in there.items() if row.startswith(_SUBMODULE)}
    blobs = {path: row.split()[2].decode() for path, row in there.items() if path not in modules}
    asked, links = [path for path in changed if path in blobs], dict[str, str]()
    while more := unread(asked, blobs, links):
        told = await _targets(mirror, [blobs[path] for path in more])
        links |= dict(zip(more, told, strict=True))
    submodules = tuple(path for path in changed if path in modules)
    return replace(pull, links=links, submodules=submodules)


async def _targets(mirror: Mirror, blobs: Iterable[str]) -> list[str]:
    given = "".join(f"{sha}\n" for sha in blobs).encode()
    printed, found = await mirror.run("cat-file", "--batch", given=given), list[str]()
    at = 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        size = int(printed[at:end].rpartition(b" ")[2])
        at = end + 1
        told = printed[at : at + min(size, MAX_TARGET)].decode("utf-8", "backslashreplace")
        found.append(told if size <= MAX_TARGET else ENDLESS)
        at += size + 1
    return found


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
    """Commit → what it changes; of a merge what neither side had so.

    A file may be named like a commit: a path is what follows a record, which begins with a colon.
    """
    given = "".join(f"{sha}\n" for sha in commits).encode()
    shown = ("--raw", "--no-renames", _ALL)
    asked = ("diff-tree", "--stdin", "-z", "-r", "-c", "--root", *shown)
    found, current, words = dict[str, list[str]](), "", iter(
        (await mirror.run(*asked, given=given)).split(b"\0")
    )  # fmt: skip
    for word in words:
        if word.startswith(b":"):
            found[current] += _plain(next(words, b""))
        elif word:
            current = word.decode("ascii", "replace").strip()
            found.setdefault(current, [])
    return {sha: tuple(paths) for sha, paths in found.items()}
