"""A playground whose App is `github-actions`, so that its token is what a job on a runner has."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.playground.client import PlaygroundClient
from app.playground.server import PlaygroundConfig, create_playground
from tests.playground.conftest import REPO, Receiver, Running, _keys

REFUSAL = "Resource not accessible by integration"


class Gate:
    """Refuses what a token may not do, as GitHub says it; lets all else through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.no_reviews = self.no_resolving = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        refusal = None
        if self.no_reviews and scope["path"].endswith("/reviews"):
            refusal = JSONResponse({"message": REFUSAL}, 403)
        elif self.no_resolving and b"resolveReviewThread(" in body:
            refusal = JSONResponse({"errors": [{"type": "FORBIDDEN", "message": REFUSAL}]})

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await (refusal or self._app)(scope, again, send)


@dataclass
class Forge:
    """The playground, a gate before it, and what a person does there."""

    running: Running
    gate: Gate
    token: str

    def call(self, method: str, path: str, data: dict[str, Any] | None = None) -> Any:
        client = self.running.client.as_user("mara")
        return client.call(method, f"/repos/{REPO}{path}", **({"json": data} if data else {}))

    def branch(self, name: str, files: dict[str, str]) -> str:
        """A new branch, with files."""
        head = self.call("GET", "/git/ref/heads/main")["object"]["sha"]
        self.call("POST", "/git/refs", {"ref": f"refs/heads/{name}", "sha": head})
        for path, text in files.items():
            self.write(name, path, text)
        return name

    def write(self, branch: str, path: str, text: str) -> None:
        found = self.running.call("GET", f"/repos/{REPO}/contents/{path}?ref={branch}", self.token)
        old = {"sha": found.json()["sha"]} if found.status_code == 200 else {}
        content = base64.b64encode(text.encode()).decode()
        data = {"message": f"Write {len(text)}", "content": content, "branch": branch, **old}
        self.call("PUT", f"/contents/{path}", data)

    def propose(self, branch: str, **more: Any) -> int:
        data = {"title": "Take it", "head": branch, "base": "main", **more}
        return int(self.call("POST", "/pulls", data)["number"])

    def reviews(self, number: int) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/pulls/{number}/reviews"))

    def comments(self, number: int) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/pulls/{number}/comments"))


@dataclass
class Runner:
    """What GitHub gives a job: files and variables."""

    folder: Path
    env: dict[str, str]

    @property
    def summary(self) -> str:
        return self._read("summary.md")

    @property
    def output(self) -> dict[str, str]:
        lines = self._read("output").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def _read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""


def runner(forge: Forge, folder: Path, number: int, **env: str) -> Runner:
    """A job for the pull request as it is now; nothing is left of earlier ones."""
    folder.mkdir(exist_ok=True)
    for name in ("summary.md", "output"):
        (folder / name).unlink(missing_ok=True)
    payload = {
        "action": "synchronize",
        "number": number,
        "pull_request": forge.call("GET", f"/pulls/{number}"),
        "repository": forge.call("GET", ""),
        "sender": {"login": "mara", "type": "User"},
    }
    (folder / "event.json").write_text(json.dumps(payload))
    given = {
        "KR_ACTION_MODE": "review",
        "KR_ACTION_TOKEN": forge.token,
        "GITHUB_API_URL": forge.running.api,
        "GITHUB_REPOSITORY": REPO,
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    return Runner(folder, given | env)


@pytest.fixture(scope="session")
def _forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Gate]]:
    private, public = _keys()
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = PlaygroundConfig(
        base_url=url,
        data_dir=Path(tmp_path_factory.mktemp("forge")),
        webhook_url=None,
        webhook_secret="a secret of the tests",
        app_slug="github-actions",
        app_public_key_pem=public,
    )
    gate = Gate(create_playground(config))
    server = uvicorn.Server(uvicorn.Config(gate, log_level="warning", access_log=False))
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True
    )
    thread.start()
    end = time.monotonic() + 20
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)
    receiver = Receiver()
    yield Running(url, private, receiver, PlaygroundClient(url)), gate
    server.should_exit = True
    thread.join(5)
    receiver.server_close()


@pytest.fixture
def forge(_forge: tuple[Running, Gate]) -> Forge:
    """As at the start."""
    running, gate = _forge
    running.client.reset()
    gate.no_reviews = gate.no_resolving = False
    return Forge(running, gate, running.installation_token())
