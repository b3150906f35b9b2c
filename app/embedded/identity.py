"""Running the servers without root, where we are root.

PostgreSQL refuses to run as root. We add no user and open no folder of somebody else: the servers
run as `nobody`, enter their data folder before they become it, and where `nobody` cannot reach the
program files, a copy of these is laid where it can.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from app.embedded.errors import EmbeddedError

User = tuple[int, int]
_CANDIDATES = ("nobody", "daemon", "bin")
_BASES = ("/var/tmp",)  # noqa: S108 - owner and mode of our folder in it are checked


def unprivileged_user() -> User | None:
    """Whom the servers run as: nobody if we are root, else `None` (ourselves)."""
    if os.geteuid() != 0:
        return None
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return entry.pw_uid, entry.pw_gid
    raise EmbeddedError(
        "the embedded servers do not run as root, and this system has no user `nobody`. "
        "Start `kr` as an ordinary user, or set KR_DATABASE_URL and KR_REDIS_URL."
    )


def hand_over(folder: Path, user: User | None) -> None:
    """Give a data folder to the user that the server runs as, if it belongs to another."""
    if user is None or folder.stat().st_uid == user[0]:
        return
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), *user, follow_symlinks=False)
    os.chown(folder, *user)  # last, so that a run cut short is done again


def package_folder(name: str) -> Path | None:
    """Where a package is installed, without importing it; `None` if it is not."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def reachable(path: Path, user: User | None) -> bool:
    """Whether `user` may read `path` and pass every folder above it."""
    if user is None:
        return True
    real = path.resolve()
    return all(_allows(folder, user, stat.S_IXOTH) for folder in real.parents) and _allows(
        real, user, stat.S_IROTH | stat.S_IXOTH
    )


def _allows(path: Path, user: User, bits: int) -> bool:
    found = path.stat()
    if found.st_uid == user[0]:
        bits <<= 6
    elif found.st_gid == user[1]:
        bits <<= 3
    return found.st_mode & bits == bits


def within_reach(site: Path, parts: Sequence[str], probe: str, user: User | None) -> Path:
    """A folder holding `parts` as `site` does, from which `user` can run `probe`.

    That is `site` itself wherever possible, else a copy that only root can change.
    Raises `EmbeddedError` if there is no place for one.
    """
    if reachable(site / probe, user):
        return site
    for base in (*_BASES, tempfile.gettempdir()):
        folder = _own_folder(Path(base), user)
        if folder is not None:
            return _copy(site, parts, folder / _fingerprint(site / probe))
    raise EmbeddedError(
        f"the user that the embedded servers run as cannot reach {site}, and there is no place "
        "for a copy. Install into a folder that everybody may read, start `kr` as an ordinary "
        "user, or set KR_DATABASE_URL and KR_REDIS_URL."
    )


def _own_folder(base: Path, user: User | None) -> Path | None:
    """Our folder for program files below `base`; `None` if it cannot be, or is not ours."""
    folder = base / f"knowledge-router-{os.geteuid()}"
    try:
        if os.statvfs(base).f_flag & os.ST_NOEXEC:
            return None
        folder.mkdir(mode=0o755, exist_ok=True)
        found = folder.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not ours or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return None
        folder.chmod(0o755)
    except OSError:
        return None
    return folder if reachable(folder, user) else None


def _fingerprint(program: Path) -> str:
    found = program.stat()
    known = f"{program.resolve()} {found.st_size} {found.st_mtime_ns}"
    return f"{program.name}-{hashlib.sha256(known.encode()).hexdigest()[:12]}"


def _copy(site: Path, parts: Sequence[str], target: Path) -> Path:
    if target.is_dir():
        return target
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        for part in parts:
            source = site / part
            if source.is_dir():
                ignored = shutil.ignore_patterns("include", "*.a", "__pycache__")
                shutil.copytree(source, fresh / part, symlinks=True, ignore=ignored)
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        fresh.replace(target)
    except OSError as error:
        if not target.is_dir():  # somebody else was quicker
            raise EmbeddedError(f"cannot copy the server's files to {target}: {error}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target
