"""Questions in flight on models: a hundred through an API, twenty Claude Code processes.

The model is a scripted server on loopback in a process of its own; everything else is real: the
forwarder, the meter over PostgreSQL, the clients, the CLI. `python -m bench.models`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from app.agents.claude import ClaudeModel, Slots, find_claude
from app.agents.forwarder import Forwarder, Provider
from app.agents.knowing import KnowledgeBackend, Persona
from app.agents.llm import LlmModel
from app.agents.meter import BudgetMeter
from app.agents.models import warm
from app.agents.prices import Prices
from app.agents.prompting import Prompts
from app.agents.protocols import Account, Model
from app.embedded import Servers
from app.questions.caps import Caps
from app.questions.model import Answer, Inquiry
from app.store.engine import connect
from app.store.migrate import migrate
from app.store.spending import Spending

SLOW = 5.0
"""Seconds that the model takes for an answer."""
_REPLY = {"content": "A: Yes.", "rationale": "So.", "confidence": 90, "sources": []}


def serve(seconds: float) -> None:
    """The scripted model: says its address, and serves until its input ends."""
    from tests.agents.scripted import Scene, ScriptedModel, Seen, gives

    def script(seen: Seen) -> Scene:
        return replace(gives(_REPLY), wait=seconds)

    with ScriptedModel(script=script) as model:
        print(model.url, flush=True)
        sys.stdin.read()


def resident() -> float:
    """MiB of this process and its children, without what they share."""
    total = 0
    for pid in [os.getpid(), *_children(os.getpid())]:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(
            int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")
        )
    return total / 1024


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_children(child)]
    return found


async def crowd(model: Model, forwarder: Forwarder, count: int) -> tuple[float, float, int]:
    """Seconds until all have answered, the most MiB on the way, how many answered."""
    await forwarder.start()
    backend = KnowledgeBackend(model, Prompts(), Persona("@duc", "architecture"))
    most, ended = resident(), False

    async def watch() -> None:
        nonlocal most
        while not ended:
            most = max(most, await asyncio.to_thread(resident))
            await asyncio.sleep(0.5)

    async def ask(number: int) -> Answer:
        account = Account(1, number, "acme/storefront", "mara", "architect", f"bench:{number}")
        return await backend.ask(Inquiry("architect", "data", f"Question {number}?"), account, 110)

    watching = asyncio.create_task(watch())
    start = time.perf_counter()
    answers = await asyncio.gather(*(ask(number) for number in range(count)))
    seconds = time.perf_counter() - start
    ended = True
    await watching
    await forwarder.stop()
    return seconds, most, sum(answer.confidence == 90 for answer in answers)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--processes", type=int, default=20)
    args = parser.parse_args()
    if args.serve is not None:
        return serve(args.serve)
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder), None, None)
        database_url, _ = servers.start()
        try:
            migrate(database_url)
            measure(database_url, args.questions, args.processes)
        finally:
            servers.stop()


def measure(database_url: str, questions: int, processes: int) -> None:
    """Both crowds, each against a model of its own."""
    print("| backend | questions | model takes | seconds | answered | MiB before | MiB each more |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    _row(database_url, "llm", questions, SLOW)
    if find_claude():
        _row(database_url, "claude", processes, 1.0)


def _row(database_url: str, kind: str, count: int, seconds: float) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.models", "--serve", str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    caps = Caps(day=1e6)
    meter = BudgetMeter(Spending(connect(database_url)), lambda repo: caps, Prices)
    provider = Provider("anthropic", "anthropic", url, SecretStr("bench"), None, 200)
    forwarder = Forwarder({"anthropic": provider}, meter)
    model: Model = (
        LlmModel(forwarder, "anthropic", "anthropic", "claude-sonnet-5-5")
        if kind == "llm"
        else ClaudeModel(forwarder, Slots(200 * count))
    )
    warm("anthropic")  # as the worker does at its start
    before = resident()
    took, most, answered = asyncio.run(crowd(model, forwarder, count))
    print(
        f"| {kind} | {count} | {seconds:g} s | {took:.1f} | {answered} | {before:,.0f}"
        f" | {(most - before) / count:.1f} |",
        flush=True,
    )
    server.communicate("")


if __name__ == "__main__":
    main()
