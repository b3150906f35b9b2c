"""The second wall: each trick of an agent is seen, dropped, and in no commit."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from app.execution.branches import commit
from app.execution.diff import Change, Judged, Kind, changes, drop, judge
from app.execution.worktree import Worktree
from app.execution.worktrees import Worktrees
from app.scopes import parse
from tests.execution.git_help import DEDE, REPO, Remote, finished, git, pool

pytestmark = pytest.mark.needs("git")

SCOPES = parse("/tests/ @marie\n/src/ @dede\n/k8s/ @gustave\n/src/locked/ @gustave\n")
FILES: dict[str, bytes | None] = {
    "src/app.py": b"print('shop')\n",
    "src/pkg/cart.py": b"cart\n",
    "src/README": b"read\n",
    "src/locked/rules": b"rules\n",
    "120000|src/link": b"app.py",
    "k8s/deploy.yaml": b"replicas: 1\n",
    "100755|k8s/run": b"#!/bin/sh\n",
    "tests/test_app.py": b"test\n",
    ".github/AGENT_SCOPES": b"/src/ @dede\n",
    ".gitattributes": b"* text eol=crlf\n*.bin filter=lfs\n",
    ".gitignore": b"*.pyc\n",
}
ODD = os.fsdecode(b"src/\xff\xfe")


@pytest.fixture
def remote(remote: Remote) -> Remote:
    remote.push(FILES)
    return remote


def _hash(mirror: Path, but: str) -> str:
    """Of all files in the mirror but those named `but`: we ourselves renew times in the index."""
    found = hashlib.sha256()
    for path in sorted(mirror.rglob("*")):
        if path.is_file() and path.name != but:
            found.update(f"{path}\0{path.stat().st_mode}\0".encode() + path.read_bytes())
    return found.hexdigest()


@asynccontextmanager
async def _leased(remote: Remote, tmp_path: Path) -> AsyncIterator[tuple[Worktrees, Worktree]]:
    worktrees = pool(remote, tmp_path)
    async with worktrees.lease(REPO, "task/T012", "main") as one:
        yield worktrees, one


def _write(root: Path, path: str, text: str = "new\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def _into_k8s(root: Path) -> None:
    _write(root, "k8s/deploy.yaml", "replicas: 99\n")
    _write(root, "k8s/new.yaml")
    (root / "k8s/run").unlink()


def _rename_out(root: Path) -> None:
    (root / "src/pkg/cart.py").rename(root / "k8s/cart.py")


def _rename_in(root: Path) -> None:
    (root / "k8s/deploy.yaml").rename(root / "src/deploy.yaml")


def _links(root: Path) -> None:
    (root / "src/etc").symlink_to("/etc")
    (root / "src/up").symlink_to("../../..")
    (root / "src/k8s").symlink_to("../k8s")
    (root / "src/chain").symlink_to("k8s/deploy.yaml")
    _write(root, "src/k8s/through.yaml")
    (root / "src/loop").symlink_to("loop")
    (root / "src/link").unlink()
    (root / "src/link").symlink_to("../k8s/run")


def _folder_for_link(root: Path) -> None:
    (root / "src/pkg/cart.py").unlink()
    (root / "src/pkg").rmdir()
    (root / "src/pkg").symlink_to(root.parent)


def _hard_link(root: Path) -> None:
    secret = root.parent.parent / "key.pem"
    secret.write_text("the key of the service\n")
    os.link(secret, root / "src/key")
    os.link(root / "k8s/deploy.yaml", root / "src/same.yaml")
    (root / "src/same.yaml").write_text("replicas: 99\n")


def _modes(root: Path) -> None:
    (root / "k8s/deploy.yaml").chmod(0o755)
    (root / "k8s/run").chmod(0o644)
    (root / "k8s").chmod(0o700)


def _submodule(root: Path) -> None:
    git(root.parent, "init", "--quiet", str(root / "src/nested"))
    git(root / "src/nested", "commit", "--quiet", "--allow-empty", "--message=x")
    _write(root, ".gitmodules", '[submodule "x"]\n\tpath = src/nested\n\turl = /etc\n')
    _write(root, "src/.gitmodules")


def _attributes(root: Path) -> None:
    _write(root, ".gitattributes", "* filter=evil export-ignore\nsrc/* merge=evil\n")
    _write(root, ".gitignore", "k8s/\n")
    _write(root, "k8s/hidden.yaml")


def _gits_own(root: Path) -> None:
    (root / ".git").unlink()
    _write(root, ".git/hooks/pre-commit", "#!/bin/sh\ntouch /tmp/caught\n")
    _write(root, ".git/config", "[core]\n\tfsmonitor = touch /tmp/caught\n[alias]\n\tst = !sh\n")
    _write(root, "src/.git/config")
    _write(root, "src/.GIT/config")
    _write(root, "src/git~1/config")


def _by_git(root: Path) -> None:
    for command in (["add", "-A"], ["config", "core.fsmonitor", "x"], ["commit", "-mx"]):
        subprocess.run(["git", "-C", root, *command], capture_output=True, check=False)


def _names(root: Path) -> None:
    _write(root, "src/new\nline")
    _write(root, "src/esc\x1b[31m")
    _write(root, "src/rtl\u202egnp.py")
    _write(root, ODD)
    _write(root, "src/back\\slash")
    _write(root, "src/readme")
    _write(root, "src/PKG/other.py")
    _write(root, "-rf")
    _write(root, ":(top)k8s")


def _deep(root: Path) -> None:
    at = os.open(root / "src", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 8, dir_fd=at)
        below = os.open("d" * 8, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def _no_files(root: Path) -> None:
    os.mkfifo(root / "src/pipe")
    (root / "src/app.py").unlink()
    os.mkfifo(root / "src/app.py")
    here = os.getcwd()
    os.chdir(root / "src")  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
    os.chdir(here)
    if os.geteuid() == 0:
        with suppress(OSError):  # not every container may
            os.mknod(root / "src/null", 0o020666, os.makedev(1, 3))


def _in_the_way(root: Path) -> None:
    (root / "src/locked/rules").unlink()
    (root / "src/locked").rmdir()
    _write(root, "src/locked", "a file where a folder of another has to stay\n")


def _guarded(root: Path) -> None:
    _write(root, ".github/AGENT_SCOPES", "* @dede\n")
    _write(root, "CODEOWNERS", "* @dede\n")


TRICKS: list[tuple[Callable[[Path], None], set[str], set[str]]] = [
    (_into_k8s, {"k8s/deploy.yaml", "k8s/new.yaml", "k8s/run"}, set()),
    (_rename_out, {"k8s/cart.py"}, set()),
    (_rename_in, {"src/deploy.yaml"}, set()),
    (_links, {"src/etc", "src/up", "src/k8s", "src/chain", "src/loop", "src/link",
              "k8s/through.yaml"}, set()),
    (_folder_for_link, {"src/pkg"}, {"src/pkg/cart.py"}),
    (_hard_link, {"src/key", "src/same.yaml", "k8s/deploy.yaml"}, set()),
    (_modes, {"k8s/deploy.yaml", "k8s/run"}, set()),
    (_submodule, {".gitmodules", "src/.gitmodules", "src/nested/.git"}, set()),
    (_attributes, {".gitattributes", ".gitignore", "k8s/hidden.yaml"}, set()),
    (_gits_own, {".git", "src/.git", "src/.GIT", "src/git~1/config"}, set()),
    (_by_git, set(), set()),
    (_names, {"src/new\nline", "src/esc\x1b[31m", "src/rtl\u202egnp.py", ODD, "src/back\\slash",
              "src/readme", "src/PKG/other.py", "-rf", ":(top)k8s"}, set()),
    (_deep, {"src/" + "/".join(["d" * 8] * 100)}, set()),
    (_no_files, {"src/pipe", "src/app.py", "src/socket"}, set()),
    (_in_the_way, {"src/locked", "src/locked/rules"}, set()),
    (_guarded, {".github/AGENT_SCOPES", "CODEOWNERS"}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("trick", "dropped", "kept"), TRICKS, ids=lambda one: getattr(
    one, "__name__", ""))  # fmt: skip
@finished
async def test_a_trick_is_dropped_and_in_no_commit(
    remote: Remote,
    tmp_path: Path,
    trick: Callable[[Path], None],
    dropped: set[str],
    kept: set[str],
) -> None:
    async with _leased(remote, tmp_path) as (worktrees, one):
        mirror = one.mirror.path
        before = _hash(mirror, "index")
        _write(one.path, "src/good.py", "good\n")
        trick(one.path)
        judged = judge(await changes(one), SCOPES, "@dede")
        assert {gone.change.path for gone in judged.dropped} - {"src/null"} == dropped
        assert {change.path for change in judged.kept} == {"src/good.py", *kept}
        await drop(one, judged.dropped)
        assert {change.path for change in await changes(one)} == {"src/good.py", *kept}
        assert _hash(mirror, "index") == before
        sha = await commit(worktrees.mirrors, one, judged.kept, "x", DEDE, {})
        assert sha
        told = await one.mirror.run("diff-tree", "-r", "-z", "--name-only", one.base, sha)
        assert set(told.decode().strip("\0").split("\0")) == {"src/good.py", *kept}
    async with worktrees.lease(REPO, "task/next", "main") as following:
        assert await changes(following) == ()
    assert "caught" not in os.listdir("/tmp")


@pytest.mark.parametrize(
    "trick", [trick for trick, _, _ in TRICKS if trick not in (_by_git, _deep)],
    ids=lambda one: one.__name__,
)  # fmt: skip
@finished
async def test_what_was_dropped_reaches_no_commit_although_it_is_still_there(
    remote: Remote, tmp_path: Path, trick: Callable[[Path], None]
) -> None:
    async with _leased(remote, tmp_path) as (worktrees, one):
        _write(one.path, "src/good.py", "good\n")
        trick(one.path)
        judged = judge(await changes(one), SCOPES, "@dede")
        sha = await commit(worktrees.mirrors, one, judged.kept, "x", DEDE, {})
        told = await one.mirror.run("diff-tree", "-r", "-z", "--name-only", one.base, sha or "")
        found = set(told.decode().strip("\0").split("\0"))
        assert found == {change.path for change in judged.kept}


async def _judged(remote: Remote, tmp_path: Path, work: Callable[[Path], None]) -> Judged:
    async with _leased(remote, tmp_path) as (_, one):
        work(one.path)
        return judge(await changes(one), SCOPES, "@dede")


@finished
async def test_what_an_agent_may_do(remote: Remote, tmp_path: Path) -> None:
    def work(root: Path) -> None:
        _write(root, "src/app.py", "changed\r\n")
        (root / "src/pkg/cart.py").rename(root / "src/pkg/basket.py")
        (root / "src/README").unlink()
        (root / "src/link").unlink()
        (root / "src/link").symlink_to("pkg/basket.py")
        _write(root, "src/-dash 'quote\" ümläut.py")
        _write(root, "src/run.sh")
        (root / "src/run.sh").chmod(0o755)
        _write(root, "src/x.pyc")
        _write(root, "src/data.bin", "a\r\n")

    judged = await _judged(remote, tmp_path, work)
    assert judged.dropped == ()
    told = {(one.path, one.kind, one.old_path, one.mode) for one in judged.kept}
    assert told == {
        ("src/app.py", Kind.MODIFIED, None, "100644"),
        ("src/pkg/basket.py", Kind.RENAMED, "src/pkg/cart.py", "100644"),
        ("src/README", Kind.DELETED, None, ""),
        ("src/link", Kind.MODIFIED, None, "120000"),
        ("src/-dash 'quote\" ümläut.py", Kind.ADDED, None, "100644"),
        ("src/run.sh", Kind.ADDED, None, "100755"),
        ("src/data.bin", Kind.ADDED, None, "100644"),
    }
    assert [one.path for one in judged.ignored] == ["src/x.pyc"]


@finished
async def test_a_commit_has_the_very_bytes_and_modes(remote: Remote, tmp_path: Path) -> None:
    async with _leased(remote, tmp_path) as (worktrees, one):
        _write(one.path, "src/data.bin", "a\r\nb\n")
        (one.path / "src/app.py").chmod(0o755)
        (one.path / "src/pkg/cart.py").rename(one.path / "src/pkg/basket.py")
        judged = judge(await changes(one), SCOPES, "@dede")
        assert Kind.MODE in {change.kind for change in judged.kept}
        sha = await commit(worktrees.mirrors, one, judged.kept, "x", DEDE, {})
        assert await one.mirror.run("show", f"{sha}:src/data.bin") == b"a\r\nb\n"
        listed = (await one.mirror.run("ls-tree", "-r", sha or "", "src/")).decode()
        assert "100755" in next(line for line in listed.splitlines() if "app.py" in line)
        assert "basket.py" in listed
        assert "cart.py" not in listed


@finished
async def test_a_submodule_of_the_base_is_left_alone(remote: Remote, tmp_path: Path) -> None:
    tree = git(remote.bare(), "rev-parse", "main^{tree}")
    listed = git(remote.bare(), "ls-tree", tree) + f"\n160000 commit {'1' * 40}\tsub\n"
    whole = git(remote.bare(), "mktree", "--missing", given=listed.encode())
    sha = git(remote.bare(), "commit-tree", whole, "-m", "sub")
    git(remote.bare(), "update-ref", "refs/heads/main", sha)
    async with _leased(remote, tmp_path) as (_, one):
        assert await changes(one) == ()
        _write(one.path, "sub/file")
        found = judge(await changes(one), parse("* @dede\n"), "@dede")
        assert [gone.change.path for gone in found.dropped] == ["sub"]
        await drop(one, found.dropped)
        assert await changes(one) == ()
        (one.path / "sub").rmdir()
        (one.path / "sub").symlink_to("/etc")
        found = judge(await changes(one), parse("* @dede\n"), "@dede")
        assert [gone.reason for gone in found.dropped] == ["is a submodule"]
    async with _leased(remote, tmp_path) as (_, two):
        assert await changes(two) == ()


def test_both_paths_of_a_rename_count() -> None:
    there = Change("src/a", Kind.RENAMED, "k8s/a", "100644", blob="1")
    back = Change("k8s/a", Kind.RENAMED, "src/a", "100644", blob="1")
    for one in (there, back):
        found = judge([one], SCOPES, "@dede")
        assert [gone.reason for gone in found.dropped] == [
            "belongs to @gustave (line 3 of the scopes)"
        ]


def test_a_scope_file_with_an_error_allows_nothing() -> None:
    found = judge([Change("src/a", Kind.ADDED, mode="100644")], parse("/src/ @dede\n["), "@dede")
    assert not found.kept


def test_names_are_shown_so_that_everything_in_them_is_seen() -> None:
    assert Change("a\nb\\\udcff\u202eü", Kind.ADDED).shown == r"a\nb\\\udcff\u202eü"


@finished
async def test_a_name_may_change_its_case(remote: Remote, tmp_path: Path) -> None:
    def work(root: Path) -> None:
        (root / "src/README").rename(root / "src/readme")

    judged = await _judged(remote, tmp_path, work)
    assert [(one.path, one.old_path) for one in judged.kept] == [("src/readme", "src/README")]


@finished
async def test_a_file_too_large_for_github(remote: Remote, tmp_path: Path) -> None:
    def work(root: Path) -> None:
        with (root / "src/large").open("wb") as file:
            file.truncate((100 << 20) + 1)

    judged = await _judged(remote, tmp_path, work)
    assert "100 MB" in judged.dropped[0].reason


# Git's own index of the worktree, which only a sandbox keeps from programs


def _index(one: Worktree, *args: str) -> None:
    git(one.path, f"--git-dir={one.place.git_dir}", f"--work-tree={one.path}", *args)


def _spoil(one: Worktree) -> None:
    (one.place.git_dir / "index").write_bytes(b"no index")
    (one.place.git_dir / "index.lock").write_bytes(b"")


def _pipe(one: Worktree) -> None:
    (one.place.git_dir / "index").unlink()
    os.mkfifo(one.place.git_dir / "index")


def _added(one: Worktree) -> None:
    (one.path / "k8s/new.yaml").write_text("new\n")
    _index(one, "add", "k8s/new.yaml")
    (one.path / "k8s/new.yaml").unlink()


HIDING: dict[str, Callable[[Worktree], None]] = {
    "assumed": lambda one: _index(one, "update-index", "--assume-unchanged", "k8s/deploy.yaml"),
    "skipped": lambda one: _index(one, "update-index", "--skip-worktree", "k8s/deploy.yaml"),
    "taken-out": lambda one: _index(one, "rm", "--cached", "--quiet", "k8s/deploy.yaml"),
    "put-in": _added,
    "gone": lambda one: (one.place.git_dir / "index").unlink(),
    "spoilt": _spoil,
    "a-pipe": _pipe,
}


@pytest.mark.parametrize("name", HIDING)
@finished
async def test_a_file_is_not_hidden_by_gits_own_index(
    remote: Remote, tmp_path: Path, name: str
) -> None:
    async with _leased(remote, tmp_path) as (_, one):
        HIDING[name](one)
        _write(one.path, "k8s/deploy.yaml", "replicas: 99\n")
        found = await changes(one)
        assert [(change.path, change.kind) for change in found] == [
            ("k8s/deploy.yaml", Kind.MODIFIED)
        ]
        await drop(one, judge(found, SCOPES, "@dede").dropped)
        assert (one.path / "k8s/deploy.yaml").read_text() == "replicas: 1\n"
        assert await changes(one) == ()


@pytest.mark.parametrize("name", HIDING)
@finished
async def test_what_gits_index_hides_is_not_left_for_the_next_task(
    remote: Remote, tmp_path: Path, name: str
) -> None:
    async with _leased(remote, tmp_path) as (worktrees, one):
        HIDING[name](one)
        _write(one.path, "k8s/deploy.yaml", "replicas: 99\n")
    async with worktrees.lease(REPO, "task/next", "main") as following:
        assert following.path == one.path
        assert (following.path / "k8s/deploy.yaml").read_text() == "replicas: 1\n"


@finished
async def test_an_index_that_nobody_touched_is_kept_with_what_it_knows(
    remote: Remote, tmp_path: Path
) -> None:
    """Made anew, git would have to read all files of the repository."""
    async with _leased(remote, tmp_path) as (_, one):
        index = one.place.git_dir / "index"
        before = index.stat()
        _write(one.path, "k8s/deploy.yaml", "replicas: 99\n")
        found = await changes(one)
        assert index.stat().st_ino == before.st_ino
        await drop(one, judge(found, SCOPES, "@dede").dropped)
        after = index.stat().st_ino
        assert await changes(one) == ()
        assert index.stat().st_ino == after
