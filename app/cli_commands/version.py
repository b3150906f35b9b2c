"""`kr version`."""

from __future__ import annotations

import argparse
import platform

from app import __version__
from app.cli_commands import print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(args: argparse.Namespace) -> int:
    """Print the version."""
    if args.json:
        print_json({"version": __version__, "python": platform.python_version()})
    else:
        print(f"knowledge-router {__version__}")
    return 0
