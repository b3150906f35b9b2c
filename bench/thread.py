"""How long people wait: label → status comment → first escalation, and command → 👀.

On the playground, with the default write lane (80 a minute, bursts of 10), as a share of the time
that one comment takes there through the bare REST API, measured in the same run. Prints the memory
of each process as well. `python -m bench.thread`
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.recovery.town import LIMITS, REPO, Town

ROUNDS = 8
COMMANDS = 20
TITLE = "Let customers download their invoices"
BODY = "They should find them in their account and download each as a PDF."


def waited(condition: Callable[[], object], seconds: float = 30.0) -> float:
    """Seconds until `condition` is true, looked at every five milliseconds."""
    begun = time.perf_counter()
    while not condition():
        if time.perf_counter() - begun > seconds:
            raise TimeoutError("it did not happen")
        time.sleep(0.005)
    return time.perf_counter() - begun


def memory(pid: int) -> float:
    """Mebibytes that are a process's own (proportional set size)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def row(name: str, values: list[float], unit: float) -> str:
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    median = statistics.median(values)
    return f"{name:<34}{median:>9.3f} s{p95:>9.3f} s{median / unit:>10.1f}"


def seen(town: Town, comment_id: int) -> bool:
    """Whether the bot has given 👀."""
    return any(one["content"] == "eyes" for one in town.client.reactions(comment_id))


def rest_round_trip(town: Town) -> float:
    """The machine's own limit: one comment through the bare API."""
    mara = town.client.as_user("mara")
    number = int(mara.open_issue(REPO, "bare", "x")["number"])
    times = []
    for turn in range(10):
        begun = time.perf_counter()
        mara.comment(REPO, number, f"bare {turn}")
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    defaults = dict.fromkeys(LIMITS, "")
    defaults |= {
        "KR_GITHUB_WRITES_PER_MINUTE": "80",
        "KR_GITHUB_WRITES_PER_HOUR": "500",
        "KR_GITHUB_WRITES_BURST": "10",
    }
    with tempfile.TemporaryDirectory() as folder, Town(Path(folder), env=defaults) as town:
        unit = rest_round_trip(town)
        status, escalation, eyes = [], [], []
        for turn in range(ROUNDS):
            mara = town.client.as_user("mara")
            number = int(mara.open_issue(REPO, f"{TITLE} {turn}", BODY)["number"])
            mara.label(REPO, number, "feature")
            first = waited(partial(town.status, number))
            status.append(first)
            escalation.append(first + waited(partial(town.escalated, number)))
            time.sleep(8)  # the lane fills up again, as it does between people
        for turn in range(COMMANDS):
            comment = mara.comment(REPO, number, f"/status {turn}")
            eyes.append(waited(partial(seen, town, int(comment["id"]))))
            time.sleep(3)
        print(f"{'':<34}{'median':>11}{'p95':>11}{'× bare':>10}")
        print(row("one comment, bare REST", [unit], unit))
        print(row("label → status comment", status, unit))
        print(row("label → first escalation", escalation, unit))
        print(row("command → 👀", eyes, unit))
        for name, pid in sorted(town.pids().items()):
            print(f"{'memory of ' + name:<34}{memory(pid):>9.0f} MiB")


if __name__ == "__main__":
    main()
