"""`kr demo`: everything on this machine, with a GitHub in a box."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from app.cli_commands import CommandError, load_settings, print_json
from app.cli_commands.demo_crew import hire
from app.cli_commands.demo_run import Announce, DemoRun
from app.cli_commands.demo_setup import DemoSetup, prepare
from app.cli_commands.running import end_like_ctrl_c, migrate
from app.embedded import Servers
from app.supervisor import Supervisor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--exit-when-done`, `--port`."""
    parser.add_argument(
        "--exit-when-done", action="store_true", help="end once the sample feature has a question"
    )
    parser.add_argument(
        "--port", type=int, help="the playground's port (default: KR_PLAYGROUND_PORT, 8080)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the demo until Ctrl-C, or until the sample feature has escalated a question."""
    settings = load_settings()
    end_like_ctrl_c()
    with _data_folder() as folder:
        servers = Servers(folder)
        try:
            with ThreadPoolExecutor(1) as meanwhile:
                crew = meanwhile.submit(hire, folder)
                database_url, redis_url = servers.start()
            migrate(database_url)
            setup = prepare(settings, folder, args.port, database_url, redis_url, crew.result())
            return _supervise(args, setup, servers)
        finally:
            servers.stop()


def _supervise(args: argparse.Namespace, setup: DemoSetup, servers: Servers) -> int:
    supervisor = Supervisor(setup.programs, env=setup.env, servers=servers, logs=setup.logs)
    demo = DemoRun(setup, until_done=args.exit_when_done, announce=_announcer(args.json))
    print(f"starting … (logs in {setup.logs})", file=sys.stderr, flush=True)
    supervisor.run(demo.step)
    if demo.failure is not None:
        raise CommandError(f"the demo failed: {demo.failure}. {_log_excerpt(setup.logs)}")
    if args.exit_when_done and not demo.done:
        raise CommandError("stopped before the sample feature had its question")
    return 0


def _announcer(as_json: bool) -> Announce:
    def announce(playground: str, service: str) -> None:
        if as_json:
            print_json({"playground": playground, "service": service})
        else:
            print(f"Playground: {playground}", flush=True)
            print(f"dashboard: {service} · stop with Ctrl-C", file=sys.stderr, flush=True)

    return announce


@contextmanager
def _data_folder() -> Iterator[Path]:
    """KR_DATA_DIR if it is set, else a folder that is gone afterwards."""
    given = os.environ.get("KR_DATA_DIR")
    if given:
        yield Path(given).absolute()
        return
    folder = Path(tempfile.mkdtemp(prefix="kr-demo-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _log_excerpt(logs: Path) -> str:
    """The last line of each log, since the folder may be gone in a moment."""
    lines = []
    for path in sorted(logs.glob("*.log")):
        last = path.read_text(errors="replace").strip().splitlines()[-1:]
        lines += [f"  {path.stem}: {line[:300]}" for line in last]
    return "The logs end with:\n" + "\n".join(lines) if lines else ""
