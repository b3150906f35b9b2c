"""The commands of `kr`, a module each: `add_arguments(parser)` and `run(args) -> exit code`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.settings import Settings


class CommandError(Exception):
    """Ends a command with one line on stderr and an exit code."""

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def read_text(name: str) -> str:
    """The text of a file, or of standard input for `-`. Raises `CommandError` (exit 2)."""
    try:
        if name == "-":
            return sys.stdin.buffer.read().decode()
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror}", 2) from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not UTF-8 text", 2) from None


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(document, ensure_ascii=False, indent=2, default=str), flush=True)


def load_settings() -> Settings:
    """The settings from the environment. Raises `CommandError` (exit 2) naming the wrong ones."""
    from pydantic import ValidationError

    from app.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        wrong = [f"KR_{'_'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors()]
        raise CommandError("wrong settings: " + "; ".join(wrong), 2) from None
