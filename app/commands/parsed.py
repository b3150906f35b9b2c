"""What the reading of a comment results in."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.commands.model import Command


@dataclass(frozen=True, slots=True)
class Located:
    """A command and the line it stands on, counted from 1."""

    command: Command
    line: int
    addressed: bool = field(default=False, compare=False)
    """Written as `@baron …` or `/baron …`: meant for us and for no other bot."""


@dataclass(frozen=True, slots=True)
class ParseError:
    """A line that looks like a command and is none; `reason` is a sentence for its writer."""

    line: int
    reason: str
    name: str | None = None
    """The command that was meant, where that is known."""
    addressed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a comment says to us, in its order."""

    commands: tuple[Located, ...]
    errors: tuple[ParseError, ...]
