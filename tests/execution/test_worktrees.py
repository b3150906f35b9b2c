"""The pool of worktrees: clean for each task, and nothing left by the dead."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.execution.branches import commit
from app.execution.diff import changes
from app.execution.git import GitFailed
from app.execution.landing import Landed, land
from app.execution.worktrees import BranchTaken, NoSuchBase, Worktrees
from tests.execution.git_help import DEDE, REPO, Remote, finished, git, pool

pytestmark = pytest.mark.needs("git")

FILES: dict[str, bytes | None] = {"src/a": b"1\n", "src/deep/b": b"2", "100755|run": b"3"}


@pytest.fixture
def remote(remote: Remote) -> Remote:
    remote.push(FILES)
    return remote


def _files(root: Path) -> set[str]:
    return {str(one.relative_to(root)) for one in root.rglob("*") if not one.is_dir()}


def _left(tmp_path: Path) -> tuple[list[str], list[str], list[str]]:
    """The pool's files, git's part of worktrees, locks and half files in the mirror."""
    slots = sorted(one.name for one in (tmp_path / "worktrees/acme/storefront").iterdir())
    mirror = tmp_path / "mirrors/acme/storefront.git"
    admin = sorted(one.name for one in mirror.glob("worktrees/*"))
    half = [str(one) for one in mirror.rglob("*.lock")] + [
        str(one) for one in mirror.rglob("tmp_*")
    ]
    half += [str(one) for one in mirror.parent.glob("*.tmp")]
    return [one for one in slots if one != "lock"], admin, half


@finished
async def test_a_worktree_has_the_files_of_the_base(remote: Remote, worktrees: Worktrees) -> None:
    base = remote.head("main")
    async with worktrees.lease(REPO, "task/1", base) as one:
        assert _files(one.path) == {".git", "run", "src/a", "src/deep/b"}
        assert os.access(one.path / "run", os.X_OK)
        assert (one.branch, one.base, one.head) == ("task/1", base, base)
        with pytest.raises(subprocess.CalledProcessError):  # whoever works there has no git of ours
            git(one.path, "status")


@finished
async def test_what_a_task_did_is_gone_for_the_next(remote: Remote, worktrees: Worktrees) -> None:
    async with worktrees.lease(REPO, "task/1", "main") as one:
        first = one.path
        (one.path / "src/a").write_text("changed")
        (one.path / "src/deep/b").unlink()
        (one.path / "src/deep").rmdir()
        (one.path / "src/deep").symlink_to("/etc")
        (one.path / "run").chmod(0o4644)
        (one.path / "src").chmod(0o700)
        (one.path / ".gitignore").write_text("*")
        (one.path / "src/.git").mkdir()
        (one.path / "src/.git/config").write_text("x")
        (one.path / "locked/in").mkdir(parents=True)
        (one.path / "locked").chmod(0)
        (one.path / ".git").unlink()
        (one.path / ".git").mkdir()
        os.mkfifo(one.path / "pipe")
    async with worktrees.lease(REPO, "task/2", "main") as two:
        assert two.path == first
        assert _files(two.path) == {".git", "run", "src/a", "src/deep/b"}
        assert (two.path / "src/a").read_text() == "1\n"
        assert (two.path / "run").stat().st_mode & 0o7777 == 0o755
        assert (two.path / "src").stat().st_mode & 0o777 == 0o755
        assert await changes(two) == ()


@finished
async def test_what_somebody_does_to_one_that_waits_is_undone(
    remote: Remote, worktrees: Worktrees
) -> None:
    """Only where there are no walls can a run get there."""
    base = remote.head("main")
    newer = remote.push({"src/a": b"newer\n"})
    async with worktrees.lease(REPO, "task/1", base) as one:
        path, admin = one.path, one.place.git_dir
    (path / "src/a").write_text("as somebody wants it")
    async with worktrees.lease(REPO, "task/2", base) as two:
        assert (two.path, (path / "src/a").read_text()) == (path, "1\n")
        git(two.mirror.path, "--git-dir", str(admin), "update-ref", "--no-deref", "HEAD", newer)
    async with worktrees.lease(REPO, "task/3", base) as three:
        assert (three.path, (path / "src/a").read_text()) == (path, "1\n")
        assert await changes(three) == ()
    git(path, "--git-dir", str(admin), "--work-tree", str(path), "reset", "-q", "--hard", newer)
    async with worktrees.lease(REPO, "task/4", base) as four:
        assert (four.path, (path / "src/a").read_text()) == (path, "1\n")
        assert await changes(four) == ()


@finished
async def test_another_base_is_fetched_when_it_is_needed(
    remote: Remote, worktrees: Worktrees
) -> None:
    async with worktrees.lease(REPO, "task/1", "main"):
        pass
    newer = remote.push({"src/new": b"n", "run": None})
    async with worktrees.lease(REPO, "task/2", newer) as two:
        assert _files(two.path) == {".git", "src/a", "src/deep/b", "src/new"}
        assert await changes(two) == ()
    with pytest.raises(NoSuchBase, match="has no commit or branch"):
        async with worktrees.lease(REPO, "task/3", "f" * 40):
            pass


@finished
async def test_an_empty_repository_has_no_base(remote: Remote, worktrees: Worktrees) -> None:
    remote.bare("acme/empty")
    with pytest.raises(NoSuchBase):
        async with worktrees.lease("acme/empty", "task/1", "main"):
            pass


@finished
async def test_a_base_stays_although_its_branch_is_forced_or_deleted(
    remote: Remote, worktrees: Worktrees
) -> None:
    base = remote.head("main")
    async with worktrees.lease(REPO, "task/1", base) as one:
        git(remote.bare(), "update-ref", "-d", "refs/heads/main")
        remote.push({"other": b"1"})
        await worktrees.mirrors.mirror(REPO)
        (one.path / "src/a").write_text("mine")
        found = await changes(one)
        assert await commit(worktrees.mirrors, one, found, "x", DEDE, ())


@finished
async def test_a_branch_has_one_task_at_a_time(worktrees: Worktrees) -> None:
    async with worktrees.lease(REPO, "task/1", "main"):
        with pytest.raises(BranchTaken):
            async with worktrees.lease(REPO, "task/1", "main"):
                pass
    async with worktrees.lease(REPO, "task/1", "main"):
        pass
    with pytest.raises(GitFailed, match="no name for a branch"):
        async with worktrees.lease(REPO, "--force", "main"):
            pass


@finished
async def test_many_tasks_at_once_each_have_their_own(
    remote: Remote, worktrees: Worktrees, tmp_path: Path
) -> None:
    shas: list[str] = []

    async def task(number: int) -> Path:
        async with worktrees.lease(REPO, f"task/{number}", "main") as one:
            (one.path / f"src/{number}").write_text("x")
            found = await changes(one)
            assert [change.path for change in found] == [f"src/{number}"]
            sha = await commit(worktrees.mirrors, one, found, "x", DEDE, [("Task", f"T{number}")])
            shas.append(sha or "")
            return one.path

    paths = await asyncio.gather(*(task(number) for number in range(12)))
    git(remote.bare(), "branch", "feature", "main")
    for sha in shas:
        assert isinstance(await land(worktrees.mirrors, REPO, sha, "feature"), Landed)
    async with worktrees.lease(REPO, "task/all", "feature") as one:
        assert {f"src/{number}" for number in range(12)} <= _files(one.path)
    assert len(set(shas)) == 12
    slots, admin, half = _left(tmp_path)
    assert {one.removesuffix(".idle") for one in slots} == set(admin) == {p.name for p in paths}
    assert not half


@finished
async def test_a_damaged_mirror_is_repaired_for_a_lease(
    remote: Remote, worktrees: Worktrees
) -> None:
    async with worktrees.lease(REPO, "task/1", "main") as one:
        mirror = one.mirror.path
        name = (await one.mirror.run("rev-parse", f"{one.base}:src/a")).decode().strip()
        for pack in list(mirror.glob("objects/pack/*")):  # each object a file of its own
            content = pack.read_bytes()
            pack.unlink()
            if pack.suffix == ".pack":
                git(mirror, "unpack-objects", "-q", given=content)
    (mirror / "objects" / name[:2] / name[2:]).unlink()
    newer = remote.push({"src/deep/b": b"other"})
    async with worktrees.lease(REPO, "task/2", newer) as two:
        (two.path / "src/a").unlink()  # can only be written anew from the object that is gone
    async with worktrees.lease(REPO, "task/3", newer) as three:
        assert (three.path / "src/a").read_text() == "1\n"
        assert not await worktrees.mirrors.is_broken(three.mirror)


@finished
async def test_cancelled_in_the_middle_nothing_is_left(
    worktrees: Worktrees, tmp_path: Path
) -> None:
    chance = random.Random(5)

    async def work(number: int) -> None:
        async with worktrees.lease(REPO, f"task/{number}", "main") as one:
            (one.path / "src/a").write_text("x")
            await changes(one)

    await worktrees.mirrors.mirror(REPO)
    for number in range(10):
        task = asyncio.create_task(work(number))
        await asyncio.sleep(chance.uniform(0.0, 0.08))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await worktrees.recover()
    async with worktrees.lease(REPO, "task/0", "main") as one:
        assert await changes(one) == ()
    slots, admin, half = _left(tmp_path)
    assert all(one.endswith(".idle") or f"{one}.idle" in slots for one in slots)
    assert {one.removesuffix(".idle") for one in slots} == set(admin)
    assert not half


_CHILD = """
import asyncio, sys
from pathlib import Path
from tests.execution.git_help import DEDE, REPO
from app.execution.branches import commit
from app.execution.diff import changes
from app.execution.mirror import Mirrors
from app.execution.worktrees import Worktrees

async def none(repo):
    return None

async def main(base, folder):
    mirrors = Mirrors(folder / "mirrors", lambda repo: f"{base}/{repo}.git", none)
    worktrees = Worktrees(mirrors, folder / "worktrees")
    print("ready", flush=True)
    for number in range(1000):
        await mirrors.mirror(REPO)
        async with worktrees.lease(REPO, f"task/{number}", "main") as one:
            (one.path / "src/new").write_text(str(number))
            await commit(mirrors, one, await changes(one), "x", DEDE, ())

asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
"""


def test_killed_anywhere_everything_is_there_once(remote: Remote, tmp_path: Path) -> None:
    chance, dead = random.Random(7), set()
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, remote.base, str(tmp_path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0.0, 0.5))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        dead.add(child.pid)

    async def again() -> None:
        worktrees = pool(remote, tmp_path)
        await worktrees.mirrors.recover()
        await worktrees.recover()
        async with worktrees.lease(REPO, "task/x", "main") as one:
            assert await changes(one) == ()
            assert not await worktrees.mirrors.is_broken(one.mirror)

    asyncio.run(again())
    slots, admin, half = _left(tmp_path)
    assert not [one for one in slots if one.endswith((".lease", ".gone", ".new", ".stage"))]
    assert {one.removesuffix(".idle") for one in slots} == set(admin)
    assert not half


@finished
async def test_a_lease_of_the_dead_is_taken_back_one_of_the_living_is_not(
    worktrees: Worktrees, tmp_path: Path
) -> None:
    folder = tmp_path / "worktrees/acme/storefront"
    async with worktrees.lease(REPO, "task/1", "main") as living:
        dead = folder / "00000000dead"
        dead.mkdir()
        (folder / "00000000dead.lease").write_text(json.dumps({"owner": "boot 1 1", "branch": "b"}))
        (folder / "0000000stray").mkdir()
        (folder / "0000stagestray.stage").mkdir()
        (living.mirror.path / "worktrees/0000000admin").mkdir()
        await worktrees.recover()
        assert (living.path / "src/a").exists()
        assert sorted(one.name for one in folder.iterdir()) == sorted(
            ["lock", living.path.name, f"{living.path.name}.lease"]
        )
        assert [one.name for one in living.mirror.path.glob("worktrees/*")] == [living.path.name]


@finished
async def test_pruned_to_the_caps(remote: Remote, tmp_path: Path) -> None:
    mirrors = remote.mirrors(tmp_path / "mirrors")
    small = Worktrees(mirrors, tmp_path / "worktrees", idle=2, disk_cap=1)
    async with (
        small.lease(REPO, "task/1", "main"),
        small.lease(REPO, "task/2", "main"),
        small.lease(REPO, "task/3", "main"),
    ):
        assert await small.prune() == 0
    slots, admin, _ = _left(tmp_path)
    assert len(admin) == 2
    assert len(slots) == 4
    assert await small.prune() == 2
    assert _left(tmp_path)[:2] == ([], [])


@finished
async def test_a_commit_holds_what_was_judged_or_nothing(
    remote: Remote, worktrees: Worktrees
) -> None:
    mirrors = worktrees.mirrors
    async with worktrees.lease(REPO, "task/1", "main") as one:
        assert await commit(mirrors, one, (), "nothing", DEDE, ()) is None
        (one.path / "src/a").write_text("mine")
        (one.path / "src/other").write_text("not kept")
        found = await changes(one)
        kept = tuple(change for change in found if change.path == "src/a")
        (one.path / "src/a").write_text("swapped")
        with pytest.raises(GitFailed, match="changed after it was judged"):
            await commit(mirrors, one, kept, "x", DEDE, ())
        (one.path / "src/a").unlink()
        (one.path / "src/a").symlink_to("/etc/passwd")
        with pytest.raises(GitFailed, match="changed after it was judged"):
            await commit(mirrors, one, kept, "x", DEDE, ())
        (one.path / "src/a").unlink()
        (one.path / "src/a").write_text("mine")
        trailers = [("Agent", "@dede"), ("Task", "T1\nEvil: yes")]
        sha = await commit(mirrors, one, kept, "Say: it\n\nwhy", DEDE, trailers)
        assert sha == one.head
        told = await one.mirror.run("show", "--name-only", "--format=%P|%an|%ae|%B", sha)
        assert told.decode() == (
            f"{one.base}|dede[bot]|dede@acme.test|Say: it\n\nwhy\n\n"
            "Agent: @dede\nTask: T1 Evil: yes\n\n\nsrc/a\n"
        )
        assert await commit(mirrors, one, kept, "again", DEDE, ()) is None
        (one.path / "src/a").write_text("more")
        kept = tuple(change for change in await changes(one) if change.path == "src/a")
        second = await commit(mirrors, one, kept, "more", DEDE, ())
        assert second
        assert (await one.mirror.run("rev-parse", f"{second}^")).decode().strip() == sha
        assert git(one.mirror.path, "rev-parse", "refs/heads/task/1") == second
