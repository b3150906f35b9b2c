"""Landlock without anything around it: what it confines, and that it is for good."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from app.execution import landlock

PYTHON = os.path.realpath(sys.executable)
ROOM = Path(landlock.__file__).parent
pytestmark = pytest.mark.needs("landlock")
LIBRARIES = f"[('/usr', landlock.READ), ({sys.base_prefix!r}, landlock.READ)]"


def ran(code: str) -> str:
    """What a program says that may use the room's own modules."""
    begin = f"import os, sys; sys.path.append({str(ROOM)!r}); import landlock, seccomp\n"
    whole = begin + textwrap.dedent(code)
    done = subprocess.run(
        [PYTHON, "-I", "-S", "-c", whole], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tried(path: Path, version: int, action: str) -> str:
    return ran(f"""
        landlock.restrict([({str(path)!r}, landlock.WRITE)], None, {version})
        try:
            {action}
            print("worked")
        except OSError as error:
            print(error.strerror)
    """)


def test_the_version_is_one_we_know() -> None:
    assert 1 <= landlock.abi() <= landlock.NEWEST


@pytest.mark.parametrize("least", range(1, landlock.NEWEST + 1))
def test_every_version_writes_inside_and_not_outside(tmp_path: Path, least: int) -> None:
    version = min(least, landlock.abi())  # an older kernel has fewer
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    assert tried(mine, version, f"open('{mine}/x', 'w')") == "worked"
    assert tried(mine, version, f"open('{other}/x', 'w')") == "Permission denied"
    assert tried(mine, version, f"os.listdir('{other}')") == "Permission denied"


def test_an_older_version_refuses_to_move_between_folders(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x").write_text("1")
    move = f"os.rename('{tmp_path}/a/x', '{tmp_path}/x')"
    assert tried(tmp_path, 1, move) == "Invalid cross-device link"
    assert tried(tmp_path, landlock.abi(), move) == "worked"


def test_a_file_can_be_opened_alone(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    assert tried(tmp_path / "one", landlock.abi(), f"open('{tmp_path}/one', 'w')") == "worked"
    assert tried(tmp_path / "one", landlock.abi(), f"open('{tmp_path}/two')") == "Permission denied"


def test_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    assert tried(tmp_path / "gone", landlock.abi(), f"open('{tmp_path}/x', 'w')") == (
        "Permission denied"
    )


@pytest.mark.needs("landlock-network")
def test_only_named_ports_are_reached() -> None:
    said = ran(f"""
        import socket
        one, two = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
        landlock.restrict({LIBRARIES}, [one.getsockname()[1]])
        socket.create_connection(one.getsockname()).close()
        try:
            socket.create_connection(two.getsockname())
        except PermissionError:
            print("stopped")
        try:
            socket.create_server(("127.0.0.1", 0))
        except PermissionError:
            print("stopped")
    """)
    assert said == "stopped\nstopped"


def test_what_it_starts_is_confined_too(tmp_path: Path) -> None:
    said = ran(f"""
        import subprocess
        rules = {LIBRARIES} + [(at, landlock.READ) for at in ("/bin", "/lib", "/lib64")]
        landlock.restrict(rules, None)
        landlock.restrict([("/", landlock.WRITE)], None)  # a second set only takes away
        print(subprocess.call(["/bin/sh", "-c", "echo x > {tmp_path}/x"]) != 0)
    """)
    assert said == "True"
    assert not (tmp_path / "x").exists()


def test_the_filter_refuses_and_leaves_the_rest_alone() -> None:
    said = ran("""
        import ctypes, subprocess, threading
        if not seccomp.known():
            print("refused", "threads"), exit()
        libc = ctypes.CDLL(None, use_errno=True)
        seccomp.leave_keyrings()
        landlock.no_new_privileges()
        seccomp.refuse()
        print("refused" if libc.unshare(0x20000) < 0 and ctypes.get_errno() == 1 else "open")
        thread = threading.Thread(target=print, args=("threads",))
        thread.start()
        thread.join()
    """)
    assert said.split() == ["refused", "threads"]
