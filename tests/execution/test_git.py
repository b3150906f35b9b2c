"""Git that believes nobody: no hook, no filter, no configuration, no other protocol, no secret."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from app.execution.git import (
    Access,
    Git,
    GitFailed,
    GitRefused,
    GitTooLong,
    Limits,
    Place,
    branch_name,
    one_line,
    surely,
)
from tests.execution.git_help import REPO, TOKEN, Remote, finished, git

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def own(tmp_path: Path) -> Git:
    return Git(tmp_path / "home")


@pytest.fixture
def checkout(tmp_path: Path) -> Place:
    """A repository that an agent could have written into."""
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    (root / "file").write_text("content\n")
    git(root, "add", "file")
    git(root, "commit", "--quiet", "--message=first")
    return Place(root / ".git", root)


def _trap(tmp_path: Path) -> tuple[Path, Path]:
    """A program that leaves a trace when somebody runs it."""
    trace, program = tmp_path / "trace", tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {trace}\ncat\n")
    program.chmod(0o755)
    return trace, program


@finished
async def test_nothing_that_a_repository_configures_is_run(
    own: Git, checkout: Place, tmp_path: Path
) -> None:
    trace, trap = _trap(tmp_path)
    root = checkout.work_tree
    assert root
    for key in ("core.fsmonitor", "core.editor", "core.pager", "diff.external", "alias.status",
                "core.sshCommand", "credential.helper", "filter.lfs.smudge", "filter.lfs.clean",
                "filter.lfs.process"):  # fmt: skip
        git(root, "config", key, f"!{trap}" if key == "alias.status" else str(trap))
    git(root, "config", "core.hooksPath", str(root / ".git/hooks"))
    (root / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (root / ".git/hooks" / hook).symlink_to(trap)
    (root / ".gitattributes").write_text("* filter=lfs\n")
    (root / "file").write_text("changed\n")
    await own.run("status", "--porcelain", at=checkout)
    await own.run("diff-files", "--name-only", at=checkout)
    await own.run("add", "file", at=checkout)
    await own.run("reset", "--hard", "HEAD", at=checkout)
    await own.run("update-ref", "refs/heads/other", "HEAD", at=checkout)
    assert not trace.exists()


@finished
async def test_the_machine_and_the_service_give_nothing(
    own: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\nname = somebody\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KR_API_SECRET", "very secret")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    found = (await own.run("config", "--list", "--name-only")).decode()
    assert "user.name" not in found
    env = own._environment(None, None, {})
    assert "very secret" not in env.values()
    assert env["HOME"] == str(own.home)
    assert "GIT_DIR" not in env


@pytest.mark.parametrize("url", ["file:///tmp", "/tmp", "ssh://h/x", "git://h/x", "ext::sh", "",
                                 "https://user:word@h/x"])  # fmt: skip
@finished
async def test_only_plain_web_addresses(own: Git, url: str) -> None:
    with pytest.raises(GitFailed, match="only https addresses"):
        await own.run("ls-remote", url, access=Access(url))


@finished
async def test_a_local_repository_is_no_remote(own: Git, checkout: Place) -> None:
    for access in (None, Access("https://127.0.0.1/x")):
        with pytest.raises(GitFailed, match="not allowed"):
            await own.run("ls-remote", f"file://{checkout.work_tree}", access=access)


@finished
async def test_a_token_goes_by_the_environment_only(own: Git, tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remote")
    remote.token = TOKEN
    remote.push({"a": b"a"})
    access = Access(remote.url(REPO), TOKEN)
    assert b"refs/heads/main" in await own.run("ls-remote", access.url, access=access)
    with pytest.raises(GitRefused) as refused:
        await own.run("ls-remote", access.url, access=Access(access.url, "wrong"))
    remote.close()
    assert TOKEN not in repr(access)
    assert "wrong" not in str(refused.value)
    assert not any(TOKEN in call for call in remote.calls)


def test_a_reason_is_one_line_without_secrets() -> None:
    text = one_line("a\nb \x1b[31m https://me:word@host/x tok", "tok")
    assert text == "a b [31m https://…@host/x …"
    assert len(one_line("x" * 999)) == 300


@finished
async def test_time_and_output_are_limited(own: Git, checkout: Place) -> None:
    assert checkout.work_tree
    (checkout.work_tree / "large").write_bytes(b"x" * 100_000)
    git(checkout.work_tree, "add", "large")
    show = ("cat-file", "blob", ":large")
    with pytest.raises(GitTooLong, match="wrote more"):
        await own.run(*show, at=checkout, limits=Limits(most=1000))
    with pytest.raises(GitTooLong, match="longer than"):
        await own.run("hash-object", "/dev/zero", at=checkout, limits=Limits(seconds=0.1))


@finished
async def test_cancelled_it_is_killed_with_its_group(own: Git, tmp_path: Path) -> None:
    task = asyncio.create_task(own.run("hash-object", "/dev/zero"))
    while not (found := _children("hash-object")):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not set(found) & set(_children("hash-object"))


def _children(word: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
            words = Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if int(stat[1]) == os.getpid() and word.encode() in words:
            found.append(pid)
    return found


@finished
async def test_work_that_must_end_ends_although_cancelled() -> None:
    done: list[int] = []

    async def work() -> None:
        await asyncio.sleep(0.05)
        done.append(1)

    task = asyncio.create_task(surely(work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == [1]


@pytest.mark.parametrize("name", ["main", "task/T012-x", "ä/ö", "a.b", "feature/#12"])
def test_names_of_branches(name: str) -> None:
    assert branch_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "-x", "a..b", "a b", "a\nb", "/a", "a/", "a//b", "x.lock", "a.lock/b", "a@{1}",
             "a:b", "a^", "@", ".a", "a/.b", "a.", "a\\b", "a*"]
)  # fmt: skip
def test_no_names_of_branches(name: str) -> None:
    with pytest.raises(GitFailed, match="no name for a branch"):
        branch_name(name)
