"""`kr demo`, from the sample's question to a pull request whose tests pass."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cli_commands import load_settings
from app.cli_commands.demo_crew import ROLES, WITHOUT_MODEL, command, hire, sandbox
from app.cli_commands.demo_setup import prepare
from app.config.loader import load_config
from app.embedded.files import free_port
from app.execution.running import needed
from app.playground.client import PlaygroundClient
from app.texts.marker import read_marker

REPO, ISSUE = "acme/storefront", 1


def until(condition: Callable[[], Any], seconds: float, what: Callable[[], object]) -> Any:
    """What `condition` returns once it is true. Fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(httpx.TransportError):
            if found := condition():
                return found
        time.sleep(0.2)
    raise AssertionError(f"after {seconds} s: {what()}")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-m", "app.cli", "demo", "--port", str(free_port())]
    errors = (tmp_path / "errors.txt").open("w")
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env={**os.environ, "KR_DATA_DIR": str(tmp_path / "data"), "KR_PORT": str(free_port())},
    ) as running:
        yield running
        running.send_signal(signal.SIGTERM)
        rest = running.communicate(timeout=30)[0]
        assert rest == ""  # the address was all that was said
    errors.close()


def status(client: PlaygroundClient) -> str:
    texts = [str(comment["body"]) for comment in client.comments(REPO, ISSUE)]
    return next((t for t in texts if (read_marker(t) or {}).get("kind") == "status"), "")


def answer(client: PlaygroundClient, answered: set[str]) -> bool:
    """Answer what waits for a person; whether the specification stands."""
    for comment in client.comments(REPO, ISSUE):
        fields = read_marker(str(comment["body"])) or {}
        name = fields.get("question", "")
        if fields.get("state") == "escalated" and name not in answered:
            answered.add(name)
            client.comment(REPO, ISSUE, f"/correct {name} As the issue says.")
    return "the specification is written" in status(client)


def proposed(client: PlaygroundClient) -> dict[str, Any] | None:
    """The pull request, once it is no draft any more."""
    found = client.call("GET", f"/repos/{REPO}/pulls?state=open")
    return next((dict(pull) for pull in found if not pull["draft"]), None)


@pytest.mark.slow
@pytest.mark.needs("git")
def test_from_the_question_to_a_pull_request(demo: subprocess.Popen[str], tmp_path: Path) -> None:
    assert demo.stdout is not None
    line = demo.stdout.readline()
    address = line.removeprefix("Playground: ").strip()
    assert line == f"Playground: {address}\n"
    assert address.endswith(f"/{REPO}/issues/{ISSUE}")
    base = address.removesuffix(f"/{REPO}/issues/{ISSUE}")
    mara = PlaygroundClient(base).as_user("mara")

    answered: set[str] = set()
    until(lambda: answer(mara, answered), 90, lambda: status(mara))
    assert answered
    mara.comment(REPO, ISSUE, "/go")
    pull = until(lambda: proposed(mara), 150, lambda: status(mara))

    for page in (address, f"{base}/{REPO}/pull/{pull['number']}"):
        assert "a scripted program" in httpx.get(page).text
    passes(f"{base}/{REPO}.git", pull["head"]["ref"], tmp_path / "clone")


def passes(url: str, branch: str, clone: Path) -> None:
    """The tests of the pull request, with what else is in the repository."""
    subprocess.run(["git", "clone", "-q", "-b", branch, url, str(clone)], check=True, timeout=60)
    found = sorted(clone.glob("tests/let-customers-export-their/*/test_*.py"))
    assert {"behaviour", "whole"} <= {path.parent.name for path in found}
    assert all("scripted program" in path.read_text() for path in found)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(argv, cwd=clone, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_the_configuration_is_valid_and_the_demos_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KR_CONFIG_DIR", str(tmp_path / "operators"))
    monkeypatch.setenv("KR_SANDBOX", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-operators")
    setup = prepare(load_settings(), tmp_path, None, "postgresql://demo", "redis://demo")
    folder = Path(setup.env["KR_CONFIG_DIR"])
    assert folder.is_relative_to(tmp_path)
    config = load_config(folder)
    for name in ("qa", "developer", "devops"):
        assert config.agents.roles[name].backend == "command"
        assert list(config.agents.roles[name].command) == command()
    asked = {config.agents.roles[name].backend for name in WITHOUT_MODEL}
    assert asked == {"none", "retrieval"}
    assert set(WITHOUT_MODEL) | set(ROLES) == set(config.agents.roles)  # none is left to chance
    assert "ANTHROPIC_API_KEY" not in setup.env  # no key of the operator's is used
    assert setup.env["KR_SANDBOX"] == hire(tmp_path).sandbox
    box = setup.programs[0].argv
    assert "scripted program" in box[box.index("--note") + 1]


def test_as_many_walls_as_there_are_and_the_pages_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [sandbox(here) for here in (["bwrap", "landlock"], ["landlock"], ["bwrap"], [])]
    assert found == ["strict", "landlock", "bwrap", "none"]
    monkeypatch.setattr("app.execution.walls.walls_here", frozenset)
    crew = hire(tmp_path)
    assert crew.sandbox == "none"
    assert "does not work on this machine" in crew.note


def test_the_sandbox_shows_an_interpreter_by_all_its_links(tmp_path: Path) -> None:
    base, venv, worktree = tmp_path / "python", tmp_path / "venv", tmp_path / "data/trees/one"
    for folder in (base / "bin", base / "lib/python3.11", venv / "bin", worktree):
        folder.mkdir(parents=True)
    (base / "bin/python3.11").touch()
    (base / "lib/python3.11/os.py").touch()
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    (venv / "bin/python3").symlink_to(base / "bin/python3.11")
    (venv / "bin/python").symlink_to("python3")
    (tmp_path / "program.py").touch()
    argv = (str(venv / "bin/python"), "-I", str(tmp_path / "program.py"), "/not/there", "--x")
    assert needed(argv, worktree) == (tmp_path / "program.py", base, venv)


def test_what_holds_the_worktree_is_never_shown(tmp_path: Path) -> None:
    worktree = tmp_path / "data/trees/one"
    worktree.mkdir(parents=True)
    argv = ("/bin/sh", "/", str(tmp_path / "data"), str(tmp_path))
    shown = needed(argv, worktree)
    assert Path("/bin/sh") in shown
    assert not any(worktree.is_relative_to(path) for path in shown)


def test_a_note_is_escaped_and_there_only_if_wanted(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from app.playground.config import PlaygroundConfig
    from app.playground.server import create_playground

    for note in ("", "<b>Attention</b>"):
        config = PlaygroundConfig("http://testserver", tmp_path, None, "secret", note=note)
        with TestClient(create_playground(config)) as client:
            text = client.get(f"/{REPO}/issues/{ISSUE}").text
        assert ('class="banner"' in text) is bool(note)
        assert "<b>Attention" not in text
        assert ("&lt;b&gt;Attention&lt;/b&gt;" in text) is bool(note)
