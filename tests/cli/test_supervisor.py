"""The supervisor: what dies comes back, and what is to end ends entirely."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.embedded.process import alive
from app.supervisor.child import Child
from app.supervisor.programs import Program, worker_programs

SCRIPT = Path(__file__).with_name("supervised.py")


class Service:
    """The small service, as its parent sees it."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(folder), *more],
            stdout=subprocess.PIPE,
            stderr=(folder / "stderr").open("wb"),
            text=True,
            cwd=SCRIPT.parents[2],
            env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])},
        )
        self.lines: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next report that fits."""
        deadline = time.monotonic() + 15
        while True:
            report = self.lines.get(timeout=max(0.01, deadline - time.monotonic()))
            if wanted(report):
                return report

    def pids(self, *names: str) -> dict[str, int]:
        """Process ids once all these run."""
        found = self.next(lambda report: set(names) <= set(report.get("pids", ())))
        return dict(found["pids"])

    def inner(self, name: str) -> list[int]:
        """The processes that a child has started itself."""
        file = self.folder / f"{name}.inner"
        wait_for(file.exists)
        return [int(line) for line in file.read_text().split()]

    def everything(self, pids: dict[str, int]) -> list[int]:
        return [*pids.values(), *self.inner("one"), *self.inner("two")]


def wait_for(done: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def all_gone(pids: list[int]) -> Callable[[], bool]:
    return lambda: not any(alive(pid) for pid in pids)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    services: list[Service] = []

    def begin(*more: str) -> Service:
        services.append(Service(tmp_path, *more))
        return services[-1]

    yield begin
    for service in services:
        service.process.kill()
        service.process.wait()


def test_a_dead_child_is_replaced_and_its_own_children_end(start: Callable[..., Service]) -> None:
    service = start()
    before = service.pids("one", "two")
    (orphan,) = service.inner("one")
    os.kill(before["one"], signal.SIGKILL)
    assert service.next(lambda r: "exit" in r) == {"exit": "one", "pid": before["one"]}
    after = service.pids("one", "two")
    assert after["one"] != before["one"]
    assert after["two"] == before["two"]
    wait_for(all_gone([orphan]))
    wait_for(lambda: len(service.inner("one")) == 2)
    assert b"[one] hello" in (service.folder / "stderr").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all(start: Callable[..., Service], number: signal.Signals) -> None:
    service = start()
    everything = service.everything(service.pids("one", "two"))
    service.process.send_signal(number)
    assert service.process.wait(10) == 0
    wait_for(all_gone(everything), 1)


def test_who_ignores_sigterm_is_killed(start: Callable[..., Service], tmp_path: Path) -> None:
    (tmp_path / "stubborn").touch()
    service = start()
    everything = service.everything(service.pids("one", "two"))
    service.process.terminate()
    assert service.process.wait(10) == 0
    wait_for(all_gone(everything), 1)
    assert b"one did not finish in time" in (tmp_path / "stderr").read_bytes()


def test_killing_the_supervisor_leaves_nothing(
    start: Callable[..., Service], tmp_path: Path
) -> None:
    (tmp_path / "stubborn").touch()
    service = start("servers")
    everything = service.everything(service.pids("one", "two", "postgres", "redis"))
    assert all(alive(pid) for pid in everything)
    service.process.kill()
    wait_for(all_gone(everything), 8)


def test_killed_servers_are_back_within_two_seconds(start: Callable[..., Service]) -> None:
    service = start("servers")
    before = service.pids("one", "two", "postgres", "redis")
    os.kill(before["postgres"], signal.SIGKILL)
    os.kill(before["redis"], signal.SIGKILL)
    begun = time.monotonic()
    servers = ("postgres", "redis")
    service.next(
        lambda r: all(r.get("pids", before).get(n, before[n]) != before[n] for n in servers)
    )
    assert time.monotonic() - begun < 10
    service.process.terminate()
    assert service.process.wait(10) == 0


def test_the_pause_grows_and_is_forgotten_after_a_long_life() -> None:
    child = Child(Program("x", ("true",)), {"PATH": os.environ["PATH"]}, "mark", None)
    pauses = []
    moment = 100.0
    for life in (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 11.0):
        child.start(moment)
        moment += life
        wait_for(child.gone)
        assert child.collect(moment) is not None
        pauses.append(round(child.next_start - moment, 1))
        if child.output is not None:
            os.close(child.output)
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2]


def test_names_of_the_workers() -> None:
    assert [p.name for p in worker_programs(2)] == [
        "events-1",
        "events-2",
        "outbox",
        "agents",
        "timer",
    ]
    assert worker_programs(1)[0].argv[1:] == ("-m", "workers", "events")
