"""`kr parse …`: what we read in a comment, in an agent's output, or in a tasks.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from typing import Any

from app.cli_commands import CommandError, on_one_line, print_json, print_text, read_bytes
from app.commands import Command, QuestionRef, parse
from app.features.tasks import TaskError, parse_tasks
from app.questions.gaps import parse_gaps

Document = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `comment FILE`, `gaps FILE` and `tasks FILE`."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for kind, (summary, _, _) in _KINDS.items():
        one = kinds.add_parser(kind, help=summary, description=summary)
        one.add_argument("file", metavar="FILE", help="a text in UTF-8; - is standard input")
        # a default here would undo a --json given further left
        one.add_argument(
            "--json",
            action="store_true",
            default=argparse.SUPPRESS,
            help="print one JSON document",
        )


def run(args: argparse.Namespace) -> int:
    """Print what was read: 0 fine, 1 some of it could not be read, 2 the file cannot be read."""
    try:
        text = read_bytes(args.file).decode(errors="replace").removeprefix("\ufeff")
    except CommandError as error:
        print(f"kr parse: {error}", file=sys.stderr)
        return error.exit_code
    _, read, show = _KINDS[args.kind]
    document = read(text)
    if getattr(args, "json", False):
        print_json(document)
    else:
        errors = [f"line {error['line']}: {error['reason']}" for error in document["errors"]]
        print_text("\n".join(map(on_one_line, [*show(document), *errors])))
    return 1 if document["errors"] else 0


def comment(text: str) -> Document:
    """The JSON document for a comment."""
    parsed = parse(text)
    return {
        "commands": [_command(located.command) for located in parsed.commands],
        "errors": [{"line": error.line, "reason": error.reason} for error in parsed.errors],
    }


def gaps(text: str) -> Document:
    """The JSON document for an agent's output."""
    found = parse_gaps(text)
    return {
        "gaps": [asdict(gap) for gap in found.gaps],
        "text": found.text,
        "errors": [asdict(error) for error in found.errors],
    }


def tasks(text: str) -> Document:
    """The JSON document for a tasks.md."""
    found = parse_tasks(text)
    errors = sorted([*found.errors, *_no_text(text)], key=lambda error: error.line)
    return {
        "tasks": [asdict(task) for task in found.tasks],
        "errors": [asdict(error) for error in errors],
    }


def _no_text(text: str) -> Iterator[TaskError]:
    """Lines with bytes that are no text: a path with one of them is another path."""
    for number, line in enumerate(text.split("\n"), start=1):
        if "\ufffd" in line or "\0" in line:
            yield TaskError(number, "some of it is no text; save the file as UTF-8")


def _command(command: Command) -> Document:
    """Name, question and text of every command, and the arguments it has of its own."""
    own = {field.name: getattr(command, field.name) for field in fields(command)}
    shown = {
        name: str(value) if isinstance(value, QuestionRef) else value for name, value in own.items()
    }
    return {"name": command.name, "question": None, "text": "", **shown}


def _show_comment(document: Document) -> list[str]:
    lines = []
    for command in document["commands"]:
        given = [f"{key}={value!r}" for key, value in command.items() if value and key != "name"]
        lines.append(" ".join([f"/{command['name']}", *given]))
    return lines or ["no commands"]


def _show_gaps(document: Document) -> list[str]:
    return [
        f"line {gap['line']}: {gap['topic']} ({gap['urgency']}): {gap['question']}"
        for gap in document["gaps"]
    ] or ["no gaps"]


def _show_tasks(document: Document) -> list[str]:
    lines = []
    for task in document["tasks"]:
        box = "[x]" if task["done"] else "[ ]"
        marks = [name for name in (task["id"], "[P]" if task["parallel"] else "") if name]
        story = [f"[{task['story']}]"] if task["story"] else []
        after = [f"(after {', '.join(task['depends_on'])})"] if task["depends_on"] else []
        words = [f"line {task['line']}:", box, *marks, *story, task["description"], *after]
        lines.append(" ".join(words))
    return lines or ["no tasks"]


# A further kind of text is a row here: its summary, its document, and its lines for people.
_KINDS: dict[str, tuple[str, Callable[[str], Document], Callable[[Document], list[str]]]] = {
    "comment": ("the commands in a comment", comment, _show_comment),
    "gaps": ("the questions in an agent's output", gaps, _show_gaps),
    "tasks": ("the tasks in a tasks.md", tasks, _show_tasks),
}
