"""`kr serve`: the web process."""

from __future__ import annotations

import argparse

from app.cli_commands import load_settings
from app.cli_commands.running import need_port, run_programs
from app.cli_commands.up import add_arguments
from app.supervisor import web

__all__ = ["add_arguments", "run"]


def run(args: argparse.Namespace) -> int:
    """Run the web process until a signal comes."""
    settings = load_settings()
    need_port(settings)
    return run_programs(settings, [web()], quiet=args.quiet, as_json=args.json, share=True)
