"""`kr worker`: the worker processes."""

from __future__ import annotations

import argparse

from app.cli_commands import load_settings
from app.cli_commands.running import run_programs
from app.cli_commands.up import add_arguments
from app.supervisor import worker_programs

__all__ = ["add_arguments", "run"]


def run(args: argparse.Namespace) -> int:
    """Run KR_WORKERS processes for events, and one each for outbox, agents and timer."""
    settings = load_settings()
    programs = worker_programs(settings.workers)
    return run_programs(settings, programs, quiet=args.quiet, as_json=args.json, share=True)
