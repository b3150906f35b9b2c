"""Looks at a folder in which a stranger has written, without following anything in it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.execution.git import GitFailed
from app.scopes.links import followed

POINTER = b"gitdir: /dev/null/knowledge-router\n"
"""The `.git` of a worktree. Nothing can ever be at that path: whatever runs git in the worktree
finds no repository, neither ours nor one further up. We name the real one on each call."""

MAX_BYTES = 100 << 20
"""GitHub takes no larger file."""
MAX_NEW = 200_000
"""Files beside those of the base; above this nobody could judge them."""
MAX_DEPTH, MAX_PATH = 100, 2000
"""Levels, and characters of a path."""
_PART = 1 << 20
_TREE, _LINK, _PLAIN, _EXECUTABLE = "040000", "120000", "100644", "100755"


class TooManyChanges(GitFailed):
    """More new files than anybody can judge."""


@dataclass(frozen=True, slots=True)
class Item:
    """What stands at a path. `blob` is what git would call its content."""

    mode: str
    blob: str = ""
    target: str | None = None
    leads_to: str | None = None
    """Where a link ends, from the root of the worktree; None if that is outside of it."""
    odd: str = ""
    """Why it can be in no commit."""


def scan(root: Path, tracked: Collection[str], submodules: Collection[str]) -> Iterator[str]:
    """The paths of all that git does not know, deepest folders last.

    A folder is named, not entered, where it is git's own, cannot be read, lies too deep or belongs
    to a submodule. Raises `TooManyChanges`.
    """
    folders, count = [""], 0
    while folders:
        folder = folders.pop()
        for entry in _entries(root, folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not _closed(root, path, submodules):
                    folders.append(path)
                    continue
                if path in submodules and _is_empty(root / path):
                    continue
            elif path in tracked or (path == ".git" and points_nowhere(root)):
                continue
            count += 1
            if count > MAX_NEW:
                raise TooManyChanges(f"more than {MAX_NEW:,} new files; remove what was generated")
            yield path


def _entries(root: Path, folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(root / folder) as entries:
        return sorted(entries, key=lambda one: one.name)
    return []


def _closed(root: Path, path: str, submodules: Collection[str]) -> bool:
    name = path.rpartition("/")[2]
    if name.casefold() == ".git" or path in submodules:
        return True
    if path.count("/") >= MAX_DEPTH or len(path) > MAX_PATH:
        return True
    return not os.access(root / path, os.R_OK | os.X_OK)


def _is_empty(folder: Path) -> bool:
    try:
        return not os.listdir(folder)
    except OSError:
        return False


def points_nowhere(root: Path) -> bool:
    """Whether the worktree's `.git` is what we have written."""
    pointer = root / ".git"
    try:
        found = pointer.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(POINTER) or found.st_nlink > 1:
            return False
        return pointer.read_bytes() == POINTER
    except OSError:
        return False


def point_nowhere(root: Path) -> None:
    """Put our `.git` in place of whatever is there."""
    if not points_nowhere(root):
        remove(root / ".git")
        (root / ".git").write_bytes(POINTER)


def look(root: Path, path: str) -> Item | None:
    """What stands at a path; None if nothing does, or if a link stands above it."""
    if not _above_is_plain(root, path):
        return None
    try:
        found = (root / path).lstat()
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return _link(root, path)
    if stat.S_ISDIR(found.st_mode):
        return Item(_TREE, odd=_closed_because(root, path))
    if not stat.S_ISREG(found.st_mode):
        return Item(f"{stat.S_IFMT(found.st_mode):06o}", odd="is no file, but a pipe or a device")
    return _file(root, path, found)


def _file(root: Path, path: str, found: os.stat_result) -> Item:
    mode = _EXECUTABLE if found.st_mode & stat.S_IXUSR else _PLAIN
    if found.st_size > MAX_BYTES:
        return Item(mode, odd="is larger than 100 MB, more than GitHub takes")
    try:
        content = read(root, path)
    except OSError:
        return Item(mode, odd="cannot be read")
    linked = "is a hard link: the same file has another name" if found.st_nlink > 1 else ""
    return Item(mode, blob_of(content), odd=linked)


def _link(root: Path, path: str) -> Item:
    target = os.readlink(root / path)
    return Item(_LINK, blob_of(os.fsencode(target)), target, leads_to(root, path, target))


def _closed_because(root: Path, path: str) -> str:
    if path.rpartition("/")[2].casefold() == ".git":
        return "is git's own"
    if path.count("/") >= MAX_DEPTH or len(path) > MAX_PATH:
        return "lies too deep"
    if not os.access(root / path, os.R_OK | os.X_OK):
        return "cannot be read"
    return "is a folder where git has none"


def read(root: Path, path: str) -> bytes:
    """A file's content, with no link on the way to it. Raises `OSError`."""
    *folders, name = path.split("/")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no file")
        return file.read(MAX_BYTES + 1)


def blob_of(content: bytes) -> str:
    """The id that git gives to a content."""
    # Git's own names, no protection of ours.
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def leads_to(root: Path, path: str, target: str) -> str | None:
    """Where a link ends, through all further links; None if it leaves the worktree."""

    def says(place: str) -> str | None:
        try:
            return os.readlink(root / place)
        except OSError:  # no link, or nothing there
            return None

    return followed(path, target, says)


def strip(path: str) -> None:
    """Take away what is written beside a folder: an access list would go over to all new files."""
    for name in _beside(path):
        with contextlib.suppress(OSError):
            os.removexattr(path, name, follow_symlinks=False)


def strip_folders(root: Path) -> None:
    """The same for all folders of a worktree, none of them a link."""
    for folder, _, _ in os.walk(root):
        strip(folder)


def is_altered(root: Path, path: str, mode: str) -> bool:
    """Whether a file is otherwise than git makes it, in what git does not look at.

    `mode` is what git has for it: `100644`. Another second, another owner's bits: git compares
    whole seconds, and of the mode only who may start it.
    """
    if mode not in (_PLAIN, _EXECUTABLE):
        return False
    try:
        found = (root / path).lstat()
    except OSError:
        return False  # git sees that itself
    wanted = (0o777 if mode == _EXECUTABLE else 0o666) & ~_UMASK
    odd = stat.S_IMODE(found.st_mode) != wanted or found.st_nlink > 1
    return odd or bool(_beside(root / path))


def _beside(path: str | Path) -> list[str]:
    """Names of what is written beside a file's content, but for what the system needs itself."""
    if sys.platform != "linux":
        return []
    with contextlib.suppress(OSError):
        found = os.listxattr(path, follow_symlinks=False)
        return [name for name in found if not name.startswith("security.")]
    return []


def _umask() -> int:
    """Of this process; the call for it would change it for a moment, for all threads."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/status").read_text().split("Umask:")[1].split()[0], 8)
    return 0o022


_UMASK = _umask()


def _above_is_plain(root: Path, path: str) -> bool:
    folders = path.split("/")[:-1]
    for depth in range(1, len(folders) + 1):
        try:
            if not stat.S_ISDIR(root.joinpath(*folders[:depth]).lstat().st_mode):
                return False
        except OSError:
            return False
    return True


def is_folder(root: Path, path: str) -> bool:
    """Whether a folder stands there, reached through folders only."""
    return _above_is_plain(root, f"{path}/.")


def remove_below(root: Path, path: str) -> None:
    """Remove what stands at a path, if no link stands above it."""
    if _above_is_plain(root, path):
        remove(root / path)


def remove(path: Path) -> None:
    """Remove whatever stands there, also what was locked or lies very deep."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
    except OSError:
        return
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    for folder, _, _ in os.walk(path):  # from the top: what was locked is opened on the way
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
    # its `rm` has no limit of depth, where Python has
    subprocess.run(["rm", "-rf", "--", str(path)], check=False, stderr=subprocess.DEVNULL)
