"""What happens during the demo, in small steps between two looks of the supervisor."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from app.cli_commands.demo_setup import DemoSetup
from app.cli_commands.running import answers
from app.texts.marker import read_marker

REPOSITORY, ISSUE = "acme/storefront", 1
START_SECONDS = 60.0
DONE_SECONDS = 120.0

Announce = Callable[[str, str], None]


class DemoRun:
    """Waits until all is there, labels the sample issue, says so, and may wait for the question."""

    def __init__(self, setup: DemoSetup, *, until_done: bool, announce: Announce) -> None:
        self._setup = setup
        self._until_done = until_done
        self._announce = announce
        self._begun = time.monotonic()
        self._next_look = 0.0
        self._labelled = False
        self.done = False
        self.failure: str | None = None

    def step(self) -> bool:
        """True once the demo is over; `failure` then says why, if it failed."""
        if time.monotonic() < self._next_look or (self._labelled and not self._until_done):
            return False
        self._next_look = time.monotonic() + 0.3
        if not self._labelled:
            return self._try_to_begin()
        self.done = self._is_done()
        if self.done:
            return True
        return self._too_late(DONE_SECONDS, "the sample feature has escalated no question yet")

    def _try_to_begin(self) -> bool:
        for name, url in (
            ("playground", f"{self._setup.playground}/"),
            ("web process", f"{self._setup.service}/readyz"),
        ):
            if not answers(url):
                return self._too_late(START_SECONDS, f"the {name} does not answer")
        self._label()
        self._labelled = True
        self._announce(f"{self._setup.playground}/{REPOSITORY}/issues/{ISSUE}", self._setup.service)
        return False

    def _label(self) -> None:
        from app.playground.client import PlaygroundClient

        person = PlaygroundClient(self._setup.playground).as_user("mara")
        person.label(REPOSITORY, ISSUE, "feature")

    def _is_done(self) -> bool:
        markers = [read_marker(str(comment.get("body", ""))) for comment in self._comments()]
        found = [marker for marker in markers if marker is not None]
        return any(marker.get("state") == "escalated" for marker in found) and any(
            marker.get("kind") == "status" for marker in found
        )

    def _comments(self) -> list[dict[str, Any]]:
        path = f"/api/v3/repos/{REPOSITORY}/issues/{ISSUE}/comments?per_page=100"
        try:
            with urllib.request.urlopen(self._setup.playground + path, timeout=3) as response:  # noqa: S310
                comments = json.load(response)
        except (OSError, ValueError):
            return []
        return comments if isinstance(comments, list) else []

    def _too_late(self, seconds: float, reason: str) -> bool:
        if time.monotonic() - self._begun < seconds:
            return False
        self.failure = f"{reason} after {seconds:.0f} s"
        return True
