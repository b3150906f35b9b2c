"""`/help`, generated from `app.commands.SPECS`: what is not there is not promised."""

from __future__ import annotations

from app.commands import SPECS
from app.texts.safe import cell


def help_text() -> str:
    """A table of the commands that work now, and the names of those that come later."""
    rows = [
        f"| `{spec.usage.replace('|', chr(92) + '|')}` | {cell(spec.summary)} | {spec.who.value} |"
        for spec in SPECS.values()
        if spec.available
    ]
    later = ", ".join(f"`/{spec.name}`" for spec in SPECS.values() if not spec.available)
    lines = [
        "Commands stand at the start of a line; `@baron confirm` works as well as `/confirm`.",
        "",
        "| Command | What it does | Who may use it |",
        "|---|---|---|",
        *rows,
    ]
    if later:
        lines += ["", f"<sub>Understood, but not available yet: {later}.</sub>"]
    return "\n".join(lines)
