"""One service for each data folder; who else may use its servers; program files within reach."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_help import mode, needs_root

from app.embedded import DataDirLocked, EmbeddedError, Servers, identity, reach_servers


def test_two_starts_in_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "kr"
    with reach_servers(folder, database_url="postgresql://elsewhere/x") as urls:
        assert urls[0] == "postgresql://elsewhere/x"
        assert not (folder / "postgres").exists()
        assert mode(folder) == 0o700
        with pytest.raises(DataDirLocked, match="KR_DATA_DIR") as refusal:
            Servers(folder, database_url="-").start()
        assert refusal.value.pid == os.getpid()
        assert str(os.getpid()) in str(refusal.value)
        with reach_servers(folder, database_url="postgresql://elsewhere/x") as again:
            assert again == urls
    assert Servers(folder, database_url="-").find() == ("-", None)


def test_given_servers_are_left_alone(tmp_path: Path) -> None:
    with reach_servers(tmp_path / "kr", "postgresql://a/b", "redis://c/0") as urls:
        assert urls == ("postgresql://a/b", "redis://c/0")
    assert not (tmp_path / "kr").exists()


def test_an_existing_data_folder_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with reach_servers(tmp_path, database_url="-"):
        pass
    assert mode(tmp_path) == 0o755


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@needs_root
def test_programs_out_of_reach_are_copied_once(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    program = tmp_path / "site" / "package" / "bin" / "server"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setattr(identity, "_BASES", (str(open_folder),))
    user = identity.unprivileged_user()
    copies = {
        identity.within_reach(tmp_path / "site", ["package"], "package/bin/server", user)
        for _ in range(2)
    }
    (copy,) = copies
    assert copy.is_relative_to(open_folder)
    assert identity.reachable(copy / "package" / "bin" / "server", user)
    assert mode(copy / "package" / "bin" / "server") == 0o755
    assert mode(tmp_path) == 0o700


@needs_root
def test_a_folder_that_others_may_write_is_not_trusted(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "server"
    program.write_text("")
    trap = open_folder / f"knowledge-router-{os.geteuid()}"
    trap.mkdir()
    trap.chmod(0o777)
    monkeypatch.setattr(identity, "_BASES", (str(open_folder),))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(open_folder))
    with pytest.raises(EmbeddedError, match="cannot reach"):
        identity.within_reach(tmp_path, [], "server", identity.unprivileged_user())
