"""`kr`: the command line. Each command is a module of `app/cli_commands`, imported when asked for.

Exit codes: 0 fine · 1 the answer is "no" · 2 wrong use or a file that cannot be read · 3 our own
failure.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from app.cli_commands import CommandError

FINE, NO, WRONG_USE, FAILURE = 0, 1, 2, 3
_INTERRUPTED = 130

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("app.cli_commands.up", "run everything: database, queue, web and workers"),
    "serve": ("app.cli_commands.serve", "run the web process only"),
    "worker": ("app.cli_commands.worker", "run the worker processes only"),
    "demo": ("app.cli_commands.demo", "try it without an account, on a GitHub in a box"),
    "migrate": ("app.cli_commands.migrate", "bring the database to this version"),
    "doctor": ("app.cli_commands.doctor", "check the set-up and say what to mend"),
    "playground": ("app.cli_commands.playground", "run the GitHub in a box alone"),
    "route": ("app.cli_commands.route", "say who answers a topic, and why"),
    "ask": ("app.cli_commands.ask", "ask an agent a question"),
    "parse": ("app.cli_commands.parse", "read a comment, gaps or tasks"),
    "scope": ("app.cli_commands.scope", "say who owns paths, and whether an agent may change them"),
    "agents": ("app.cli_commands.agents", "find agent definitions in a folder"),
    "config": ("app.cli_commands.config", "check the configuration"),
    "log": ("app.cli_commands.log", "show a feature's questions and answers"),
    "retro": ("app.cli_commands.retro", "report on a feature"),
    "token": ("app.cli_commands.token", "make a token for the API"),
    "version": ("app.cli_commands.version", "print the version"),
}


class Command(Protocol):
    """What a command's module offers."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Declare the command's own arguments; `--json` is there already."""

    @staticmethod
    def run(args: argparse.Namespace) -> int:
        """Do it and return the exit code. `args.json` says whether to print JSON."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except SystemExit as stop:  # argparse: help, or wrong use
        return stop.code if isinstance(stop.code, int) else WRONG_USE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FINE
    except Exception as error:
        return _explain(error, words)


def _explain(error: Exception, words: Sequence[str]) -> int:
    """One line on stderr, and the exit code."""
    if isinstance(error, CommandError):
        _complain(str(error))
        return error.exit_code
    if isinstance(error, OSError) and error.filename is not None and str(error.filename) in words:
        _complain(f"cannot read {error.filename}: {error.strerror}")
        return WRONG_USE
    return _unexpected(error)


def _run(words: list[str]) -> int:
    wanted = next((word for word in words if not word.startswith("-")), None)
    command = _load(wanted) if wanted in COMMANDS else None
    parser = _parser(wanted, command)
    words, as_json = _without_json(words)
    args = parser.parse_args(words)
    args.json = as_json
    if command is None:
        parser.print_help(sys.stderr)
        return WRONG_USE
    return command.run(args)


def _without_json(words: list[str]) -> tuple[list[str], bool]:
    """`--json` may stand anywhere before a `--`, also behind a subcommand's own arguments."""
    end = words.index("--") if "--" in words else len(words)
    return [w for w in words[:end] if w != "--json"] + words[end:], "--json" in words[:end]


def _load(name: str | None) -> Command:
    module = COMMANDS[name or ""][0]
    try:
        return cast(Command, importlib.import_module(module))
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise CommandError(f"`kr {name}` is not part of this version.", FAILURE) from None


def _parser(wanted: str | None, command: Command | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kr", description="Knowledge Router: asks the right one, once."
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (_, purpose) in COMMANDS.items():
        own = commands.add_parser(
            name, help=purpose, description=_sentence(purpose), conflict_handler="resolve"
        )
        own.add_argument("--json", action="store_true", help="print one JSON document")
        if command is not None and name == wanted:
            command.add_arguments(own)
    return parser


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _version() -> str:
    from app import __version__

    return f"knowledge-router {__version__}"


def _unexpected(error: Exception) -> int:
    if os.environ.get("KR_LOG_LEVEL", "").lower() == "debug":
        import traceback

        traceback.print_exc()
        return FAILURE
    from app.embedded.errors import EmbeddedError

    if isinstance(error, EmbeddedError):
        _complain(str(error))
        return FAILURE
    first = next(iter(str(error).splitlines()), "")
    _complain(f"{type(error).__name__}: {first} (details: run it again with KR_LOG_LEVEL=debug)")
    return FAILURE


def _complain(text: str) -> None:
    sys.stderr.write(f"kr: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
