"""The App's manifest: what GitHub asks the operator to agree to, and nothing more.

GitHub sends the operator back with a code, which is good for one hour and one use; for it, it
tells the new App's id, private key and webhook secret (GitHub: registering an App from a manifest).
"""

from __future__ import annotations

import json
import re
import secrets
import shlex
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.embedded.errors import EmbeddedError
from app.embedded.files import private_folder, write_private
from app.settings import Settings
from app.web.webhooks import PATH

KEY_FILE = "github-app.pem"
SETTINGS_FILE = "settings.env"
_CODE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST_STATES = 100
_STATE_LIFE = 3600.0
"""Seconds, as long as GitHub's code lives."""


def manifest(settings: Settings) -> str:
    """JSON of the manifest (GitHub: registering an App from a manifest)."""
    return json.dumps(
        {
            "name": "baron",
            "url": settings.base_url,
            "hook_attributes": {"url": settings.base_url + PATH, "active": True},
            "redirect_url": settings.base_url + "/setup",
            "public": False,
            "default_permissions": {
                "issues": "write",
                "contents": "write",
                "pull_requests": "write",
                "checks": "write",
                "workflows": "write",
                "members": "read",
                "metadata": "read",
            },
            "default_events": ["issues", "issue_comment", "pull_request", "push"],
        }
    )


class SetupFailed(Exception):
    """The App's keys could not be fetched or kept; the text says what to do, with a status."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class States:
    """Words that were sent to GitHub with the form, so that only its answer to us is taken."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: dict[str, float] = {}
        self._guard = threading.Lock()

    def make(self) -> str:
        """A new word, good for an hour."""
        state = secrets.token_urlsafe(24)
        with self._guard:
            while len(self._made) >= _MOST_STATES:
                del self._made[next(iter(self._made))]
            self._made[state] = self._clock()
        return state

    def knows(self, state: str) -> bool:
        """Whether it was made here within the hour."""
        with self._guard:
            made = self._made.get(state)
        return made is not None and self._clock() - made < _STATE_LIFE


@dataclass(frozen=True, slots=True)
class NewApp:
    """What GitHub made; the secrets stay out of its `repr`."""

    id: int
    html_url: str
    pem: str = field(repr=False)
    webhook_secret: str = field(repr=False)


class KeyFolder:
    """`keys` in the data folder, where a new App's key and settings are put, once."""

    def __init__(self, settings: Settings) -> None:
        self._api = settings.github_api_url
        self._folder = settings.data_dir / "keys"
        self._taking = threading.Lock()

    @property
    def settings_file(self) -> Path:
        """The file that the operator loads into the environment."""
        return self._folder / SETTINGS_FILE

    @property
    def filled(self) -> bool:
        """Whether an App's key was put there already."""
        return self.settings_file.exists() or (self._folder / KEY_FILE).exists()

    def take(self, code: str) -> NewApp:
        """Exchange GitHub's code for the App's keys, and keep them. Raises `SetupFailed`.

        Keys that are there already are never overwritten: GitHub shows a key only once.
        """
        if not _CODE.fullmatch(code):
            raise SetupFailed("This is no code of GitHub's. Begin again at /setup.", 400)
        with self._taking:
            if self.filled:
                raise SetupFailed(
                    f"{self._folder} holds an App's keys already. Use them, or move them away and"
                    " begin again at /setup.",
                    409,
                )
            self._make_ready()
            made = _convert(self._api, code)
            self._keep(made)
        return made

    def _make_ready(self) -> None:
        """The code works once: find out before whether there is a place for what it brings."""
        try:
            probe = private_folder(self._folder) / ".probe"
            write_private(probe, "")
            probe.unlink()
        except (EmbeddedError, OSError) as error:
            raise SetupFailed(
                f"{self._folder} cannot be written: {error}. Mend that and load this page again.",
                500,
            ) from error

    def _keep(self, made: NewApp) -> None:
        key = self._folder.absolute() / KEY_FILE
        lines = {
            "KR_GITHUB_APP_ID": str(made.id),
            "KR_GITHUB_PRIVATE_KEY_PATH": str(key),
            "KR_GITHUB_WEBHOOK_SECRET": made.webhook_secret,
        }
        try:
            write_private(key, made.pem)
            write_private(
                self.settings_file,
                "".join(f"{name}={shlex.quote(value)}\n" for name, value in lines.items()),
            )
        except OSError as error:
            raise SetupFailed(
                f"The App {made.id} is made, but its key could not be written to {self._folder}:"
                f" {error.strerror}. Make a new private key and webhook secret in its settings.",
                500,
            ) from error


def _convert(api: str, code: str) -> NewApp:
    """What GitHub tells for a code, once. Raises `SetupFailed`."""
    try:
        response = httpx.post(
            f"{api}/app-manifests/{code}/conversions",
            headers={
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            timeout=10.0,
        )
    except httpx.HTTPError as error:
        raise SetupFailed(
            f"GitHub did not answer ({type(error).__name__}). Load this page again in a moment.",
            502,
        ) from error
    if response.status_code in {404, 422}:
        raise SetupFailed(
            "GitHub does not know this code: it is good for an hour, and once. Begin again at"
            " /setup; an App that was made meanwhile can be deleted in GitHub's settings.",
            400,
        )
    if response.status_code != 201:
        raise SetupFailed(
            f"GitHub answered {response.status_code}. Load this page again in a moment.", 502
        )
    return _read(response)


def _read(response: httpx.Response) -> NewApp:
    try:
        told: dict[str, Any] = response.json()
        made = NewApp(
            int(told["id"]),
            str(told.get("html_url") or ""),
            str(told["pem"]),
            str(told["webhook_secret"] or ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _not_understood() from error
    if "PRIVATE KEY" not in made.pem or not made.webhook_secret.isprintable():
        raise _not_understood()
    if not made.webhook_secret:
        raise SetupFailed(
            "GitHub made the App without a webhook secret. Delete it in GitHub's settings, and"
            " begin again at /setup.",
            502,
        )
    return made


def _not_understood() -> SetupFailed:
    return SetupFailed(
        "GitHub's answer holds no App. See whether KR_GITHUB_API_URL is the API's address.", 502
    )
