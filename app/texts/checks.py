"""What the check runs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.texts.safe import cell, one_line


class WrongLike(Protocol):
    """A mistake in a configuration."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def where(self) -> str: ...
    @property
    def what(self) -> str: ...


def config_summary(wrong: Sequence[WrongLike]) -> str:
    """The summary of `baron/config`."""
    if not wrong:
        return "It takes effect within ten seconds of the merge. `/config` shows what is in force."
    rows = [
        f"| `{one_line(one.file, 120)}:{one.line}` | {cell(one_line(one.where, 120))}"
        f" | {cell(one_line(one.what, 300))} |"
        for one in wrong[:200]
    ]
    lines = ["| Line | Key | What |", "|---|---|---|", *rows, ""]
    lines.append("Merged like this, the last good configuration stays in force.")
    return "\n".join(lines)
