"""The demo's program, and any other interpreter of Python, starts behind every kind of wall."""

from __future__ import annotations

import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.agents.claude import Slots
from app.agents.protocols import Prompt
from app.cli_commands.demo_crew import command
from app.execution.running import CommandRunner, Outcome, Task
from app.execution.sandbox import Walls
from app.scopes import parse
from tests.agents.test_contained import Tickets
from tests.execution.git_help import REPO, Remote, finished, pool

pytestmark = [pytest.mark.needs("git", "landlock", "bubblewrap")]

FILES: dict[str, bytes | None] = {"src/app.py": b"print('shop')\n"}
SCOPES = parse("/src/ @dede\n")


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    found = Remote(tmp_path / "remote")
    found.push(FILES)
    yield found
    found.close()


async def outcome(argv: list[str], text: str, walls: Walls, remote: Remote, at: Path) -> Outcome:
    task = Task(Prompt("", text, "task/1"), "@dede", SCOPES)
    runner = CommandRunner(argv, Tickets("http://127.0.0.1:49151"), Slots(400), walls)
    async with pool(remote, at).lease(REPO, "task/T001", "main") as worktree:
        return await runner.run(task, worktree)


@pytest.mark.parametrize("walls", Walls)
@finished
async def test_the_program_works_behind_any_walls(
    walls: Walls, remote: Remote, tmp_path: Path
) -> None:
    found = await outcome(command(), "Write `src/shop/`", walls, remote, tmp_path)
    assert [change.path for change in found.kept] == ["src/shop/__init__.py"]
    assert "I wrote src/shop/__init__.py." in found.said


@pytest.mark.parametrize("walls", [Walls.BOTH, Walls.LANDLOCK])
@finished
async def test_an_interpreter_of_an_environment_is_found(
    walls: Walls, remote: Remote, tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", symlinks=True, with_pip=False)
    (tmp_path / "prefix.py").write_text("import sys; print(sys.prefix, sys.argv[1])")
    python = str(tmp_path / "venv/bin/python")
    argv = [python, "-I", str(tmp_path / "prefix.py"), "/not/there"]
    found = await outcome(argv, "Say where you are", walls, remote, tmp_path)
    assert found.said.split() == [str(tmp_path / "venv"), "/not/there"]


@finished
async def test_what_is_not_named_is_not_shown(remote: Remote, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret")
    (tmp_path / "look.py").write_text(f"import os; print(os.path.exists({str(secret)!r}))")
    argv = [sys.executable, "-I", "-S", str(tmp_path / "look.py")]
    assert (await outcome(argv, "Look", Walls.BOTH, remote, tmp_path)).said == "False\n"
    seen = await outcome([*argv, str(secret)], "Look", Walls.BOTH, remote, tmp_path / "again")
    assert seen.said == "True\n"
