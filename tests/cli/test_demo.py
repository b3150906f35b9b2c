"""`kr demo`: its preparations, and when it begins and ends."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.cli_commands import demo_run, load_settings
from app.cli_commands.demo_setup import DemoSetup, make_keys, next_free, prepare
from app.texts.marker import marker


class Box(ThreadingHTTPServer):
    """A playground and a web process that say what the test wants."""

    ready = False
    comments: list[dict[str, Any]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Pages(BaseHTTPRequestHandler):
    server: Box

    def do_GET(self) -> None:
        fine = self.path == "/" or self.path.startswith("/api") or self.server.ready
        self.send_response(200 if fine else 503)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.comments).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def box() -> Iterator[Box]:
    server = Box(("127.0.0.1", 0), Pages)
    server.comments = []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def labels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    given: list[str] = []
    monkeypatch.setattr(demo_run.DemoRun, "_label", lambda self: given.append("feature"))
    return given


def running_demo(box: Box, *, until_done: bool) -> tuple[demo_run.DemoRun, list[tuple[str, str]]]:
    said: list[tuple[str, str]] = []
    setup = DemoSetup(box.url, box.url, [], {}, Path())
    demo = demo_run.DemoRun(setup, until_done=until_done, announce=lambda *a: said.append(a))
    return demo, said


def step(demo: demo_run.DemoRun) -> bool:
    demo._next_look = 0.0
    return demo.step()


def test_it_begins_once_all_is_ready(box: Box, labels: list[str]) -> None:
    demo, said = running_demo(box, until_done=False)
    assert not step(demo)
    assert (labels, said) == ([], [])
    box.ready = True
    for _ in range(3):
        assert not step(demo)
    assert labels == ["feature"]
    assert said == [(f"{box.url}/acme/storefront/issues/1", box.url)]


def test_it_ends_with_an_escalated_question_and_a_status(box: Box, labels: list[str]) -> None:
    box.ready = True
    demo, _ = running_demo(box, until_done=True)
    assert not step(demo)
    question = marker("question", "k1", question="Q1", state="escalated")
    box.comments = [{"body": f"{question}\nWhat now?"}, {"body": "no marker"}]
    assert not step(demo)
    assert not demo.done
    box.comments.append({"body": marker("status", "k2") + "\nStatus"})
    assert step(demo)
    assert demo.done
    assert demo.failure is None


def test_it_gives_up_and_says_why(
    box: Box, labels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_run, "START_SECONDS", 0.0)
    demo, said = running_demo(box, until_done=True)
    assert step(demo)
    assert demo.failure is not None
    assert "web process" in demo.failure
    assert said == []


def test_only_the_demos_own_servers_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KR_DATABASE_URL", "postgresql://production")
    monkeypatch.setenv("KR_GITHUB_PRIVATE_KEY", "production")
    monkeypatch.setenv("KR_GITHUB_API_URL", "https://github.example/api/v3")
    setup = prepare(load_settings(), tmp_path, None, "postgresql://demo", "redis://demo")
    assert "production" not in str(setup.env)
    assert setup.env["KR_GITHUB_API_URL"] == f"{setup.playground}/api/v3"
    assert setup.env["KR_DATABASE_URL"] == "postgresql://demo"
    secret = setup.env["KR_GITHUB_WEBHOOK_SECRET"]
    assert all(secret not in word for program in setup.programs for word in program.argv)
    assert [p.name for p in setup.programs[:2]] == ["playground", "web"]


def test_keys_are_private_and_kept(tmp_path: Path) -> None:
    keys = make_keys(tmp_path)
    for path in (keys.private, keys.public, keys.webhook_secret):
        assert path.stat().st_mode & 0o777 == 0o600
    before = keys.private.read_text()
    assert make_keys(tmp_path).private.read_text() == before


def test_the_next_free_port() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert next_free(port) > port
    assert next_free(0) > 0
