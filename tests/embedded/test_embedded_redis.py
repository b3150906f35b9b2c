"""The embedded Redis: private, and back after anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from embedded_help import argv_of, mode, wait_for

from app.embedded import EmbeddedError, EmbeddedRedis
from app.embedded import redis as module
from app.embedded.process import alive


def test_it_answers_to_its_password_only(redis_server: EmbeddedRedis) -> None:
    url = redis_server.start()
    assert url.startswith("redis://:")
    client = redis.Redis.from_url(url)
    assert client.ping()
    assert client.config_get("maxmemory") == {"maxmemory": str(128 * 1024 * 1024)}
    assert client.config_get("save") == {"save": ""}
    assert client.config_get("bind") == {"bind": "127.0.0.1"}
    with pytest.raises(redis.AuthenticationError):
        redis.Redis.from_url(f"redis://{url.partition('@')[2]}").ping()


def test_permissions_and_no_secret_on_the_command_line(redis_server: EmbeddedRedis) -> None:
    url = redis_server.start()
    assert mode(redis_server.folder) == 0o700
    assert mode(redis_server.folder / "redis.conf") == 0o600
    assert mode(redis_server.folder / "server.json") == 0o600
    assert redis_server.pid is not None
    assert url.split(":")[2].partition("@")[0] not in argv_of(redis_server.pid)


def test_it_is_back_after_a_kill(redis_server: EmbeddedRedis) -> None:
    url = redis_server.start()
    assert redis_server.pid is not None
    os.kill(redis_server.pid, signal.SIGKILL)
    wait_for(lambda: not redis_server.running())
    begun = time.monotonic()
    assert redis_server.start() == url
    assert time.monotonic() - begun < 10
    assert redis_server.url_if_answering() == url


def test_an_orphan_is_ended_first(redis_server: EmbeddedRedis) -> None:
    url = redis_server.start()
    successor = EmbeddedRedis(redis_server.folder.parent)
    try:
        assert successor.start() == url
        assert not redis_server.running()
    finally:
        successor.stop()


def test_the_server_dies_with_its_parent(redis_server: EmbeddedRedis) -> None:
    script = (
        "import sys, time; from pathlib import Path; from app.embedded import EmbeddedRedis\n"
        "s = EmbeddedRedis(Path(sys.argv[1])); s.start(); print(s.pid, flush=True); time.sleep(60)"
    )
    argv = [sys.executable, "-c", script, str(redis_server.folder.parent)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    wait_for(lambda: not alive(pid), 5)


def test_without_a_server_the_error_installs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "package_folder", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmbeddedError, match=r"install redis"):
        EmbeddedRedis(tmp_path / "kr").start()
