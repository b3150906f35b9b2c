"""Comparing and merging commits. Blocking, like `git`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from app.playground.git import Git

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}


@dataclass(frozen=True)
class Changed:
    """One file of a comparison; `patch` is empty for binary files."""

    path: str
    status: str
    before: str | None
    sha: str
    additions: int
    deletions: int
    patch: str


def merge_base(git: Git, one: str, two: str) -> str | None:
    """The newest commit that both come from."""
    done = git.run("merge-base", one, two, ok=False)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def ahead_behind(git: Git, base: str, head: str) -> tuple[int, int]:
    """How many commits each has that the other has not: (head's, base's)."""
    behind, ahead = git.text("rev-list", "--left-right", "--count", f"{base}...{head}").split()
    return int(ahead), int(behind)


def commits_between(git: Git, base: str, head: str) -> list[str]:
    """The head's own commits, the oldest first."""
    return git.text("rev-list", "--reverse", "--max-count=250", f"{base}..{head}").split()


def _records(raw: str) -> list[list[str]]:
    """`git diff --raw -z` as [mode …, status, path, (new path)]."""
    parts = raw.split("\0")
    records, at = [], 0
    while at < len(parts) and parts[at].startswith(":"):
        count = 3 if parts[at].split()[4][0] in "RC" else 2
        records.append(parts[at : at + count])
        at += count
    return records


def _patches(git: Git, base: str, head: str) -> list[str]:
    """The patch of every file, in the order of `--raw`, without its head."""
    raw = git.run("diff", "--no-color", "-M", base, head).stdout.decode(errors="replace")
    whole = re.split(r"^diff --git .*\n", raw, flags=re.MULTILINE)[1:]
    starts = ((text, re.search(r"^@@", text, re.MULTILINE)) for text in whole)
    return [text[found.start() :].rstrip("\n") if found else "" for text, found in starts]


def changed_files(git: Git, base: str, head: str) -> list[Changed]:
    """The files that differ between two commits; asked for page by page, so it is kept."""
    return list(_changed_files(git, base, head))


@lru_cache(maxsize=16)
def _changed_files(git: Git, base: str, head: str) -> tuple[Changed, ...]:
    raw = git.run("diff", "--raw", "-z", "-M", "--no-abbrev", base, head).stdout.decode()
    patches = iter(_patches(git, base, head))
    found = []
    for meta, *paths in _records(raw):
        fields = meta.split()
        # a file that becomes a link is two patches: one gone, one new
        several = 2 if fields[4][0] == "T" else 1
        patch = "\n".join(filter(None, (next(patches, "") for _ in range(several))))
        found.append(_changed(fields, paths, patch))
    return tuple(found)


def _changed(meta: list[str], paths: list[str], patch: str) -> Changed:
    _, _, old, new, status = meta
    lines = patch.splitlines()
    return Changed(
        paths[-1],
        _STATUS.get(status[0], "changed"),
        paths[0] if status[0] == "R" else None,
        old if status[0] == "D" else new,
        sum(line.startswith("+") for line in lines),
        sum(line.startswith("-") for line in lines),
        patch,
    )


def commentable(git: Git, base: str, head: str) -> dict[tuple[str, str], set[int]]:
    """The lines that a comparison shows, by (path, `LEFT` or `RIGHT`): only these take comments."""
    lines: dict[tuple[str, str], set[int]] = {}
    for file in changed_files(git, base, head):
        left = lines[file.path, "LEFT"] = set()
        right = lines[file.path, "RIGHT"] = set()
        old = new = 0
        for line in file.patch.splitlines():
            if hunk := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", line):
                old, new = int(hunk[1]), int(hunk[2])
                continue
            if line.startswith(("-", " ")):
                left.add(old)
                old += 1
            if line.startswith(("+", " ")):
                right.add(new)
                new += 1
    return lines


def same_file(git: Git, one: str, two: str, path: str) -> bool:
    """Whether a file is the same in two commits; not if one of them is gone."""
    done = git.run("diff", "--quiet", one, two, "--", path, ok=False)
    return done.returncode == 0


def merged_tree(git: Git, base: str, head: str) -> str | None:
    """The tree of a merge of two commits, or None where they conflict."""
    done = git.run("merge-tree", "--write-tree", base, head, ok=False)
    return done.stdout.decode().split()[0] if done.returncode == 0 else None
