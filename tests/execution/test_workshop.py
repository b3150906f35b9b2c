"""A task from its order to its commit on the branch, with everything that may go wrong outside."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.actions import LandTask, RunTask
from app.agents.claude import Slots
from app.agents.protocols import NOBODY
from app.execution.branches import Author
from app.execution.mirror import Mirrors
from app.execution.running import CommandRunner
from app.execution.sandbox import Walls
from app.execution.workshop import Worker, Workshop, subject
from app.execution.worktrees import Worktrees
from app.features.dispatch import ExecutionTask
from app.features.model import Place
from tests.agents.test_contained import Tickets
from tests.execution.git_help import REPO, TOKEN, Remote, finished, git

pytestmark = [pytest.mark.needs("git", "landlock", "bubblewrap")]

BRANCH = "012-export"
FOLDER = f"specs/{BRANCH}"
SPEC = """\
# Spec

### User Story 1 - Export (Priority: P1)

1. **Given** orders, **When** exported, **Then** a file comes.

### User Story 2 - Other (Priority: P2)

1. **Given** nothing, **When** asked, **Then** nothing.

- **FR-001**: As CSV (Q1)
- **FR-002**: By mail (Q2)
"""
FILES: dict[str, bytes | None] = {"src/app.py": b"print('shop')\n", "k8s/a.yaml": b"replicas: 1\n"}
PLACE = Place(7, 70, REPO, 12)
TASK = ExecutionTask(
    "T002", 2, "Implement the export in `src/export.py`", story="US1", decisions=("Q1",),
    role="developer", agent="@dede", run=1,
)  # fmt: skip
ORDER = RunTask(
    "f1:T002:run:1", 1, PLACE, TASK, "Export", BRANCH, "main", FOLDER,
    answers=(("Q1", "Which format?", "CSV", "@mara"),), testers="@marie",
)  # fmt: skip
SCRIPT = "cat > src/said.txt; echo 'x = 1' > src/export.py; echo evil > k8s/evil.yaml; echo done"


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    found = Remote(tmp_path / "remote")
    found.push(FILES)
    git(found.bare(), "branch", BRANCH, "main")
    documents = {f"{FOLDER}/spec.md": SPEC.encode(), "tests/test_export.py": b"def test(): ...\n"}
    found.push(documents, BRANCH)
    yield found
    found.close()


class Shop:
    """A workshop on a remote, with a shell for its developer."""

    def __init__(self, remote: Remote, folder: Path, script: str = SCRIPT) -> None:
        self.token: str | None = None
        self.forgotten: list[str] = []
        program = (str(shutil.which("sh")), "-c", script)
        runner = CommandRunner(program, Tickets("http://127.0.0.1:9"), Slots(400), Walls.BOTH)
        self.worker = Worker(
            runner, "the developer", 60.0, lambda text: [f"On {text[:9]}: stream."]
        )
        mirrors = Mirrors(folder / "m", remote.url, self._token)
        self.trees = Worktrees(mirrors, folder / "w")
        self.shop = Workshop(self.trees, lambda handle: Author(handle, "a@acme.test"),
                             forget=self._forget)  # fmt: skip

    async def _token(self, repo: str) -> str | None:
        return self.token

    def _forget(self, repo: str) -> None:
        self.forgotten.append(repo)
        self.token = TOKEN

    async def done(self, order: RunTask = ORDER) -> LandTask:
        """Run it; the order to land what came of it."""
        event = await self.shop.run(order, self.worker, NOBODY)
        assert event.error == ""
        return LandTask("k", 1, PLACE, order.task.name, order.task.run, event.commit, BRANCH)


@finished
async def test_us5_2_dede_gets_his_task_its_tests_and_only_the_answers_it_rests_on(
    remote: Remote, tmp_path: Path
) -> None:
    shop = Shop(remote, tmp_path)
    event = await shop.shop.run(ORDER, shop.worker, NOBODY)
    assert event.files == ("src/export.py", "src/said.txt")
    assert event.said == "done\n"
    landed = await shop.shop.land(LandTask("k", 1, PLACE, "T002", 1, event.commit, BRANCH))
    said = git(remote.bare(), "show", f"{BRANCH}:src/said.txt")
    assert "tests/test_export.py" in said
    assert "a file comes" in said
    assert "FR-001" in said
    assert "/src/" in said
    assert "CSV" in said
    assert "On Implement: stream." in said
    for other in ("FR-002", "nothing, **When**", "By mail", "replicas"):
        assert other not in said
    message = git(remote.bare(), "log", "-1", "--format=%an%n%B", landed.head)
    assert message == (
        "@dede\nT002 Implement the export in src/export.py\n\n"
        "Agent: dede\nTask: T002\nDecision: Q1\nRun: 1.T002.1"
    )


@finished
async def test_us5_3_gustave_writes_manifests_and_workflows_and_nothing_else(
    remote: Remote, tmp_path: Path
) -> None:
    names = ("k8s/alloy.yaml", "argocd/a.yaml", "kustomize/a.yaml", "helm/a.yaml",
             ".github/workflows/deploy.yml")  # fmt: skip
    script = "; ".join(f"echo x > {name} || true" for name in (*names, "src/app.py", "tests/a.py"))
    shop = Shop(remote, tmp_path, f"{script}; echo done")
    task = replace(TASK, text="Deploy Grafana Alloy", role="devops", agent="@gustave")
    event = await shop.shop.run(replace(ORDER, task=task), shop.worker, NOBODY)
    assert event.files == tuple(sorted(names))
    landed = await shop.shop.land(LandTask("k", 1, PLACE, "T002", 1, event.commit, BRANCH))
    changed = git(remote.bare(), "show", "--name-only", "--format=", landed.head).split()
    assert changed == sorted(names)


@finished
async def test_landing_again_after_a_crash_brings_it_once(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    first = await shop.shop.land(order)
    remote.push({"src/other.py": b"y = 2\n"}, BRANCH)
    again = await shop.shop.land(order)
    assert again.error == ""
    log = git(remote.bare(), "log", "--format=%s", f"main..{BRANCH}").splitlines()
    assert sum(line.startswith("T002") for line in log) == 1
    assert first.head != again.head


@finished
async def test_it_comes_on_top_of_what_others_pushed_meanwhile(
    remote: Remote, tmp_path: Path
) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    theirs = remote.push({"src/other.py": b"y = 2\n"}, BRANCH)
    landed = await shop.shop.land(order)
    assert git(remote.bare(), "rev-parse", f"{landed.head}^") == theirs


@finished
async def test_a_conflict_names_the_paths(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    theirs = remote.push({"src/export.py": b"z = 3\n"}, BRANCH)
    landed = await shop.shop.land(order)
    assert landed.conflict == ("src/export.py",)
    assert remote.head(BRANCH) == theirs


@finished
async def test_a_history_that_was_rewritten_is_a_conflict_and_comes_not_back(
    remote: Remote, tmp_path: Path
) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    git(remote.bare(), "update-ref", f"refs/heads/{BRANCH}", "main")
    landed = await shop.shop.land(order)
    assert landed.conflict
    assert "rewritten" in landed.conflict[0]
    assert remote.head(BRANCH) == remote.head("main")


@finished
async def test_a_push_that_the_remote_refuses_says_why(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    order, before = await shop.done(), remote.head(BRANCH)
    hook = remote.bare() / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    landed = await shop.shop.land(order)
    assert "hook declined" in landed.error
    assert remote.head(BRANCH) == before


@finished
async def test_a_branch_that_was_deleted_is_not_made_anew(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    git(remote.bare(), "branch", "-D", BRANCH)
    landed = await shop.shop.land(order)
    assert "is gone" in landed.error
    event = await shop.shop.run(replace(ORDER, task=replace(TASK, run=2)), shop.worker, NOBODY)
    assert "is gone" in event.error


@finished
async def test_a_commit_that_is_not_here_any_more_is_lost(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    landed = await shop.shop.land(replace(order, commit="e" * 40))
    assert landed.lost


@finished
async def test_a_token_that_ends_halfway_is_asked_for_anew(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    order = await shop.done()
    remote.token = TOKEN
    landed = await shop.shop.land(order)
    assert landed.error == ""
    assert shop.forgotten == [REPO]


@finished
async def test_an_empty_repository_says_so(remote: Remote, tmp_path: Path) -> None:
    shop = Shop(remote, tmp_path)
    remote.bare("acme/empty")
    empty = replace(ORDER, place=replace(PLACE, repo="acme/empty"))
    event = await shop.shop.run(empty, shop.worker, NOBODY)
    assert "is gone" in event.error


@finished
async def test_many_land_one_by_one(remote: Remote, tmp_path: Path) -> None:
    script = "name=$(grep -o 'src/f[0-9]*.py' | head -n 1); echo 1 > $name; echo ok"
    shop = Shop(remote, tmp_path, script)
    tasks = [
        replace(TASK, name=f"T{n:03d}", text=f"Write `src/f{n}.py`", place=n) for n in range(1, 7)
    ]
    orders = await asyncio.gather(*(shop.done(replace(ORDER, task=task)) for task in tasks))
    landed = await asyncio.gather(*(shop.shop.land(order) for order in orders))
    assert all(one.head and not one.error for one in landed)
    log = git(remote.bare(), "log", "--format=%s", f"main..{BRANCH}").splitlines()
    assert sorted(line.split()[0] for line in log if line.startswith("T")) == [
        task.name for task in tasks
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Fix it [skip ci]", "T001 Fix it skip ci"),
        ("closes #99 now", "T001 closes 99 now"),
        ("@mara\nSigned-off-by: x", "T001 mara Signed-off-by x"),
        ("", "T001"),
        (
            "Write it in `src/let-customers-export/x/`.",
            "T001 Write it in src/let-customers-export/x/",
        ),
        (
            "Write failing tests for all of it in `tests/let-customers-export-their/`",
            "T001 Write failing tests for all of it in …",
        ),
        ("x" * 100, f"T001 {'x' * 65}…"),
    ],
)
def test_the_subject_of_a_commit_has_no_power(text: str, wanted: str) -> None:
    assert subject("T001", text) == wanted
