"""`kr playground`: the GitHub in a box, alone."""

from __future__ import annotations

import argparse
import subprocess
import sys

from app.cli_commands import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--port`; the rest goes to `python -m app.playground` as it is."""
    parser.add_argument("--port", type=int, help="default: KR_PLAYGROUND_PORT, 8080")
    parser.add_argument(
        "rest", nargs=argparse.REMAINDER, metavar="-- …", help="more for python -m app.playground"
    )


def run(args: argparse.Namespace) -> int:
    """Run it until it ends."""
    settings = load_settings()
    port = settings.playground_port if args.port is None else args.port
    rest = [word for word in args.rest if word != "--"]
    argv = [sys.executable, "-m", "app.playground", "--port", str(port), *rest]
    with subprocess.Popen(argv) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the terminal has sent it to the child, too
            child.wait()
            return 0
