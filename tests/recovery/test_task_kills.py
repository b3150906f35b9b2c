"""Five tasks at once and fifty queued, killed at random: none lost, none twice, nothing left."""

from __future__ import annotations

import collections
import contextlib
import os
import random
import re
import time
from pathlib import Path

import pytest

from app.embedded.process import processes
from tests.flows.building import branch_of, by_shell, commits, configured, go, ready, specified
from tests.recovery.town import REPO, Town, until

pytestmark = [
    pytest.mark.needs("git", "landlock", "bubblewrap"),
]

MANY = int(os.environ.get("KR_TASKS_KILLED", "50"))
VICTIMS = ("agents", "outbox", "events-1", "events-2", "web", "timer", "redis", "postgres")
PATIENCE = 240.0
SCRIPT = """
name=$(grep -o 'src/many/f[0-9]*\\.py' | head -n 1)
mkdir -p src/many
sleep 0.3
echo 'x = 1' > "$name"
echo "wrote $name"
"""


def tasks() -> str:
    lines = [
        f"- [ ] T{number:03d} [P] Write `src/many/f{number}.py`" for number in range(1, MANY + 1)
    ]
    return "# Tasks\n\n## Phase 1: Many\n" + "\n".join(lines) + "\n"


@pytest.mark.timeout(600)
def test_fifty_tasks_and_random_kills(tmp_path: Path) -> None:
    chance = random.Random(20)
    configs = configured(tmp_path, developer=by_shell(SCRIPT))
    with Town(tmp_path / "town", env={"KR_CONFIG_DIR": str(configs)}) as town:
        number = specified(town, tasks())
        go(town, number)
        end = time.monotonic() + PATIENCE
        kills = 0
        while not ready(town, number) and time.monotonic() < end:
            time.sleep(chance.uniform(1.0, 4.0))
            if kills < MANY / 4:
                town.kill(chance.choice(VICTIMS))
                kills += 1
        until(lambda: ready(town, number), 60, town.status(number)[:3000])
        signed = collections.Counter(
            found[1] for message in commits(town, number)
            if (found := re.search(r"^Task: (T\d+)$", message, re.MULTILINE))
        )  # fmt: skip
        assert signed == {f"T{n:03d}": 1 for n in range(1, MANY + 1)}
        branch = branch_of(town, number)
        tree = town.client.call("GET", f"/repos/{REPO}/git/trees/{branch}?recursive=1")
        written = [one["path"] for one in tree["tree"] if one["path"].startswith("src/many/f")]
        assert len(written) == MANY
        town.nothing_twice(number)
        until(lambda: not left_behind(town), 30, str(left_behind(town)))
    assert kills > 3
    until(lambda: not at_work(), 10, "a process is left")


def left_behind(town: Town) -> list[str]:
    """Leases of worktrees, and copies for commits that never came."""
    pools = town.folder / "worktrees"
    return [str(one) for kind in ("*.lease", "*.stage", "*.gone") for one in pools.rglob(kind)]


def at_work() -> list[int]:
    """Processes of the tasks' program, and of the sandboxes around it."""
    found = []
    for pid in processes():
        with contextlib.suppress(OSError):
            if b"src/many/f" in Path("/proc", str(pid), "cmdline").read_bytes():
                found.append(pid)
    return found
