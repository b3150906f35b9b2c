"""The project's own files, as git lists them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _listed(*options: str) -> list[str]:
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", *options],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return sorted(name for name in listed.split("\0") if (ROOT / name).is_file())


@cache
def files() -> tuple[str, ...]:
    """Every file that is, or could be, committed: relative paths."""
    return tuple(_listed("--cached", "--others", "--exclude-standard"))


def ignored_but_tracked() -> list[str]:
    return _listed("--cached", "--ignored", "--exclude-standard")


@cache
def read(name: str) -> str:
    """A file's text; bytes that are not UTF-8 are replaced."""
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def texts() -> list[tuple[str, str]]:
    """(path, text) of every file that is text."""
    return [(name, read(name)) for name in files() if "\0" not in read(name)[:8000]]
