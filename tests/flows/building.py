"""A town with execution agents, and what people do there from specification to merge."""

from __future__ import annotations

import base64
import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import yaml

from app.config.shipped import shipped_folder
from app.store import log
from tests.agents.scripted import Scene, Seen, says
from tests.recovery.test_kills import settle
from tests.recovery.town import REPO, Town, until

KEY = "a-key-that-no-agent-sees"
ISSUE = ("Let customers export their orders", "They want them as a file.")
TASKS = """\
# Tasks: export

## Phase 1: Tests first
- [ ] T001 [P] [US1] Write failing tests in `tests/test_export.py`

## Phase 2: Code
- [ ] T002 [US1] Implement the export in `src/storefront/export.py` (depends on T001)
- [ ] T003 Review everything that was changed
"""
Commands = Callable[[Seen], tuple[str, ...]]


def configured(folder: Path, **roles: dict[str, Any]) -> Path:
    """A folder of configuration like the shipped one, with other backends for some roles."""
    configs = folder / "configs"
    shutil.copytree(shipped_folder(), configs)
    agents = yaml.safe_load((configs / "agents.yaml").read_text())
    silent = {
        "project-manager": {"backend": "none"},
        "architect": {"backend": "retrieval"},
        "product": {"backend": "retrieval"},
        "reviewer": {"backend": "none"},
    }
    for name, changes in {**silent, **roles}.items():
        agents["roles"][name] |= changes
    agents["budget"] = {"feature": 50.0, "person": None, "day": None, "repository": None}
    (configs / "agents.yaml").write_text(yaml.safe_dump(agents))
    baron = configs / "baron.yaml"
    baron.write_text(yaml.safe_dump({"questions": {"limit": 1}}))
    return configs


def by_claude() -> dict[str, Any]:
    return {"backend": "claude", "model": "sonnet", "timeout": "2m"}


def by_shell(script: str) -> dict[str, Any]:
    """A program in place of a model: a shell that is given the task on its standard input."""
    return {"backend": "command", "command": [str(shutil.which("sh")), "-c", script]}


def acting(commands: Commands) -> Callable[[Seen], Scene]:
    """A model that has its shell do these, one after another, and then says that it is done."""

    def script(seen: Seen) -> Scene:
        blocks = [
            block
            for message in seen.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        done = sum(block.get("type") == "tool_result" for block in blocks)
        wanted = commands(seen)
        if "Bash" not in seen.tools or done >= len(wanted):
            return says("All done.")
        given = {"command": wanted[done], "description": "work"}
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": "Bash", "input": given}
        return Scene((block,), stop_reason="tool_use")

    return script


def specified(town: Town, tasks: str = TASKS, issue: tuple[str, str] = ISSUE) -> int:
    """A feature whose documents stand, with tasks.md as the maintainer pushed it."""
    number = town.open(*issue)
    settle(town, number)
    write(town, branch_of(town, number), f"specs/{branch_of(town, number)}/tasks.md", tasks)
    return number


def branch_of(town: Town, number: int) -> str:
    refs = town.client.call("GET", f"/repos/{REPO}/git/matching-refs/heads/{number:03d}-")
    return str(refs[0]["ref"]).removeprefix("refs/heads/")


def write(town: Town, branch: str, path: str, text: str, message: str = "") -> str:
    """Commit a file as the maintainer does; gives the commit."""
    person = town.client.as_user("mara")
    url = f"/repos/{REPO}/contents/{path}"
    body = {
        "message": message or f"Write {path}",
        "content": base64.b64encode(text.encode()).decode(),
        "branch": branch,
    }
    with contextlib.suppress(httpx.HTTPStatusError):
        body["sha"] = person.call("GET", f"{url}?ref={branch}")["sha"]
    return str(person.call("PUT", url, json=body)["commit"]["sha"])


def remove(town: Town, branch: str, path: str) -> None:
    """Delete a file as the maintainer does."""
    person = town.client.as_user("mara")
    url = f"/repos/{REPO}/contents/{path}"
    sha = person.call("GET", f"{url}?ref={branch}")["sha"]
    body = {"message": f"Remove {path}", "sha": sha, "branch": branch}
    person.call("DELETE", url, json=body)


def text_at(town: Town, path: str, ref: str) -> str | None:
    try:
        found = town.client.call("GET", f"/repos/{REPO}/contents/{path}?ref={ref}")
    except httpx.HTTPStatusError:
        return None
    return base64.b64decode(found["content"]).decode()


def go(town: Town, number: int) -> None:
    town.client.as_user("mara").comment(REPO, number, "/go")


def pull_of(town: Town, number: int) -> dict[str, Any] | None:
    branch = branch_of(town, number)
    found = town.client.call("GET", f"/repos/{REPO}/pulls?state=all&head=acme:{branch}")
    return dict(found[0]) if found else None


def ready(town: Town, number: int) -> bool:
    pull = pull_of(town, number)
    return bool(pull and not pull["draft"])


def wait_ready(town: Town, number: int, seconds: float = 90.0) -> dict[str, Any]:
    """The pull request once all tasks are done."""
    until(lambda: ready(town, number), seconds, town.status(number)[:1500])
    pull = pull_of(town, number)
    assert pull is not None
    return pull


def commits(town: Town, number: int) -> list[str]:
    """Messages of the feature's commits, the oldest first."""
    pull = pull_of(town, number)
    assert pull is not None
    url = f"/repos/{REPO}/pulls/{pull['number']}/commits?per_page=100"
    return [one["commit"]["message"] for one in town.client.call("GET", url)]


def check(town: Town, sha: str, name: str) -> dict[str, Any] | None:
    runs = town.client.call("GET", f"/repos/{REPO}/commits/{sha}/check-runs")["check_runs"]
    return next((dict(run) for run in runs if run["name"] == name), None)


def checked(town: Town, number: int, name: str) -> dict[str, Any]:
    """The newest commit's check, once it is there."""
    return dict(
        until(
            lambda: check(town, (pull_of(town, number) or {})["head"]["sha"], name), 30, "no check"
        )
    )


def entries(town: Town, number: int, kind: str) -> list[log.Entry]:
    found = httpx.get(f"{town.service}/api/features/{REPO}/{number}/log").json()
    every = [log.Entry(**entry) for entry in found.get("entries", [])]
    return [entry for entry in every if entry.kind == kind]
