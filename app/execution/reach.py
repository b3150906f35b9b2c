"""What a run may reach, and how much of it the kernel can express.

Mounts and Landlock know files and folders, no patterns: what is finer than that is left to the
judgement on the diff (specs/1, FR-018), and told in notes.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.scopes.patterns import Kind, Shape, shape

GUARDED = (".git", ".github/AGENT_SCOPES", ".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""What decides who may write, and git's own: in nobody's scope."""
_OF_MIRROR = (
    "HEAD config objects refs packed-refs shallow info/exclude info/sparse-checkout".split()
)
"""Of the repository behind a worktree, what reading needs."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a run may reach."""

    worktree: Path
    writable: tuple[str, ...]
    """Its scope: paths inside the worktree, `.` for all of it. A slash at the end says that one
    which does not exist yet is a folder; without it a name with a dot or a capital is a file."""
    forwarder: tuple[str, int] | None
    """Host and port on loopback; None for no network at all."""
    programs: tuple[Path, ...] = ()
    """What its program needs besides the system's own, for reading."""
    notes: tuple[str, ...] = ()
    """Where the kernel allows more, or less, than the scope says; for people."""


def writable_of(patterns: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths for `Reach.writable` that cover patterns of a scope file, and notes on them.

    A pattern that is no plain path gives the nearest folder: it allows more than the pattern.
    """
    paths: list[str] = []
    notes: list[str] = []
    for pattern in patterns:
        found = shape(pattern)
        if found is None:
            continue
        path, exact = _nearest(found, pattern)
        paths.append(path)
        if not exact:
            where = "the whole worktree" if path == "." else path
            notes.append(f"{pattern}: the kernel lets it write {where}; the diff is judged exactly")
    return tuple(dict.fromkeys(paths)), tuple(notes)


def _nearest(found: Shape, pattern: str) -> tuple[str, bool]:
    names: list[str] = []
    for level in found.levels:
        if level.kind is not Kind.LITERAL:
            break
        names.append(level.text)
    exact = len(names) == len(found.levels)
    if not names:
        return ".", exact
    folder = not exact or not found.itself or pattern.endswith("/**")
    return "/".join(names) + "/" * folder, exact


_Made = tuple[Path, int]
"""What we have made, and when it was changed last, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A worktree that is ready for a run: absolute paths, all of which exist."""

    writable: tuple[Path, ...]
    """None lies in another."""
    guarded: tuple[Path, ...]
    """What lies in one of them and stays as it is."""
    notes: tuple[str, ...]
    """Parts of the scope that cannot be opened, and why."""


@contextlib.contextmanager
def prepared(reach: Reach) -> Iterator[Prepared]:
    """Make what is missing of the scope, and remove afterwards what was not used.

    Raises `OSError`.
    """
    made: list[_Made] = []
    found: list[Path] = []
    notes: list[str] = []
    try:
        for path in reach.writable:
            try:
                found.append(_opened(reach.worktree, path, made))
            except ValueError as error:
                notes.append(str(error))
        outer = _outermost(found)
        guarded = tuple(
            there
            for there in (reach.worktree / name for name in GUARDED)
            if os.path.lexists(there) and any(there.is_relative_to(one) for one in outer)
        )
        yield Prepared(outer, guarded, tuple(notes))
    finally:
        for place, since in reversed(made):
            _remove_unused(place, since)


def _opened(worktree: Path, path: str, made: list[_Made]) -> Path:
    """The place a path names, made if it is missing. Raises `ValueError`, `OSError`."""
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names or path.startswith("/"):
        raise ValueError(f"{path}: no path inside the worktree; it cannot be written")
    here = worktree
    for place, name in enumerate(names):
        here = here / name
        last = place == len(names) - 1
        if not os.path.lexists(here):
            _make(here, folder=not last or path.endswith("/") or not _is_file_name(name))
            made.append((here, here.lstat().st_ctime_ns))
        mode = here.lstat().st_mode
        if stat.S_ISLNK(mode):  # it might lead anywhere
            raise ValueError(f"{path}: {here.name} is a symbolic link; it cannot be written")
        if not stat.S_ISDIR(mode) and (not last or path.endswith("/")):
            raise ValueError(f"{path}: {here.name} is no folder; it cannot be written")
    if str(here.relative_to(worktree)) in GUARDED:
        raise ValueError(f"{path}: nobody's scope contains it; it cannot be written")
    return here


def _make(path: Path, folder: bool) -> None:
    if folder:
        path.mkdir()
    else:
        path.touch(exist_ok=False)


def _is_file_name(name: str) -> bool:
    return "." in name.lstrip(".") or name != name.lower()


def _outermost(paths: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(
        one
        for one in dict.fromkeys(paths)
        if not any(one != other and one.is_relative_to(other) for other in paths)
    )


def _remove_unused(path: Path, since: int) -> None:
    with contextlib.suppress(OSError):
        if path.is_symlink():
            return
        if path.is_dir():
            path.rmdir()  # refuses if something is in it
        elif path.stat().st_size == 0 and path.stat().st_ctime_ns == since:
            path.unlink()  # nobody has had it in hand: an empty file may be what was wanted


def around(folder: Path, guarded: Sequence[Path]) -> list[Path]:
    """What together makes up a folder without the guarded, for walls that cannot take away.

    Where something had to be left out, nothing new can be made beside it.
    """
    within = [one for one in guarded if one.is_relative_to(folder)]
    if not within:
        return [folder]
    found: list[Path] = []
    for entry in folder.iterdir():
        if entry not in within and not entry.is_symlink():
            found += around(entry, within)
    return found


def git_parts(worktree: Path) -> tuple[Path, ...]:
    """What reading a worktree needs of the repository behind it; empty for a plain clone.

    Other worktrees' parts, hooks and logs are left out.
    """
    try:
        line = (worktree / ".git").read_text("utf-8")
        admin = (worktree / line.removeprefix("gitdir:").strip()).resolve()
        common = (admin / (admin / "commondir").read_text("utf-8").strip()).resolve()
    except (OSError, UnicodeDecodeError):
        return ()
    parts = [common / name for name in _OF_MIRROR]
    return (admin, *(part for part in parts if part.exists()))
