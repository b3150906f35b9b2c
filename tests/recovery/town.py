"""A whole town: a playground, and the service with servers of its own, to be killed at will."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.cli_commands.demo_setup import make_keys
from app.embedded.files import free_port, private_folder
from app.playground.client import PlaygroundClient
from app.texts.marker import read_marker

REPO = "acme/storefront"
LIMITS = {
    "KR_GITHUB_WRITES_PER_MINUTE": "60000",
    "KR_GITHUB_WRITES_PER_HOUR": "1000000",
    "KR_GITHUB_WRITES_BURST": "1000",
}


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """What `condition` returns once it is true. Fails with `what` after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(httpx.TransportError):
            if found := condition():
                return found
        time.sleep(0.1)
    raise AssertionError(f"after {seconds} s: {what}")


@dataclass
class Town:
    """Start it, act as people through `client`, kill parts, look at what stands."""

    folder: Path
    crash: tuple[str, str, int] | None = None
    without: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Town:
        self.keys = make_keys(private_folder(self.folder / "keys"))
        self.port, playground = free_port(), free_port()
        self.github = f"http://127.0.0.1:{playground}"
        self.service = f"http://127.0.0.1:{self.port}"
        self._box = subprocess.Popen(
            [
                *(sys.executable, "-m", "app.playground", "--port", str(playground)),
                *("--data-dir", str(self.folder / "playground")),
                *("--webhook-url", f"{self.service}/webhooks/github"),
                *("--webhook-secret-file", str(self.keys.webhook_secret)),
                *("--app-public-key-file", str(self.keys.public)),
            ],
            stdout=subprocess.DEVNULL,
        )
        self.client = PlaygroundClient(self.github)
        self.token = self.folder / "crash-token"
        self.start()
        try:
            until(lambda: httpx.get(self.github).status_code < 500, 60, "no playground")
            until(self.ready, 90, "the service is not ready")
        except BaseException:
            self.__exit__()  # nothing of it may go on loading the machine
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._box.kill()
        self._box.wait()

    def start(self) -> None:
        """Start the service under its supervisor."""
        if self.crash:
            self.token.touch()
        options = {"crash": self.crash, "without": self.without, "token": str(self.token)}
        self._service = subprocess.Popen(
            [sys.executable, "-m", "tests.recovery.service", str(self.folder), json.dumps(options)],
            env={
                **os.environ,
                **LIMITS,
                "KR_GITHUB_API_URL": f"{self.github}/api/v3",
                "KR_GITHUB_URL": self.github,
                "KR_GITHUB_APP_ID": "1",
                "KR_GITHUB_PRIVATE_KEY_PATH": str(self.keys.private),
                "KR_GITHUB_WEBHOOK_SECRET": self.keys.webhook_secret.read_text(),
                "KR_PORT": str(self.port),
                "KR_DATA_DIR": str(self.folder),
                **self.env,
            },
        )

    def stop(self) -> None:
        self._service.send_signal(signal.SIGTERM)
        try:
            self._service.wait(20)
        except subprocess.TimeoutExpired:
            self._service.kill()
            self._service.wait()

    def kill_supervisor(self) -> None:
        """Only the parent: its children have to end with it."""
        self._service.kill()
        self._service.wait()

    def ready(self) -> bool:
        warm = "agents" in self.without or list(self.folder.glob("vectors-*.npz"))
        ready = httpx.get(f"{self.service}/readyz").status_code == 200
        return bool(ready and self._signed_on() and warm)

    def _signed_on(self) -> bool:
        metrics = httpx.get(f"{self.service}/metrics").text
        kinds = {"events", "outbox", "agents", "timer"} - set(self.without)
        return all(f'kr_workers{{kind="{kind}"}} ' in metrics for kind in kinds)

    def pids(self) -> dict[str, int]:
        """Name → process id, of the programs and the servers."""
        found: dict[str, int] = json.loads((self.folder / "pids.json").read_text())
        return found

    def kill(self, name: str) -> None:
        """Kill -9 one of them, if it is there just now."""
        pid = self.pids().get(name)
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def open(self, title: str, body: str, label: str = "feature") -> int:
        """A new issue by the maintainer, labelled. Returns its number."""
        mara = self.client.as_user("mara")
        number = int(mara.open_issue(REPO, title, body)["number"])
        mara.label(REPO, number, label)
        return number

    def ours(self, number: int) -> list[dict[str, Any]]:
        """The markers of the App's comments, each with its comment under `comment`."""
        found = []
        for comment in self.client.comments(REPO, number):
            fields = read_marker(comment["body"]) if "[bot]" in _login(comment) else None
            if fields:
                found.append({**fields, "comment": comment})
        return found

    def escalated(self, number: int) -> list[dict[str, Any]]:
        """The questions that wait for a person."""
        return [fields for fields in self.ours(number) if fields.get("state") == "escalated"]

    def status(self, number: int) -> str:
        """The text of the status comment; empty if there is none."""
        texts = [f["comment"]["body"] for f in self.ours(number) if f["kind"] == "status"]
        return str(texts[0]) if texts else ""

    def waits_for_people(self, number: int) -> bool:
        return "waiting for" in self.status(number)

    def done(self, number: int) -> bool:
        return "the specification is written" in self.status(number)

    def nothing_twice(self, number: int) -> None:
        """One status comment, and no key on two comments."""
        fields = self.ours(number)
        keys = [one["key"] for one in fields]
        assert sorted(keys) == sorted(set(keys)), keys
        assert [one["kind"] for one in fields].count("status") == 1


def _login(comment: dict[str, Any]) -> str:
    user = comment["user"]
    return str(user["login"] if isinstance(user, dict) else user)
