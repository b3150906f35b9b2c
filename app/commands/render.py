"""A command in the form in which it could be typed."""

from __future__ import annotations

from dataclasses import fields

from app.commands.arguments import unquote
from app.commands.model import Command

_ORDER = ("action", "question", "task", "learning", "recommendation", "topic", "status")


def render(command: Command) -> str:
    """One command, ready to copy; reading it again gives the same command."""
    values = {field.name: getattr(command, field.name) for field in fields(command)}
    names = [name for name in _ORDER if name in values]
    names += [name for name in values if name not in (*_ORDER, "text", "reason")]
    words = [_word(name, values[name]) for name in names if values[name]]
    text = values.get("text") or values.get("reason") or ""
    quoted = f'"{text}"'
    if unquote(text) != text or (command.name == "ask" and unquote(quoted) == text):
        text = quoted
    return " ".join([f"/{command.name}", *words, *([text] if text else [])])


def _word(name: str, value: object) -> str:
    return f'"{value}"' if name == "path" and " " in str(value) else str(value)
