"""Fixtures for all tests, and the marker `needs`: what a test needs of the machine.

A test that needs a missing part is skipped; with `KR_REQUIRE_ALL=1` it fails instead.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache

import pytest

from app.agents.claude import find_claude
from app.cli_commands.demo_setup import MODEL_KEYS

pytest_plugins = ["tests.servers"]

for _name in MODEL_KEYS:  # whoever runs the tests spends nothing, and every test begins alike
    os.environ.pop(_name, None)

_LANDLOCK_CREATE_RULESET = 444
_ASK_VERSION = 1


def _program(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def _landlock(least: int = 1) -> bool:
    """Whether the kernel confines processes: it names the version of its interface."""
    if not sys.platform.startswith("linux"):
        return False
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    version = syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return bool(version >= least)


def _docker() -> bool:
    """Whether there is a daemon that answers, not only a client."""
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False)
    return asked.returncode == 0


PARTS: dict[str, Callable[[], bool]] = {
    "bubblewrap": _program("bwrap"),
    "chromium": _program("chromium", "chromium-browser", "google-chrome"),
    "claude": lambda: find_claude() is not None,
    "docker": _docker,
    "git": _program("git"),
    "landlock": _landlock,
    "landlock-network": lambda: _landlock(4),
    "node": _program("node"),
    "npm": _program("npm"),
}


@cache
def _is_here(part: str) -> bool:
    return PARTS[part]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A part that nobody looks for is a mistake in the test, not a reason to skip it."""
    for item in items:
        for part in _needed(item):
            if part not in PARTS:
                known = ", ".join(sorted(PARTS))
                raise pytest.UsageError(f"{item.nodeid} needs {part!r}; known parts: {known}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, or fail, before any fixture starts."""
    missing = [part for part in _needed(item) if not _is_here(part)]
    if not missing:
        return
    reason = f"missing on this machine: {', '.join(missing)}"
    if os.environ.get("KR_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason}, and KR_REQUIRE_ALL=1 wants every test to run", pytrace=False)
    pytest.skip(reason)


def _needed(item: pytest.Item) -> list[str]:
    return [str(part) for marker in item.iter_markers("needs") for part in marker.args]
