"""The files by which a pool of worktrees knows what is leased, idle, or left by the dead."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from app.execution.repository import Mirror
from app.execution.tree import remove


def is_whole(idle: Path, mirror: Mirror) -> bool:
    """Whether an idle worktree can be used: the mirror may have been made anew since."""
    slot = idle.with_suffix("")
    admin = mirror.path / "worktrees" / slot.name
    gitdir, commondir = admin / "gitdir", admin / "commondir"
    try:
        pointers = gitdir.read_text().strip(), commondir.read_text().strip()
    except OSError:
        return False
    return pointers == (str(slot / ".git"), "../..") and slot.is_dir() and not slot.is_symlink()


def usable(pool: Path, mirror: Mirror, base: str, *, only: bool = False) -> Path | None:
    """The `.idle` of a worktree for the next task, best of one that was at the same commit.

    With `only`, of no other; without, those of a mirror that is no more are set aside: call it with
    the pool's lock, then.
    """
    other = None
    for one in pool.glob("*.idle"):
        if is_whole(one, mirror):
            if _told(one).get("base") == base:
                return one
            other = other or one
        elif not only:
            set_aside(one.with_suffix(""))
    return None if only else other


def idle(pool: Path) -> list[Path]:
    """The folders that wait for the next task."""
    return [one.with_suffix("") for one in pool.glob("*.idle")]


def set_aside(slot: Path) -> None:
    """Take a worktree out of the pool at once; its files are removed later."""
    with contextlib.suppress(OSError):
        slot.rename(slot.with_suffix(".gone"))
    for what in (".lease", ".idle"):
        slot.with_suffix(what).unlink(missing_ok=True)


def remove_strays(pool: Path) -> None:
    """What a process left that was killed between two steps. Only with the pool's lock."""
    for one in list(pool.iterdir()):
        leased, there = one.with_suffix(".lease").exists(), one.with_suffix("").exists()
        if one.suffix == ".new" or (one.suffix == ".idle" and (leased or not there)):
            one.unlink(missing_ok=True)
    for one in list(pool.iterdir()):
        stands = one.with_suffix(".lease").exists() or one.with_suffix(".idle").exists()
        if not one.suffix and one.name != "lock" and not stands:
            set_aside(one)


def forget_unknown(mirror: Path, pool: Path) -> None:
    """Git's part of worktrees that are no more. Only while nobody writes into the mirror."""
    known = {one.stem for one in pool.iterdir() if one.suffix in (".lease", ".idle")}
    for admin in mirror.glob("worktrees/*"):
        if admin.name not in known:
            remove(admin)


def remove_gone(pool: Path) -> None:
    """Remove what was set aside, and copies for a commit that never came."""
    for one in pool.glob("*.stage"):
        if not one.with_suffix(".lease").exists():
            remove(one)
    for one in pool.glob("*.gone"):
        remove(one)


def write(path: Path, content: str) -> None:
    """Put a lease, or what stands in its place, there at once."""
    fresh = path.with_suffix(".new")
    fresh.write_text(content)
    fresh.replace(path)


def _told(path: Path) -> dict[str, object]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text())
        return found if isinstance(found, dict) else {}
    return {}


def owner(lease: Path) -> str:
    """Who has it, as `app.execution.locks.us` says it."""
    return str(_told(lease).get("owner", ""))


def branch(lease: Path) -> str:
    """The branch that it was leased for."""
    return str(_told(lease).get("branch", ""))


def size(idle: Path) -> int:
    """Bytes that the worktree takes."""
    found = _told(idle).get("bytes", 0)
    return found if isinstance(found, int) else 0


def since(idle: Path) -> float:
    """When it was given back."""
    try:
        return idle.stat().st_mtime
    except OSError:
        return 0.0
