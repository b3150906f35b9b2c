"""`kr up`: everything in one."""

from __future__ import annotations

import argparse

from app.cli_commands import load_settings
from app.cli_commands.running import need_port, run_programs
from app.supervisor import web, worker_programs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--quiet`."""
    parser.add_argument(
        "--quiet", action="store_true", help="write the processes' logs to KR_DATA_DIR/logs"
    )


def run(args: argparse.Namespace) -> int:
    """Run web and workers, and the servers that no URL is set for, until a signal comes."""
    settings = load_settings()
    need_port(settings)
    programs = [web(), *worker_programs(settings.workers)]
    return run_programs(settings, programs, quiet=args.quiet, as_json=args.json)
