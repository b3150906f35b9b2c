"""A playground in this process, behind a real server."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from app.playground.client import PlaygroundClient
from app.playground.config import GivenApp
from app.playground.server import PlaygroundConfig, create_playground

SECRET = "a secret of the tests"
REPO = "acme/storefront"


class Receiver(ThreadingHTTPServer):
    """Takes webhooks; answers with `status` and one sentence."""

    daemon_threads = True
    status = 202

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/webhooks/github"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(b"Stored, thank you.")

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Running:
    """A playground with everything that tests need to use it."""

    url: str
    private_key: str
    receiver: Receiver
    client: PlaygroundClient
    app_id: str = "1"
    """Of the App that `as_app` and `as_bot` are."""
    _token: str = field(default="")

    @property
    def api(self) -> str:
        return f"{self.url}/api/v3"

    def app_jwt(self, **changed: Any) -> str:
        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + 500, "iss": self.app_id, **changed}
        return jwt.encode(claims, self.private_key, algorithm="RS256")

    def as_app(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        return self.call(method, path, self.app_jwt(), **kwargs)

    def call(self, method: str, path: str, token: str | None, **kwargs: Any) -> httpx.Response:
        headers = {**kwargs.pop("headers", {})}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return httpx.request(method, self.api + path, headers=headers, timeout=20, **kwargs)

    def installation_token(self) -> str:
        number = self.as_app("GET", f"/repos/{REPO}/installation").json()["id"]
        answer = self.as_app("POST", f"/app/installations/{number}/access_tokens")
        assert answer.status_code == 201
        return str(answer.json()["token"])

    def as_bot(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        self._token = self._token or self.installation_token()
        return self.call(method, f"/repos/{REPO}{path}", self._token, **kwargs)


def _keys() -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private, public.decode()


@contextmanager
def served(folder: Path, **more: Any) -> Iterator[Running]:
    """Serve one; `more` is for its configuration."""
    private, public = _keys()
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    receiver = Receiver()
    threading.Thread(target=receiver.serve_forever, args=(0.02,), daemon=True).start()
    config = PlaygroundConfig(
        base_url=url,
        data_dir=folder,
        webhook_url=receiver.url,
        webhook_secret=SECRET,
        app_public_key_pem=public,
        **more,
    )
    server = uvicorn.Server(
        uvicorn.Config(create_playground(config), log_level="warning", access_log=False)
    )
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True
    )
    thread.start()
    end = time.monotonic() + 20
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)
    yield Running(url, private, receiver, PlaygroundClient(url))
    server.should_exit = True
    thread.join(5)
    receiver.shutdown()
    receiver.server_close()


@pytest.fixture(scope="session")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(Path(tmp_path_factory.mktemp("playground"))) as running:
        yield running


def _fresh(running: Running) -> Running:
    running.client.settle()
    running.client.reset()
    running.receiver.got.clear()
    running.receiver.status = 202
    return replace(running, _token="")


@pytest.fixture
def playground(_served: Running) -> Running:
    """As at the start."""
    return _fresh(_served)


@dataclass(frozen=True)
class Two:
    """One playground with two Apps: baron, and degaulle beside it."""

    first: Running
    second: Running


@pytest.fixture(scope="session")
def _served_two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    private, public = _keys()
    further = (GivenApp("2", "degaulle", public),)
    with served(Path(tmp_path_factory.mktemp("two")), further=further) as running:
        yield Two(running, replace(running, private_key=private, app_id="2"))


@pytest.fixture
def two(_served_two: Two) -> Two:
    """As at the start, with both Apps installed."""
    return Two(_fresh(_served_two.first), replace(_served_two.second, _token=""))
