"""What a runner's environment asks of the Action: the mode, the pull request, the keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.agents.choosing import Wire
from app.agents.llm import split
from app.events import PullChanged
from app.github.payloads import read_event

MODES = ("scope", "config", "review")
_KEYS: Mapping[Wire, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GOOGLE_API_KEY",
}
_ADDRESSES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL")
_ANSWERS = {"true": True, "false": False}


class WrongUse(Exception):
    """The Action was called for what it cannot do; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Job:
    """What the runner's environment says. `of` raises `WrongUse` for one that is wrong."""

    mode: str
    token: str = field(repr=False)
    api_url: str
    repo: str
    event: PullChanged
    comment: bool = True
    """Whether findings are written on lines, too; in the mode `review`."""
    model: str = ""
    """The one that reviews; empty for its provider's usual one."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The providers' keys and addresses, by the names that `Settings` has for them."""

    @property
    def secrets(self) -> frozenset[str]:
        """Values that must not be said."""
        held = (value for name, value in self.keys.items() if name not in _ADDRESSES)
        return frozenset({self.token, *held})

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Job:
        """Read it. Raises `WrongUse`."""
        mode = env.get("KR_ACTION_MODE", "scope").strip()
        if mode not in MODES:
            raise WrongUse(f"mode is {mode!r}; take one of: {', '.join(MODES)}.")
        token = env.get("KR_ACTION_TOKEN", "").strip()
        if not token:
            raise WrongUse("There is no token; leave the input `token` out, or give one.")
        comment = _ANSWERS.get(env.get("KR_ACTION_COMMENT", "").strip().lower() or "true")
        if comment is None:
            raise WrongUse("comment is neither `true` nor `false`.")
        model = env.get("KR_ACTION_MODEL", "").strip()
        return cls(
            mode=mode,
            token=token,
            api_url=_address(env),
            repo=env.get("GITHUB_REPOSITORY", ""),
            event=_event(env),
            comment=comment,
            model=model,
            keys=_keys(env, model) if mode == "review" else {},
        )


def _address(env: Mapping[str, str]) -> str:
    """Of GitHub's API. Raises `WrongUse`."""
    text = env.get("GITHUB_API_URL", "").strip() or "https://api.github.com"
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise WrongUse("GITHUB_API_URL is no address of an API: `https://api.github.com`.")
    return text


def _keys(env: Mapping[str, str], model: str) -> dict[str, str]:
    """Those of the environment, and the one of the input before them. Raises `WrongUse`."""
    found = {
        name: env[name].strip()
        for name in (*_KEYS.values(), *_ADDRESSES)
        if env.get(name, "").strip()
    }
    key = env.get("KR_ACTION_MODEL_KEY", "").strip()
    if key:
        wire = split(model)[0]
        if wire is None:  # a key must not be shown to another provider than its own
            raise WrongUse(
                "Say with the input `model` whose key `model-key` is: `claude-opus-5-5`,"
                " `gpt-6.1-terra`, `gemini-3.8-flash`, or PROVIDER:MODEL."
            )
        found[_KEYS[wire]] = key
    return found


def _event(env: Mapping[str, str]) -> PullChanged:
    """The pull request, whatever was done to it. Raises `WrongUse`."""
    name = env.get("GITHUB_EVENT_NAME", "")
    if name not in {"pull_request", "pull_request_target"}:
        raise WrongUse(f"This runs on pull_request and pull_request_target, not on {name!r}.")
    try:
        payload: Any = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    except (KeyError, OSError, ValueError, RecursionError) as error:
        raise WrongUse(f"The event's file cannot be read: {error}") from None
    changed = {**payload, "action": "synchronize"} if isinstance(payload, dict) else payload
    event = read_event("pull_request", "action", changed)
    if not isinstance(event, PullChanged):
        raise WrongUse("The event's file holds no pull request.")
    return event
