"""The commands of `kr`, a module each: `add_arguments(parser)` and `run(args) -> exit code`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from app.settings import Settings


class CommandError(Exception):
    """Ends a command with one line on stderr and an exit code."""

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def read_bytes(name: str) -> bytes:
    """What a file holds, or standard input for `-`. Raises `CommandError` (exit 2)."""
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror}", 2) from None
    except ValueError as error:  # no file can have such a name
        raise CommandError(f"cannot read {name!r}: {error}", 2) from None


def read_text(name: str, *, may_have_nul: bool = False) -> str:
    """The text of a file, or of standard input for `-`, with its line ends as they are.

    Raises `CommandError` (exit 2) if it cannot be read, and for bytes that are no UTF-8 and NUL
    bytes, with the line of the first one, counted from 1.
    """
    data = read_bytes(name)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _no_text(name, line, "this is not UTF-8 text") from None
    return text if may_have_nul else without_nul(name, text)


def without_nul(name: str, text: str) -> str:
    """The text of that file. Raises `CommandError` (exit 2) with the line of a NUL byte in it."""
    place = text.find("\0")
    if place >= 0:
        raise _no_text(name, text.count("\n", 0, place) + 1, "a NUL byte stands in the text")
    return text


def _no_text(name: str, line: int, what: str) -> CommandError:
    file = "standard input" if name == "-" else name
    return CommandError(f"{file}: line {line}: {what}; save it as UTF-8", 2)


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    print_text(json.dumps(document, ensure_ascii=False, indent=2, default=str))


def print_text(text: str) -> None:
    """The text and a line end on stdout, in UTF-8 whatever the terminal's own encoding is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(errors="backslashreplace") + b"\n")
    sys.stdout.buffer.flush()


def on_one_line(text: str) -> str:
    """Text of others for a terminal: what gives it orders, or is not seen, is written as `\\x1b`.

    Blanks of every kind stay, as French and Japanese texts have their own.
    """
    from app.scopes.links import escaped

    return "".join(
        char if char.isprintable() or category(char) == "Zs" else escaped(char) for char in text
    )


def load_settings() -> Settings:
    """The settings from the environment. Raises `CommandError` (exit 2) naming the wrong ones."""
    from pydantic import ValidationError

    from app.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        wrong = [f"KR_{'_'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors()]
        raise CommandError("wrong settings: " + "; ".join(wrong), 2) from None
