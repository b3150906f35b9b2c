"""A mirror's own files: kept as we wrote them, and rid of what a killed git left."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from app.execution.tree import remove

_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_ATTRIBUTES = b"* -text -eol -ident -filter -working-tree-encoding !merge !diff !export-subst\n"
"""Above every `.gitattributes`: a file on disk has the very bytes of its blob."""


def seal(path: Path) -> None:
    """Undo what would make git do something for others: configuration, hooks, attributes."""
    _keep(path / "config", _CONFIG)
    (path / "info").mkdir(exist_ok=True)
    _keep(path / "info" / "attributes", _ATTRIBUTES)
    for name in ("hooks", "config.worktree", "info/exclude", "objects/info/alternates"):
        if os.path.lexists(path / name):
            remove(path / name)


def seal_worktree(admin: Path) -> None:
    """The same for git's part of a worktree: it belongs to this mirror, and to no other."""
    if not admin.is_dir():
        return
    _keep(admin / "commondir", b"../..\n")
    for name in ("config.worktree", "hooks", "info"):
        if os.path.lexists(admin / name):
            remove(admin / name)


def size_of(path: Path) -> int:
    """Bytes that a folder takes on disk, about."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total


def _keep(path: Path, wanted: bytes) -> None:
    try:
        if not path.is_symlink() and path.read_bytes() == wanted:
            return
    except OSError:
        pass
    if path.is_dir() and not path.is_symlink():
        remove(path)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(wanted)
    fresh.replace(path)


def beside(path: Path, what: str) -> Path:
    """What stands next to a mirror `name.git`: `name.write`, for example."""
    return path.with_name(f"{path.name.removesuffix('.git')}.{what}")


def tidy(path: Path) -> None:
    """What a killed git leaves. Only with the lock for writing: nobody else is at work then."""
    for name in ("tmp", "old"):
        remove(beside(path, name))
    left = [*path.glob("*.lock"), *path.glob(".*.[0-9]*"), *path.glob("info/.*.[0-9]*")]
    left += [*(path / "refs").rglob("*.lock"), *path.glob("objects/??/tmp_obj_*")]
    left += [*path.glob("objects/pack/tmp_*"), *path.glob("objects/tmp_objdir*")]
    left += [*path.glob("objects/pack/.tmp-*"), *path.glob("objects/incoming-*")]
    for one in left:
        remove(one)
