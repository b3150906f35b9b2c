"""How long it takes to hand out a worktree while fifty are leased.

A generated repository of 3,000 files, a real remote over HTTP, fifty leases that stay. Then a lease
from the pool, after each of which an agent changes some files, and a fresh one, which has to be
checked out; and one from the pool with the walls around it, until a program that was started in
there says its first word. Only the handing out is timed; cleaning comes after the task. The pooled
one has to stay under 50 ms (p50), with its walls. `python -m bench.worktrees`
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import random
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from app.execution.sandbox import Reach, Walls, sandbox
from app.execution.worktrees import Worktrees
from tests.execution.git_help import REPO, Remote

LIMIT = 0.050
WALLS = Walls.BOTH


def generated(count: int) -> dict[str, bytes | None]:
    """Files of one to ten kB in some 200 folders."""
    chance = random.Random(11)
    return {
        f"src/p{number % 20}/q{number % 200}/f{number}.py": chance.randbytes(
            chance.randint(500, 5000)
        ).hex().encode()
        for number in range(count)
    }  # fmt: skip


def shown(name: str, found: list[float]) -> str:
    """A line of the result, in milliseconds."""
    p50, p95 = statistics.median(found), statistics.quantiles(found, n=20)[-1]
    return f"{name:<24} p50 {p50 * 1000:7.1f} ms   p95 {p95 * 1000:7.1f} ms   ({len(found)} times)"


async def once(worktrees: Worktrees, branch: str, base: str) -> float:
    """Seconds until a worktree is handed out."""
    begun = time.perf_counter()
    async with worktrees.lease(REPO, branch, base) as one:
        took = time.perf_counter() - begun
        for number in range(20):
            (one.path / f"src/p{number}/new.py").write_text("new\n")
            (one.path / f"src/p{number}/q{number}/f{number}.py").write_text("changed\n")
    return took


async def walled(worktrees: Worktrees, branch: str, base: str) -> float:
    """Seconds until a program speaks from behind all walls that this machine has."""
    begun = time.perf_counter()
    async with worktrees.lease(REPO, branch, base) as one:
        reach = Reach(one.path, ("src",), None)
        async with sandbox(reach, WALLS, {}) as inside:
            started = await asyncio.create_subprocess_exec(
                *inside.argv(["/bin/echo", "ready"]), stdout=asyncio.subprocess.PIPE
            )
            assert started.stdout is not None
            assert await started.stdout.readline() == b"ready\n"
            took = time.perf_counter() - begun
            await started.wait()
        (one.path / "src/p1/new.py").write_text("new\n")
    return took


async def measured(folder: Path, files: int, leased: int, rounds: int) -> list[float]:
    """Print the figures; gives those of the pool."""
    remote = Remote(folder / "remote")
    bases = [remote.push(generated(files)), remote.push({"src/p1/q1/f1.py": b"newer\n"})]
    mirrors = remote.mirrors(folder / "mirrors")
    pooled = Worktrees(mirrors, folder / "worktrees", idle=leased + 1)
    fresh = Worktrees(mirrors, folder / "fresh", idle=0)
    begun = time.perf_counter()
    await mirrors.mirror(REPO)
    print(f"the mirror: {time.perf_counter() - begun:.2f} s, {files} files; {leased} leased")
    async with AsyncExitStack() as stack:
        for number in range(leased):
            await stack.enter_async_context(pooled.lease(REPO, f"held/{number}", bases[0]))
        await once(pooled, "task/first", bases[0])
        again = [await once(pooled, f"task/{n}", bases[0]) for n in range(rounds)]
        behind = [await walled(pooled, f"task/w{n}", bases[0]) for n in range(rounds)]
        moved = [await once(pooled, f"task/{n}", bases[n % 2]) for n in range(rounds)]
        new = [await once(fresh, f"task/f{n}", bases[0]) for n in range(max(5, rounds // 5))]
    remote.close()
    print(shown("pooled, same base", again))
    print(shown("the same within walls", behind))
    print(shown("pooled, another base", moved))
    print(shown("fresh", new))
    return behind


def main() -> None:
    """Measure and say whether it is quick enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--leased", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=50)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}")
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(Path(folder), asked.files, asked.leased, asked.rounds))
    good = statistics.median(found) < LIMIT
    print(f"a pooled one within its walls, under {LIMIT * 1000:.0f} ms: {'yes' if good else 'NO'}")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
