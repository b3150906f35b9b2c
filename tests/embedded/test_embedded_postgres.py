"""The embedded PostgreSQL: private, and back after anything."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from embedded_help import argv_of, mode, needs_root, wait_for

from app.embedded import EmbeddedError, EmbeddedPostgres
from app.embedded.files import trim_log
from app.embedded.process import alive, working_in


def driver(url: str) -> str:
    return url.replace("+psycopg", "")


def query(url: str, text: str) -> object:
    with psycopg.connect(driver(url), autocommit=True) as connection:
        cursor = connection.execute(text)  # type: ignore[call-overload]
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def keep_something(url: str) -> None:
    query(url, "CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS n")


def test_url_and_extension(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    assert url.startswith("postgresql+psycopg://kr:")
    assert url.endswith("/kr")
    assert "@127.0.0.1:" in url
    assert query(url, "SELECT '[1,2]'::vector <-> '[1,3]'") == 1.0
    assert query(url, "SELECT rolsuper FROM pg_roles WHERE rolname = 'kr'") is False


def test_settings_for_small_machines(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    shown = {name: query(url, f"SHOW {name}") for name in ("shared_buffers", "jit", "fsync")}
    assert shown == {"shared_buffers": "64MB", "jit": "off", "fsync": "on"}
    assert query(url, "SHOW max_connections") == "200"
    state = json.loads((postgres.folder / "server.json").read_text())
    admin = url.replace(f"kr:{state['password']}", f"postgres:{state['admin_password']}")
    assert query(admin, "SHOW unix_socket_directories") == ""
    assert query(admin, "SHOW listen_addresses") == "127.0.0.1"
    methods = "SELECT array_agg(DISTINCT auth_method) FROM pg_hba_file_rules"
    assert query(admin, methods) == ["scram-sha-256"]


def test_a_wrong_password_is_refused(postgres: EmbeddedPostgres) -> None:
    url = driver(postgres.start())
    password = url.split(":")[2].partition("@")[0]
    for wrong in (url.replace(password, "wrong"), url.replace(f":{password}", "")):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(wrong)


def test_permissions_and_no_secret_on_the_command_line(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    assert mode(postgres.folder) == 0o700
    assert mode(postgres.folder / "data") == 0o700
    assert mode(postgres.folder / "server.json") == 0o600
    assert mode(postgres.folder / "server.log") == 0o600
    state = json.loads((postgres.folder / "server.json").read_text())
    pid = postgres.pid
    assert pid is not None
    assert state["password"] not in argv_of(pid)


def test_kill_loses_nothing_and_keeps_the_address(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    keep_something(url)
    pid = postgres.pid
    assert pid is not None
    busy = psycopg.connect(driver(url))
    busy.execute("SELECT 1")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not postgres.running())
    begun = time.monotonic()
    assert postgres.start() == url
    assert time.monotonic() - begun < 10
    busy.close()
    assert query(url, "SELECT n FROM kept") == 42


def test_a_pid_file_that_names_another_process(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    postgres.stop()
    other = subprocess.Popen(["sleep", "60"])
    try:
        (postgres.folder / "data" / "postmaster.pid").write_text(f"{other.pid}\n/x\n1\n5432\n\n\n")
        assert postgres.start() == url
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_an_orphan_is_ended_first(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    orphan = postgres.pid
    assert orphan is not None
    successor = EmbeddedPostgres(postgres.folder.parent)
    try:
        assert successor.start() == url
        assert not postgres.running()
        assert query(url, "SELECT 1") == 1
    finally:
        successor.stop()
    assert working_in(postgres.folder / "data", "postgres") == []


def test_another_port_if_somebody_has_taken_ours(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    postgres.stop()
    port = int(url.rpartition(":")[2].partition("/")[0])
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        moved = postgres.start()
    assert moved != url
    assert query(moved, "SELECT 1") == 1
    assert postgres.url_if_answering() == moved


def test_a_running_server_never_moves(postgres: EmbeddedPostgres) -> None:
    url = postgres.start()
    pid = postgres.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: working_in(postgres.folder / "data", "postgres") == [])
    wait_for(lambda: not postgres.running())
    port = int(url.rpartition(":")[2].partition("/")[0])
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        with pytest.raises(EmbeddedError, match=f"port {port}"):
            postgres.start()
    assert postgres.start() == url


def test_lost_passwords_are_said_to_be_lost(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "data").mkdir(parents=True)
    (tmp_path / "postgres" / "data" / "PG_VERSION").write_text("18\n")
    with pytest.raises(EmbeddedError, match="Restore that file"):
        EmbeddedPostgres(tmp_path).start()


def test_the_server_dies_with_its_parent(postgres: EmbeddedPostgres) -> None:
    keep_something(postgres.start())
    postgres.stop()
    script = (
        "import sys, time; from pathlib import Path; from app.embedded import EmbeddedPostgres\n"
        "s = EmbeddedPostgres(Path(sys.argv[1])); s.start(); print(s.pid, flush=True)\n"
        "time.sleep(60)"
    )
    argv = [sys.executable, "-c", script, str(postgres.folder.parent)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    wait_for(lambda: not alive(pid), 5)
    assert query(postgres.start(), "SELECT n FROM kept") == 42


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    writer = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(writer, b"x" * 5000)
    trim_log(log, limit=1000)
    os.write(writer, b"after")
    os.close(writer)
    assert log.read_bytes() == b"after"
    assert (tmp_path / "server.log.1").stat().st_size == 500


@needs_root
def test_root_hands_the_data_to_nobody(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    pid = postgres.pid
    assert pid is not None
    assert Path(f"/proc/{pid}").stat().st_uid != 0
    assert (postgres.folder / "data").stat().st_uid != 0
    assert postgres.folder.stat().st_uid == 0
    assert mode(postgres.folder.parent.parent) == 0o700
