"""`/help`: every command, what it does and who may use it."""

from __future__ import annotations

from app.handlers.outcome import Outcome
from app.texts.help import help_text


def help() -> Outcome:
    return Outcome(help_text())
