"""One bare mirror for each repository, from a real remote."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from app.execution.git import GitFailed, GitRefused
from app.execution.locks import exclusive, lives, us
from app.execution.mirror import Mirrors
from tests.execution.git_help import REPO, TOKEN, Remote, git

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def mirrors(remote: Remote, tmp_path: Path) -> Mirrors:
    return remote.mirrors(tmp_path / "mirrors")


def test_branches_come_and_go_and_are_forced(remote: Remote, mirrors: Mirrors) -> None:
    async def heads() -> dict[str, str]:
        return await (await mirrors.mirror(REPO)).heads()

    first = remote.push({"a": b"1"})
    remote.push({"a": b"1"}, "old/one")
    assert asyncio.run(heads()) == {"main": first, "old/one": remote.head("old/one")}
    git(remote.bare(), "branch", "-D", "old/one")
    git(remote.bare(), "update-ref", "-d", "refs/heads/main")
    again = remote.push({"b": b"2"})
    remote.push({"a": b"1"}, "old")  # where a folder of branches was
    assert asyncio.run(heads()) == {"main": again, "old": remote.head("old")}


def test_no_tags_and_one_folder_for_any_case(remote: Remote, mirrors: Mirrors) -> None:
    async def go() -> None:
        git(remote.bare(), "tag", "v1", remote.push({"a": b"1"}))
        (remote.root / "Acme").symlink_to(remote.root / "acme")
        mirror, other = await mirrors.mirror(REPO), await mirrors.mirror("Acme/storefront")
        assert mirror.path == other.path
        assert not (await mirror.run("tag", "--list")).strip()

    asyncio.run(go())


def test_an_empty_repository_and_one_without_default_branch(
    remote: Remote, mirrors: Mirrors
) -> None:
    async def go() -> None:
        remote.bare()
        assert await (await mirrors.mirror(REPO)).heads() == {}
        assert await mirrors.default_branch(REPO) is None
        remote.push({"a": b"1"}, "other")
        assert await mirrors.default_branch(REPO) is None
        remote.push({"a": b"1"})
        assert await mirrors.default_branch(REPO) == "main"

    asyncio.run(go())


def test_a_hundred_thousand_files(remote: Remote, mirrors: Mirrors) -> None:
    async def go() -> None:
        remote.push({f"d{n % 300}/f{n}": b"x" for n in range(100_000)})
        mirror = await mirrors.mirror(REPO)
        printed = await mirror.run("ls-tree", "-r", "-z", "--name-only", remote.head("main"))
        assert printed.count(b"\0") == 100_000

    asyncio.run(go())


@pytest.mark.parametrize("name", ["x", "../x", "a/..", "a/b/c", "-a/b c", ".home/x", "a/b\n"])
def test_what_is_no_repository(mirrors: Mirrors, name: str) -> None:
    with pytest.raises(GitFailed, match="write owner/name"):
        asyncio.run(mirrors.mirror(name))


def test_a_wrong_token_is_refused_and_leaves_nothing(remote: Remote, tmp_path: Path) -> None:
    remote.token = TOKEN
    remote.push({"a": b"1"})
    wrong = remote.mirrors(tmp_path / "mirrors", "ghs_wrong")
    with pytest.raises(GitRefused) as told:
        asyncio.run(wrong.mirror(REPO))
    assert "ghs_wrong" not in str(told.value)
    assert not list((tmp_path / "mirrors").glob("*/*.git"))
    assert not list((tmp_path / "mirrors").glob("*/*.tmp"))
    right = remote.mirrors(tmp_path / "mirrors", TOKEN)
    path = asyncio.run(right.mirror(REPO)).path
    stored = b"".join(one.read_bytes() for one in path.rglob("*") if one.is_file())
    assert TOKEN.encode() not in stored


@pytest.mark.parametrize("harm", ["object", "pack", "HEAD", "refs"])
def test_a_broken_mirror_is_made_anew(remote: Remote, mirrors: Mirrors, harm: str) -> None:
    async def go() -> None:
        remote.push({"a": b"1", "b": os.urandom(100)})
        mirror = await mirrors.mirror(REPO)
        if harm == "HEAD":
            (mirror.path / "HEAD").write_text("rubbish")
        elif harm == "refs":
            (mirror.path / "refs/remotes/origin/main").write_text("f" * 40 + "\n")
        else:
            for one in (mirror.path / "objects").rglob("*"):
                if one.is_file():
                    one.chmod(0o600)
                    one.write_bytes(b"rubbish") if harm == "object" else one.unlink()
        sha = remote.push({"a": b"2"})
        mirror = await mirrors.mirror(REPO)
        assert await mirror.run("show", f"{sha}:a") == b"2"
        # a fetch reads no old contents; whoever needs them finds out, and asks for this
        assert await mirrors.repair(REPO) == (harm == "object")
        assert not await mirrors.is_broken(mirror)

    asyncio.run(go())


def test_what_the_remote_refuses_breaks_no_mirror(remote: Remote, mirrors: Mirrors) -> None:
    async def go() -> None:
        sha = remote.push({"a": b"1"})
        mirror = await mirrors.mirror(REPO)
        remote.bare().rename(remote.bare().with_suffix(".away"))
        with pytest.raises(GitFailed, match="not found"):
            await mirrors.mirror(REPO)
        assert await mirror.resolve(sha) == sha

    asyncio.run(go())


def test_what_a_killed_git_left_is_removed(remote: Remote, mirrors: Mirrors) -> None:
    async def go() -> None:
        sha = remote.push({"a": b"1"})
        path = (await mirrors.mirror(REPO)).path
        left = [path / "refs/heads/x.lock", path / "packed-refs.lock", path / "objects/pack/tmp_a",
                path.with_name("storefront.tmp") / "half"]  # fmt: skip
        for one in left:
            one.parent.mkdir(exist_ok=True)
            one.write_text("half")
        (path.with_name("storefront.write")).write_text("busy")  # its holder was killed
        async with mirrors.writing(REPO) as mirror:
            assert not any(one.exists() for one in left)
            await mirror.run("update-ref", "refs/heads/x", sha)
        left[0].write_text("half")
        await mirrors.recover()
        assert not left[0].exists()

    asyncio.run(go())


def test_what_somebody_wrote_into_a_mirror_is_undone(remote: Remote, mirrors: Mirrors) -> None:
    async def go() -> None:
        remote.push({"a": b"1"})
        mirror = await mirrors.mirror(REPO)
        before = (mirror.path / "config").read_bytes()
        git(mirror.path, "config", "core.fsmonitor", "touch /tmp/x")
        (mirror.path / "hooks").mkdir()
        (mirror.path / "info/attributes").unlink()
        (mirror.path / "info/attributes").mkdir()
        await mirror.heads()
        assert (mirror.path / "config").read_bytes() == before
        assert not (mirror.path / "hooks").exists()
        assert (mirror.path / "info/attributes").is_file()

    asyncio.run(go())


def test_the_least_recently_used_goes_never_one_in_use(remote: Remote, tmp_path: Path) -> None:
    async def go() -> None:
        small = remote.mirrors(tmp_path / "mirrors", disk_cap=1)
        for name in ("acme/a", "acme/b", "acme/c"):
            remote.push({"x": os.urandom(50_000)}, repo=name)
        await small.mirror("acme/a")
        async with small.hold("acme/a"):
            await small.mirror("acme/b")
            await small.mirror("acme/c")
            assert small.path("acme/a").exists()
            assert not small.path("acme/b").exists()
        await small.shrink()
        assert not small.path("acme/a").exists()
        assert small.path("acme/c").exists()

    asyncio.run(go())


def test_locks(tmp_path: Path) -> None:
    async def go() -> None:
        order: list[str] = []

        async def one(name: str) -> None:
            async with exclusive(tmp_path / "lock") as interrupted:
                assert not interrupted
                order.append(name)
                await asyncio.sleep(0)
                order.append(name)

        await asyncio.gather(*(one(str(n)) for n in range(8)))
        assert order[::2] == order[1::2]
        with pytest.raises(RuntimeError):
            async with exclusive(tmp_path / "lock"):
                raise RuntimeError
        async with exclusive(tmp_path / "lock") as interrupted:
            assert interrupted

    asyncio.run(go())
    assert lives(us())
    assert not lives(us() + "0")
    assert not lives("")
