"""Prompts are files: `NAME.system.md` and `NAME.user.md`, rendered strictly.

The operator's folder `prompts` may hold files of its own; a missing value is an error, never an
empty place. The version that goes into the log names the file's own number and what it read like.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.agents.protocols import AgentUnavailable, Prompt

SHIPPED = Path(__file__).parent / "prompts"
_FRONT = re.compile(r"\A---\nversion: ([A-Za-z0-9._-]{1,20})\n---\n")


class PromptInvalid(AgentUnavailable):
    """A prompt's file cannot be used; the text says which and why."""


class Prompts:
    """All prompts of a folder, read once; a file missing there is taken from the shipped ones."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            keep_trailing_newline=False,
        )
        self._texts: dict[str, tuple[str, str]] = {}

    def render(self, name: str, system: Mapping[str, Any], user: Mapping[str, Any]) -> Prompt:
        """The prompt `name` with its values. Raises `PromptInvalid`."""
        system_text, version = self._text(f"{name}.system.md")
        user_text, _ = self._text(f"{name}.user.md")
        digest = hashlib.sha256(f"{system_text}\0{user_text}".encode()).hexdigest()[:8]
        return Prompt(
            self._filled(f"{name}.system.md", system_text, system),
            self._filled(f"{name}.user.md", user_text, user),
            f"{name}/{version}-{digest}",
        )

    def _filled(self, file: str, text: str, values: Mapping[str, Any]) -> str:
        try:
            return self._environment.from_string(text).render(values).strip() + "\n"
        except Exception as error:
            raise PromptInvalid(f"prompts/{file}: {error}") from error

    def _text(self, file: str) -> tuple[str, str]:
        if file not in self._texts:
            own = self._folder / file if self._folder else None
            path = own if own and own.is_file() else SHIPPED / file
            text = path.read_text("utf-8").replace("\r\n", "\n")
            front = _FRONT.match(text)
            if front is None and file.endswith(".system.md"):
                raise PromptInvalid(f"prompts/{file}: must begin with ---, version: 1, ---")
            self._texts[file] = (text[front.end() :], front[1]) if front else (text, "")
        return self._texts[file]
