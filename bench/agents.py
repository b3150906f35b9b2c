"""How many agents' answers one process waits for at once, what that costs, and that none is lost.

Features with a question each, for an agent whose model takes two seconds, are put into the outbox;
the real worker (`workers.agents`) works them off in a process of its own. Beside it, in the same
run: RQ as it comes, a worker for each job under way, which forks. `python -m bench.agents`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psycopg
from redis import Redis

from app.actions import AskAgent
from app.agents.protocols import NOBODY, Account, AgentUnavailable, Generated
from app.agents.suggesting import Suggester
from app.agents.team import Member, Parts, Team
from app.deps import build_deps
from app.embedded import Servers
from app.events import AgentAnswered
from app.features.model import Place, Question, global_id
from app.questions.model import Answer, Inquiry, QuestionState
from app.settings import Settings
from app.store import outbox, threads
from app.store.beat import Beat
from app.store.engine import connect, from_json
from app.store.migrate import migrate
from workers.agents import Agents

MODEL_SECONDS = 2.0
"""How long the model that stands behind the agent takes."""
PATIENCE = 300.0
"""Seconds after which what is not answered counts as lost."""
ENOUGH = 100
"""Answers that one process is to wait for at once."""
SLOTS, JOBS = 2, 20
"""The peer's worker processes, and its jobs: as many as ours would take it minutes."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one side came to. Memory in MiB, at its highest: `own` without the files of programs and
    libraries, `resident` with all. Of the answers, how many were lost, given twice, mixed up."""

    jobs: int
    most: int
    seconds: float
    own: float
    resident: float = 0.0
    lost: int = 0
    twice: int = 0
    mixed: int = 0


class SlowModel:
    """A backend that waits as for a model, and says which question it answers."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.in_flight = 0
        self.most = 0

    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        """Answer after `MODEL_SECONDS`."""
        self.asked[inquiry.text] += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(MODEL_SECONDS)
        finally:
            self.in_flight -= 1
        return Answer(f"As to: {inquiry.text}", "It stands for a model.", 90, backend="bench")


class Nobody:
    """In the place of the tools and of the generator, which nothing here asks."""

    async def answer(self, name: str, inquiry: Inquiry, repo: str) -> Answer:
        raise AgentUnavailable(f"there is no tool {name} here")

    async def generate(self, request: object, limit: int, account: Account = NOBODY) -> Generated:
        return Generated((), "nobody")


def team(model: SlowModel) -> Team:
    """One architect, who has that model."""
    members = {"architect": Member("architect", model, 120.0)}
    suggester = Suggester({}, lambda texts: np.zeros((len(texts), 1), dtype=np.float32))
    return Team(members, Parts(Nobody(), tools=Nobody(), suggester=suggester))


def work(database_url: str, redis_url: str) -> None:
    """The worker as `python -m workers agents` runs it: from a first line of input to a second."""
    deps = build_deps(Settings(database_url=database_url, redis_url=redis_url))
    model = SlowModel()
    agents = Agents(deps, team(model))
    beat = Beat(deps.engine, "agents", agents.renew)
    beat.start()
    print("ready", flush=True)
    sys.stdin.readline()
    agents.start()
    sys.stdin.readline()
    agents.stop()
    beat.stop()
    print(json.dumps({"most": model.most, "asked": model.asked}), flush=True)


def put_questions(database_url: str, count: int) -> None:
    """As many features, each with a question that an agent is being asked."""
    engine = connect(database_url, pool=1)
    with engine.begin() as connection:
        for number in range(1, count + 1):
            place = Place(1, 1, "acme/storefront", number)
            feature = threads.ensure(connection, place).feature
            topic, asked = "architecture.data", _text(feature.id)
            question = Question(1, global_id(feature.id, 1), topic, asked)
            asking = replace(question, state=QuestionState.ASKING, ask_round=1)
            threads.save_question(connection, feature.id, asking)
            inquiry = Inquiry("architect", topic, asked)
            outbox.put(connection, AskAgent(f"f{feature.id}:Q1:ask:1", feature.id, 1, 1, inquiry))
    engine.dispose()


def _text(feature_id: int) -> str:
    return f"How is the data of feature {feature_id} kept?"


def ours(database_url: str, redis_url: str, count: int) -> Figures:
    """The worker in a process of its own, until every question is answered."""
    put_questions(database_url, count)
    argv = (sys.executable, "-m", "bench.agents", "--work", database_url, redis_url)
    plain = database_url.replace("postgresql+psycopg://", "postgresql://")
    with child(argv) as process, psycopg.connect(plain, autocommit=True) as connection:
        to, of = process.stdin, process.stdout
        assert to is not None
        assert of is not None
        of.readline()
        print("go", file=to, flush=True)
        used = Used([process.pid])

        def answered() -> bool:
            used.look()
            found = connection.execute("SELECT count(*) FROM deliveries").fetchone()
            return bool(found and found[0] >= count)

        seconds = _until(answered)
        print("stop", file=to, flush=True)
        said = json.loads(of.readline())
        rows = connection.execute("SELECT payload FROM deliveries ORDER BY seq").fetchall()
    events: list[AgentAnswered] = [from_json(AgentAnswered, json.loads(row[0])) for row in rows]
    again = sum(times - 1 for times in said["asked"].values())
    right = [one for one in events if one.answer and _text(one.feature_id) in one.answer.content]
    return Figures(
        *(count, said["most"], seconds, used.own, used.resident),
        lost=count - len({one.feature_id for one in right}),
        twice=again + len(events) - len({one.feature_id for one in events}),
        mixed=len(events) - len(right),
    )


def peer(redis_url: str) -> Figures:
    """RQ: `SLOTS` workers, `JOBS` jobs that sleep as long as our model."""
    from rq import Queue, Worker

    redis = Redis.from_url(redis_url)
    queue = Queue("bench-agents", connection=redis)
    argv = (sys.executable, "-m", "rq.cli", "worker", "--quiet", "--url", redis_url, queue.name)
    with ExitStack() as stack:
        workers = [stack.enter_context(child(argv)) for _ in range(SLOTS)]
        _until(lambda: Worker.count(connection=redis) == SLOTS)
        used = Used([one.pid for one in workers])
        most = 0
        begun = time.perf_counter()
        for _ in range(JOBS):
            queue.enqueue("time.sleep", MODEL_SECONDS)

        def finished() -> bool:
            nonlocal most
            used.look()
            most = max(most, queue.started_job_registry.count)
            return bool(queue.finished_job_registry.count == JOBS)

        _until(finished)
        if not finished():
            sys.exit(f"RQ did not finish {JOBS} jobs within {PATIENCE:g} s")
        return Figures(JOBS, most, time.perf_counter() - begun, used.own, used.resident)


class Used:
    """The most memory that some processes, and those they started, have had at a look."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self.own = self.resident = 0.0

    def look(self) -> None:
        """Look once. Of pages that a fork shares, each process has its share."""
        family = [*self._pids, *(pid for parent in self._pids for pid in _children(parent))]
        with suppress(OSError):  # one of them may end meanwhile
            own = sum(_mebibytes(pid, "smaps_rollup", "Pss_Anon:") for pid in family)
            resident = sum(_mebibytes(pid, "status", "VmRSS:") for pid in family)
            self.own, self.resident = max(self.own, own), max(self.resident, resident)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for one in tasks for child in one.read_text().split()]


def _mebibytes(pid: int, file: str, field: str) -> float:
    for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def _until(condition: Callable[[], bool]) -> float:
    """Seconds until it is true, looked at twenty times a second. At most `PATIENCE`."""
    begun = time.perf_counter()
    while not condition() and time.perf_counter() - begun < PATIENCE:
        time.sleep(0.05)
    return time.perf_counter() - begun


@contextmanager
def child(argv: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes, ended afterwards."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def _row(name: str, one: Figures) -> str:
    return (
        f"{name:<40}{one.most:>8}{one.seconds:>10.1f} s{one.jobs / one.seconds:>10.1f}"
        f"{one.own:>10.0f} MiB{one.own / max(one.most, 1):>8.1f} MiB"
    )


def report(we: Figures, rq: Figures) -> None:
    """Print the table. RQ's later rows are arithmetic, not measured, and say so."""
    each = rq.seconds * SLOTS / rq.jobs
    slow = Figures(we.jobs, SLOTS, we.jobs * each / SLOTS, rq.own)
    wide = Figures(we.jobs, we.most, we.jobs * each / we.most, rq.own * we.most / SLOTS)
    print(f"{'':<40}{'at once':>8}{'in all':>12}{'a second':>10}{'own memory':>14}{'each':>12}")
    print(_row(f"Knowledge Router, {we.jobs} answers", we))
    print(_row(f"RQ, {SLOTS} workers, {rq.jobs} jobs", rq))
    print(_row(f"RQ, {SLOTS} workers, {we.jobs} jobs (extrapolated)", slow))
    print(_row(f"RQ, {we.most} workers, {we.jobs} jobs (extrapolated)", wide))
    print(f"\neach waits {MODEL_SECONDS:g} s for its model; resident, files and all:", end=" ")
    print(f"ours {we.resident:.0f} MiB, RQ's {SLOTS} workers with jobs {rq.resident:.0f} MiB")
    print(f"of {we.jobs} answers {we.lost} lost, {we.twice} twice, {we.mixed} mixed up")


def main() -> None:
    """Print the table. Raises `SystemExit` where answers were lost, or too few were under way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--work", nargs=2, metavar=("DATABASE", "REDIS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(*args.work)
        return
    with tempfile.TemporaryDirectory(prefix="kr-bench-") as folder:
        servers = Servers(Path(folder))
        try:
            database_url, redis_url = servers.start()
            migrate(database_url)
            we = ours(database_url, redis_url, args.questions)
            rq = peer(redis_url)
        finally:
            servers.stop()
    report(we, rq)
    if we.lost or we.twice or we.mixed:
        sys.exit("answers were lost, given twice or mixed up")
    if we.most < min(ENOUGH, args.questions):
        sys.exit(f"only {we.most} were under way at once")


if __name__ == "__main__":
    main()
