"""A task behind both walls: what is in scope stays, all else is stopped, put back and told."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.agents.claude import Slots
from app.agents.protocols import AgentUnavailable, Prompt
from app.execution.running import ClaudeRunner, CommandRunner, Task
from app.execution.sandbox import Walls
from app.scopes import parse
from tests.agents.scripted import Scene, ScriptedModel, Seen, hangs, says
from tests.agents.test_contained import Tickets
from tests.execution.git_help import REPO, Remote, finished, pool

pytestmark = [pytest.mark.needs("git", "landlock", "bubblewrap")]

SCOPES = parse("/tests/ @marie\n/src/ @dede\n/k8s/ @gustave\n")
FILES: dict[str, bytes | None] = {
    "src/app.py": b"print('shop')\n",
    "k8s/deploy.yaml": b"replicas: 1\n",
    ".github/AGENT_SCOPES": b"/src/ @dede\n",
}
TASK = Task(Prompt("You are @dede.", "Add the export.", "task/1"), "@dede", SCOPES, "opus")


@pytest.fixture
def remote(remote: Remote) -> Remote:
    remote.push(FILES)
    return remote


def acts(*commands: str) -> Any:
    """A model that has its shell do these, one after another."""

    def script(seen: Seen) -> Scene:
        blocks = [
            block
            for message in seen.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        done = sum(block.get("type") == "tool_result" for block in blocks)
        if "Bash" not in seen.tools or done == len(commands):
            return says("All done.")
        given = {"command": commands[done], "description": "work"}
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": "Bash", "input": given}
        return Scene((block,), stop_reason="tool_use")

    return script


@pytest.mark.needs("claude")
@finished
async def test_claude_code_works_in_its_scope_and_nowhere_else(
    remote: Remote, tmp_path: Path
) -> None:
    commands = (
        "echo 'export = 1' > src/export.py",
        "echo evil > k8s/evil.yaml",
        "echo '* @dede' > .github/AGENT_SCOPES",
        "cat /proc/self/environ | tr '\\0' '\\n' | grep -c KR_ > src/seen.txt; true",
    )
    with ScriptedModel(script=acts(*commands)) as model:
        runner = ClaudeRunner(Tickets(model.url), Slots(400), Walls.BOTH)
        async with pool(remote, tmp_path).lease(REPO, "task/T001", "main") as worktree:
            outcome = await runner.run(TASK, worktree)
            assert not (worktree.path / "k8s/evil.yaml").exists()
    assert sorted(change.path for change in outcome.kept) == ["src/export.py", "src/seen.txt"]
    assert outcome.dropped == ()  # the kernel had stopped it before
    assert outcome.said == "All done."
    first = model.requests[0]
    assert first.body["model"].startswith("claude-opus")
    assert "You are @dede." in first.system
    assert "Add the export." in first.said


@finished
async def test_without_the_kernels_wall_the_diff_puts_it_back(
    remote: Remote, tmp_path: Path
) -> None:
    script = "cat > src/prompt.txt; echo evil > k8s/evil.yaml; rm k8s/deploy.yaml; echo did it"
    with ScriptedModel(says("x")) as model:
        program = (str(shutil.which("sh")), "-c", script)
        runner = CommandRunner(program, Tickets(model.url), Slots(400), Walls.NONE)
        async with pool(remote, tmp_path).lease(REPO, "task/T002", "main") as worktree:
            outcome = await runner.run(TASK, worktree)
            assert (worktree.path / "k8s/deploy.yaml").read_bytes() == b"replicas: 1\n"
            assert not (worktree.path / "k8s/evil.yaml").exists()
            told = "You are @dede.\n\nAdd the export."
            assert (worktree.path / "src/prompt.txt").read_text() == told
    assert [change.path for change in outcome.kept] == ["src/prompt.txt"]
    assert sorted(one.change.path for one in outcome.dropped) == [
        "k8s/deploy.yaml", "k8s/evil.yaml"
    ]  # fmt: skip
    assert all("@gustave" in one.reason for one in outcome.dropped)
    assert outcome.said == "did it\n"


@finished
async def test_a_flawed_scope_file_gives_nothing_to_write(remote: Remote, tmp_path: Path) -> None:
    flawed = replace(TASK, scopes=parse("/src/ @dede\n!/src/x @dede\n"))
    with ScriptedModel(says("x")) as model:
        program = (str(shutil.which("sh")), "-c", "echo x > src/a.py || true")
        runner = CommandRunner(program, Tickets(model.url), Slots(400), Walls.BOTH)
        async with pool(remote, tmp_path).lease(REPO, "task/T003", "main") as worktree:
            outcome = await runner.run(flawed, worktree)
    assert outcome.kept == ()


@pytest.mark.needs("claude")
@finished
async def test_a_task_that_takes_too_long_is_given_up(remote: Remote, tmp_path: Path) -> None:
    with ScriptedModel(hangs()) as model:
        runner = ClaudeRunner(Tickets(model.url), Slots(400), Walls.BOTH)
        async with pool(remote, tmp_path).lease(REPO, "task/T004", "main") as worktree:
            with pytest.raises(AgentUnavailable, match="not done within 6 seconds"):
                await runner.run(replace(TASK, seconds=6.0), worktree)


@finished
async def test_a_program_that_fails_says_why(remote: Remote, tmp_path: Path) -> None:
    with ScriptedModel(says("x")) as model:
        program = (str(shutil.which("sh")), "-c", "echo no luck >&2; exit 3")
        runner = CommandRunner(program, Tickets(model.url), Slots(400), Walls.BOTH)
        async with pool(remote, tmp_path).lease(REPO, "task/T005", "main") as worktree:
            with pytest.raises(AgentUnavailable, match="ended with 3: no luck"):
                await runner.run(TASK, worktree)
