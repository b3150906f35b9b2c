"""`kr migrate`."""

from __future__ import annotations

import argparse

from app.cli_commands import load_settings, print_json
from app.cli_commands.running import migrate
from app.embedded import reach_servers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(args: argparse.Namespace) -> int:
    """Bring the database to this version; starts the embedded one for that if need be."""
    settings = load_settings()
    with reach_servers(settings.data_dir, settings.database_url, redis_url="-") as (url, _):
        migrate(url)
    if args.json:
        print_json({"ok": True})
    else:
        print("The database is at this version.")
    return 0
