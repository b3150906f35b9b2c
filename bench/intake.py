"""How many webhooks a second are taken in, and how long the slowest of a hundred waits.

Compared, in turns, on this machine: this service, Probot, a FastAPI route that enqueues with RQ,
and a bare route that checks signatures and keeps nothing (the machine's own limit). Each server has
one core; the load generator has another, which PostgreSQL and Redis share with it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from redis import Redis

from app.embedded import Servers
from app.store.migrate import migrate
from bench.load import Figures
from bench.payload import labeled
from bench.servers import Program, Server, install_probot, probot, python, running

SECRET = "bench-secret"
OURS = "Knowledge Router"
LIMIT = "bare route"


@dataclass(frozen=True)
class Backing:
    """PostgreSQL and Redis, and what was kept in them."""

    database_url: str
    redis_url: str

    def deliveries(self) -> int:
        with psycopg.connect(self._plain) as connection:
            row = connection.execute("SELECT count(*) FROM deliveries").fetchone()
        return int(row[0]) if row else 0

    def jobs(self) -> int:
        length = Redis.from_url(self.redis_url).llen("rq:queue:bench")
        assert isinstance(length, int)
        return length

    def empty(self) -> None:
        """Every run begins with as much as the first."""
        Redis.from_url(self.redis_url).flushall()
        with psycopg.connect(self._plain, autocommit=True) as connection:
            connection.execute("TRUNCATE deliveries CASCADE")

    @property
    def _plain(self) -> str:
        return self.database_url.replace("postgresql+psycopg://", "postgresql://")


def private_key() -> str:
    """A key for Probot, which signs nothing with it here."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def programs(backing: Backing, scratch: Path) -> list[Program]:
    """Ours first; Probot only where npm is."""
    ours = {
        "KR_DATABASE_URL": backing.database_url,
        "KR_REDIS_URL": backing.redis_url,
        "KR_GITHUB_WEBHOOK_SECRET": SECRET,
        "KR_PORT": "{port}",
        "KR_WORKERS": "1",
        "KR_LOG_LEVEL": "warning",
    }
    peer = {"BENCH_PORT": "{port}", "BENCH_SECRET": SECRET, "BENCH_REDIS_URL": backing.redis_url}
    chosen = [python(OURS, "app.web", ours, "/webhooks/github")]
    if shutil.which("npm") and shutil.which("node"):
        folder = install_probot(scratch / "probot")
        chosen.append(probot(folder, private_key(), SECRET))
    else:
        print("Probot is left out: npm and node are not installed", file=sys.stderr)
    chosen.append(python("FastAPI + RQ", "bench.peers.fastapi_rq", peer))
    chosen.append(python(LIMIT, "bench.peers.bare", peer))
    return chosen


def load(server: Server, core: int, number: int, args: argparse.Namespace) -> Figures:
    """One run against one server, from a process of its own."""
    command = [
        *("taskset", "--cpu-list", str(core), sys.executable, "-m", "bench.load"),
        *("--port", str(server.port), "--path", server.path),
        *("--run", f"{number:08x}-0000-4000-8000"),
        *("--connections", str(args.connections)),
        *("--warm-up", str(args.warm_up), "--seconds", str(args.seconds)),
    ]
    env = os.environ | {"BENCH_SECRET": SECRET}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{server.name}: the load generator failed\n{done.stderr[-2000:]}")
    sys.stderr.write(done.stderr)
    return Figures(**json.loads(done.stdout))


def measure(
    servers: list[Server], backing: Backing, args: argparse.Namespace
) -> dict[str, list[Figures]]:
    """Round after round, every server once a round. Raises `SystemExit` if something was lost."""
    kept: dict[str, Callable[[], int]] = {OURS: backing.deliveries, "FastAPI + RQ": backing.jobs}
    figures: dict[str, list[Figures]] = {server.name: [] for server in servers}
    for turn in range(args.rounds):
        for at, server in enumerate(servers):
            backing.empty()
            one = load(server, args.load_core, turn * len(servers) + at + 1, args)
            figures[server.name].append(one)
            print(f"round {turn + 1} {server.name:17} {one.per_second:8.0f}/s", file=sys.stderr)
            if server.name in kept and (there := kept[server.name]()) < one.requests - one.refused:
                sys.exit(f"{server.name} answered {one.requests} requests and kept {there}")
    return figures


def table(figures: dict[str, list[Figures]]) -> str:
    """Medians over the rounds, as a Markdown table."""
    ours = _median(figures[OURS], "per_second")
    limit = _median(figures[LIMIT], "per_second")
    rows = [
        "| server | requests/s | p50 ms | p99 ms | of limit | ours ÷ it | refused | generator |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, runs in figures.items():
        speed = _median(runs, "per_second")
        label = f"{name} (the machine's own limit)" if name == LIMIT else name
        rows.append(
            f"| {label} | {speed:,.0f} | {_median(runs, 'p50'):.1f} | {_median(runs, 'p99'):.1f} "
            f"| {speed / limit:.0%} | {ours / speed:.2f} | {sum(run.refused for run in runs)} "
            f"| {_median(runs, 'generator_cpu'):.0%} |"
        )
    return "\n".join(rows)


def _median(runs: list[Figures], name: str) -> float:
    return max(statistics.median(float(getattr(run, name)) for run in runs), 0.001)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0, help="measured, in each run")
    parser.add_argument("--warm-up", type=float, default=2.0, help="seconds before, in each run")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument(
        "--backing-core", type=int, default=1, help="for PostgreSQL and Redis; default: the load's"
    )
    parser.add_argument("--json", action="store_true", help="every run's figures")
    return parser.parse_args()


def check_machine(args: argparse.Namespace) -> None:
    """Raises `SystemExit` where the measurement would mean nothing."""
    if shutil.which("taskset") is None:
        sys.exit("taskset is missing (Debian: util-linux); it pins the servers to a core")
    here = os.sched_getaffinity(0)
    if not {args.server_core, args.load_core, args.backing_core} <= here:
        sys.exit(f"this machine's cores are {sorted(here)}; see --server-core and --load-core")


def main() -> None:
    """`python -m bench.intake`."""
    args = arguments()
    check_machine(args)
    cores = os.sched_getaffinity(0)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kr-bench-")))
        backends = Servers(scratch / "data")
        os.sched_setaffinity(0, {args.backing_core})  # children inherit it
        stack.callback(backends.stop)
        backing = Backing(*backends.start())
        os.sched_setaffinity(0, cores)
        migrate(backing.database_url)
        servers = [
            stack.enter_context(running(program, args.server_core, scratch / f"{at}.log"))
            for at, program in enumerate(programs(backing, scratch))
        ]
        figures = measure(servers, backing, args)
    print(
        f"\n{args.connections} connections, `issues.labeled` of {len(labeled(1)) / 1000:.1f} kB, "
        f"signed; median of {args.rounds} rounds of {args.seconds:g} s\n"
    )
    print(table(figures))
    if args.json:
        print(json.dumps({name: [vars(run) for run in runs] for name, runs in figures.items()}))


if __name__ == "__main__":
    main()
