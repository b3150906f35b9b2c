"""Starts the servers that are compared, each pinned to one core."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 60.0
PROBOT = Path(__file__).with_name("probot")


@dataclass(frozen=True)
class Server:
    """One that runs: where its webhook route is."""

    name: str
    port: int
    path: str


@dataclass(frozen=True)
class Program:
    """How to start one. `{port}` in the environment becomes the port that was found free."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    path: str = "/"
    folder: Path | None = None


def python(name: str, module: str, env: Mapping[str, str], path: str = "/") -> Program:
    """A module of ours, with this interpreter."""
    return Program(name, (sys.executable, "-m", module), env, path)


def install_probot(folder: Path) -> Path:
    """Probot and the app beside it, in a folder of its own. Raises `CalledProcessError`."""
    shutil.copytree(PROBOT, folder)
    quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["npm", "install", *quiet], cwd=folder, check=True, stdout=sys.stderr)
    return folder


def probot(folder: Path, private_key: str, secret: str) -> Program:
    """Probot as its documentation starts it in production, without its log of requests."""
    runner = folder / "node_modules" / "probot" / "bin" / "probot.js"
    env = {
        "APP_ID": "1",
        "PRIVATE_KEY": private_key,
        "WEBHOOK_SECRET": secret,
        "PORT": "{port}",
        "HOST": "127.0.0.1",
        "NODE_ENV": "production",
        "LOG_LEVEL": "fatal",
    }
    argv = ("node", str(runner), "run", "./app.js")
    return Program("Probot", argv, env, "/api/github/webhooks", folder)


@contextmanager
def running(program: Program, core: int, log: Path) -> Iterator[Server]:
    """The server, listening; ended afterwards. Raises `SystemExit` if it does not come up."""
    port = _free_port()
    env = os.environ | {name: value.format(port=port) for name, value in program.env.items()}
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["taskset", "--cpu-list", str(core), *program.argv],
            env=env,
            cwd=program.folder,
            stdout=output,
            stderr=output,
        )
    try:
        _wait(program.name, process, port, log)
        yield Server(program.name, port, program.path)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait(name: str, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit(f"{name} did not start:\n{log.read_text(errors='replace')[-2000:]}")
