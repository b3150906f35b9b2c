"""What a run leaves in the mirror with no wall around it: our git does nothing of what it says.

Each trap is sprung by a plain git first, so that it is known to work (`KR_SANDBOX=none`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.agents.claude import Slots
from app.execution.branches import Pushed, commit, push_commit
from app.execution.landing import Landed, land
from app.execution.running import CommandRunner
from app.execution.sandbox import Walls
from tests.agents.test_contained import Tickets
from tests.execution.attacks import FILES
from tests.execution.git_help import DEDE, REPO, Remote, finished, git, pool
from tests.execution.test_three_walls import GOOD, NOWHERE, SIGNED, TASK

pytestmark = [pytest.mark.needs("git")]

_FILTER = """
git --git-dir=$DIR config filter.evil.clean $TRAP
git --git-dir=$DIR config filter.evil.smudge $TRAP
mkdir -p $DIR/info; echo '* filter=evil' > $DIR/info/attributes
"""
_CLEANED = "git --git-dir=$OWN hash-object --path=src/app.py src/app.py"
_UPDATED = "git --git-dir=$MIRROR update-ref refs/heads/try $BASE"
_STATUS = "git --git-dir=$OWN --work-tree=. status"
TRAPS = {
    "hooks": (
        """
        mkdir -p $MIRROR/hooks
        for one in pre-commit post-checkout post-index-change reference-transaction pre-push; do
            cp $TRAP $MIRROR/hooks/$one
        done
        """,
        _UPDATED,
    ),
    "hooks-path": (
        """
        mkdir $TRAP.d; cp $TRAP $TRAP.d/reference-transaction; cp $TRAP $TRAP.d/post-index-change
        git --git-dir=$MIRROR config core.hooksPath $TRAP.d
        """,
        _UPDATED,
    ),
    "fsmonitor": ("git --git-dir=$MIRROR config core.fsmonitor $TRAP", _STATUS),
    "filter": (_FILTER.replace("$DIR", "$MIRROR"), _CLEANED),
    "filter-in-the-worktree": (
        """
        git --git-dir=$MIRROR config filter.evil.clean $TRAP
        git --git-dir=$MIRROR config filter.evil.smudge $TRAP
        rm $MIRROR/info/attributes; echo '* filter=evil' > src/.gitattributes
        """,
        "git --git-dir=$OWN --work-tree=. hash-object --path=src/app.py src/app.py",
    ),
    "config-of-the-worktree": (
        """
        git --git-dir=$MIRROR config extensions.worktreeConfig true
        git --git-dir=$OWN config --worktree core.fsmonitor $TRAP
        """,
        _STATUS,
    ),
    "another-repository-behind-the-worktree": (
        "cp -r $MIRROR $TRAP.git; echo $TRAP.git > $OWN/commondir"
        + _FILTER.replace("$DIR", "$TRAP.git"),
        _CLEANED,
    ),
}
"""Name → how the trap is laid, and what of a plain git springs it."""


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    found = Remote(tmp_path / "remote")
    found.push(FILES)
    git(found.bare(), "branch", "001-export", "main")
    found.push({"src/app.py": b"print('feature')\n"}, "001-export")
    yield found
    found.close()


def _runner(script: str) -> CommandRunner:
    program = (str(shutil.which("sh")), "-c", f"set -e\n{script}\n")
    return CommandRunner(program, Tickets(NOWHERE), Slots(400), Walls.NONE)


@pytest.mark.parametrize("name", TRAPS)
@finished
async def test_a_trap_in_the_mirror_catches_nobody(
    remote: Remote, tmp_path: Path, name: str
) -> None:
    worktrees, (laid, sprung) = pool(remote, tmp_path), TRAPS[name]
    trap, caught, works = tmp_path / "trap", tmp_path / "caught", tmp_path / "works"
    trap.write_text(f"#!/bin/sh\ntouch {caught}\ncat\n")
    trap.chmod(0o755)
    async with worktrees.lease(REPO, "task/T001", "main") as worktree:
        known = (
            f"MIRROR={worktree.mirror.path} OWN={worktree.place.git_dir} TRAP={trap}"
            f" BASE={worktree.base}"
        )
        spoiled = "echo more >> src/app.py; echo evil >> k8s/deploy.yaml; rm k8s/spare.yaml"
        proof = f"({sprung}) >/dev/null 2>&1 </dev/null || true; mv {caught} {works}"
        script = f"{known}\n{laid}\n{proof}\n{spoiled}\n{GOOD}"
        outcome = await _runner(script).run(TASK, worktree)
        assert works.exists()
        assert {one.change.path for one in outcome.dropped} >= {"k8s/deploy.yaml", "k8s/spare.yaml"}
        sha = await commit(worktrees.mirrors, worktree, outcome.kept, "x", DEDE, SIGNED)
        pushed = await push_commit(worktrees.mirrors, REPO, str(sha), worktree.branch)
        assert isinstance(pushed, Pushed)
    async with worktrees.lease(REPO, "task/T002", str(sha)) as following:
        assert (following.path / "src/good.py").read_text() == "good\n"
        assert (following.path / "k8s/deploy.yaml").read_bytes() == FILES["k8s/deploy.yaml"]
    assert not caught.exists()


@finished
async def test_a_branch_that_a_run_moved_in_the_mirror_does_not_go_out(
    remote: Remote, tmp_path: Path
) -> None:
    """A commit of its own, put under the feature's branch behind our back, is not landed upon."""
    worktrees, branch = pool(remote, tmp_path), "001-export"
    async with worktrees.lease(REPO, "tasks/001-export/T001-1", branch) as worktree:
        script = f"""
        export GIT_DIR={worktree.mirror.path} GIT_INDEX_FILE={tmp_path}/index
        export GIT_AUTHOR_NAME=m GIT_AUTHOR_EMAIL=mara@acme.test
        export GIT_COMMITTER_NAME=m GIT_COMMITTER_EMAIL=mara@acme.test
        blob=$(echo evil | git hash-object -w --stdin)
        git read-tree {worktree.base}
        git update-index --add --cacheinfo 100644,$blob,k8s/evil.yaml
        evil=$(git commit-tree $(git write-tree) -p {worktree.base} -m evil)
        git update-ref refs/heads/{branch} $evil
        git update-ref refs/remotes/origin/{branch} $evil
        {GOOD}
        """
        outcome = await _runner(script).run(TASK, worktree)
        assert [one.path for one in outcome.kept] == ["src/good.py"]
        sha = await commit(worktrees.mirrors, worktree, outcome.kept, "x", DEDE, SIGNED)
    landed = await land(worktrees.mirrors, REPO, str(sha), branch)
    assert isinstance(landed, Landed)
    changed = git(remote.bare(), "diff", "--name-only", "main", branch).split()
    assert changed == ["src/app.py", "src/good.py"]
