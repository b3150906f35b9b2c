"""`kr config check [DIR]`: whether a configuration may come into force."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.cli_commands import CommandError, load_settings, print_json
from app.config.loader import load_config
from app.config.problems import ConfigInvalid, Problem
from app.config.shipped import config_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `kr config`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="whether a configuration may come into force")
    check.add_argument("dir", metavar="DIR", nargs="?", type=Path, help="else KR_CONFIG_DIR")
    check.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """Print what is wrong. 0 for a valid configuration, 1 for an invalid one, 2 if unreadable."""
    folder: Path = args.dir or config_folder(load_settings())
    errors: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()
    try:
        warnings = load_config(folder).warnings
    except ConfigInvalid as invalid:
        errors = invalid.errors
    except OSError as error:
        raise CommandError(f"cannot read {error.filename or folder}: {error.strerror}", 2) from None
    if args.json:
        print_json(as_json(errors, warnings))
    else:
        print(as_text(folder, errors, warnings))
    return 1 if errors else 0


def as_json(errors: Sequence[Problem], warnings: Sequence[Problem]) -> dict[str, Any]:
    """The findings as scripts read them."""
    return {
        "ok": not errors,
        "errors": [asdict(problem) for problem in errors],
        "warnings": [asdict(problem) for problem in warnings],
    }


def as_text(folder: Path, errors: Sequence[Problem], warnings: Sequence[Problem]) -> str:
    """The findings as people read them, each on a line that editors can follow."""
    lines = [str(problem) for problem in errors]
    lines += [f"{problem} (warning)" for problem in warnings]
    lines.append(f"{folder}: {'invalid' if errors else 'valid'}")
    return "\n".join(lines)
