"""`baron/scope` on real pull requests: whoever opens them, it reports."""

from __future__ import annotations

import base64
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.building import remove
from tests.flows.building import write as put
from tests.recovery.town import REPO, Town, until

pytestmark = [pytest.mark.needs("git")]
IN_FORCE = 10.0
"""Seconds within which a repository's configuration is in force."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """One of its own: what stands on main decides what is in scope."""
    with Town(Path(tmp_path_factory.mktemp("scope-check")) / "town") as made:
        yield made


@pytest.fixture
def bound(town: Town) -> Iterator[None]:
    """People are held to scopes, too."""
    rules = {
        ".github/AGENT_SCOPES": "/src/ @dede @mara\n/tests/ @marie\n/k8s/ @gustave\n",
        ".github/baron.yml": "baron:\n  scopes:\n    people: true\n",
    }
    for path, text in rules.items():
        put(town, "main", path, text)
    time.sleep(IN_FORCE)
    yield
    for path in rules:
        remove(town, "main", path)
    time.sleep(IN_FORCE)


class Branch:
    """A branch and its commits, by the API as a person uses it."""

    def __init__(self, town: Town, name: str) -> None:
        self._town, self._name = town, name
        self._mara = town.client.as_user("mara")
        head = self._mara.call("GET", f"/repos/{REPO}/git/ref/heads/main")["object"]["sha"]
        ref = {"ref": f"refs/heads/{name}", "sha": head}
        self._mara.call("POST", f"/repos/{REPO}/git/refs", json=ref)

    @classmethod
    def of(cls, town: Town, name: str) -> Branch:
        """One that is there already."""
        found = cls.__new__(cls)
        found._town, found._name, found._mara = town, name, town.client.as_user("mara")
        return found

    def write(self, path: str, agent: str = "", text: str = "x\n") -> None:
        message = f"Add {path}" + (f"\n\nAgent: {agent}\nTask: T001" if agent else "")
        content = base64.b64encode(text.encode()).decode()
        body = {"message": message, "content": content, "branch": self._name}
        self._mara.call("PUT", f"/repos/{REPO}/contents/{path}", json=body)

    def propose(self) -> dict[str, Any]:
        pull = {"title": f"Take {self._name}", "head": self._name, "base": "main"}
        return dict(self._mara.call("POST", f"/repos/{REPO}/pulls", json=pull))


def check(town: Town, sha: str, seconds: float = 20) -> dict[str, Any]:
    def found() -> Any:
        runs = town.client.call("GET", f"/repos/{REPO}/commits/{sha}/check-runs")["check_runs"]
        return [run for run in runs if run["name"] == "baron/scope"]

    (run,) = until(found, seconds, "no check")
    return dict(run)


def test_an_agents_pull_request_is_held_against_its_scope(town: Town) -> None:
    branch = Branch(town, "agents-work")
    branch.write("src/storefront/export.py", "dede")
    branch.write("tests/test_export.py", "marie")
    pull = branch.propose()
    run = check(town, pull["head"]["sha"])
    assert (run["conclusion"], run["output"]["title"]) == ("success", "2 paths, all in scope")

    branch.write("k8s/export.yaml", "dede")
    number = pull["number"]
    head = town.client.call("GET", f"/repos/{REPO}/pulls/{number}")["head"]["sha"]
    run = check(town, head)
    assert run["conclusion"] == "failure"
    notes = town.client.call("GET", f"/repos/{REPO}/check-runs/{run['id']}/annotations")
    assert [note["path"] for note in notes] == ["k8s/export.yaml"]
    assert "@gustave" in notes[0]["message"]


def test_a_persons_pull_request_is_let_through_and_reported(town: Town) -> None:
    branch = Branch(town, "peoples-work")
    branch.write("k8s/people.yaml")
    run = check(town, branch.propose()["head"]["sha"])
    assert (run["conclusion"], run["output"]["title"]) == (
        "success", "Written by people: scopes bind agents"
    )  # fmt: skip


def test_the_scope_file_of_the_base_branch_counts_not_the_one_that_is_proposed(town: Town) -> None:
    branch = Branch(town, "own-rules")
    branch.write(".github/AGENT_SCOPES", "dede", "* @dede\n")
    branch.write("k8s/own.yaml", "dede")
    run = check(town, branch.propose()["head"]["sha"])
    assert run["conclusion"] == "failure"
    assert run["output"]["title"] == "2 of 2 paths outside the scope of their agent"


def test_an_owner_allows_one_commit_a_path_and_the_next_push_asks_again(town: Town) -> None:
    branch = Branch(town, "wants-leave")
    branch.write("docs/export.md", "dede")
    pull = branch.propose()
    head, number = pull["head"]["sha"], pull["number"]
    assert check(town, head)["conclusion"] == "failure"
    mara = town.client.as_user("mara")
    mara.comment(REPO, number, "/allow docs/export.md It is described there.")
    until(lambda: check(town, head)["conclusion"] == "success", 20, "still failing")
    assert "It is described there." in check(town, head)["output"]["summary"]
    branch.write("src/storefront/next.py", "dede")
    head = town.client.call("GET", f"/repos/{REPO}/pulls/{number}")["head"]["sha"]
    assert check(town, head)["conclusion"] == "failure"


@pytest.mark.usefixtures("bound")
def test_where_the_repository_asks_for_it_people_are_bound_too(town: Town) -> None:
    branch = Branch(town, "peoples-bounds")
    branch.write("src/storefront/mine.py")
    branch.write("k8s/mine.yaml")
    run = check(town, branch.propose()["head"]["sha"])
    assert run["conclusion"] == "failure"
    assert run["output"]["title"] == "1 of 2 paths outside the scope of its agent"


def test_more_files_than_github_lists_are_read_from_git(town: Town, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    url = town.github.replace("://", "://mara:ghp_mara@") + f"/{REPO}.git"

    def git(*args: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=mara", "-c", "user.email=mara@example.invalid", *args],
            cwd=clone if clone.exists() else tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    git("clone", "-q", url, str(clone))
    git("checkout", "-q", "-b", "large-one")
    folder = clone / "src" / "many"
    folder.mkdir(parents=True)
    for number in range(3100):
        (folder / f"f{number}.py").write_text("x = 1\n")
    (clone / "k8s").mkdir(exist_ok=True)
    (clone / "k8s" / "zz-last.yaml").write_text("replicas: 9\n")
    git("add", "-A")
    git("commit", "-q", "-m", "Add many\n\nAgent: dede\nTask: T001")
    git("push", "-q", "origin", "large-one")
    run = check(town, Branch.of(town, "large-one").propose()["head"]["sha"], 60)
    assert run["conclusion"] == "failure"
    assert run["output"]["title"] == "1 of 3101 paths outside the scope of its agent"


def test_a_second_pull_request_of_the_commit_does_not_turn_its_check_green(town: Town) -> None:
    first = Branch(town, "same-head")
    first.write("k8s/same.yaml", "dede")
    pull = first.propose()
    head = pull["head"]["sha"]
    assert check(town, head)["conclusion"] == "failure"
    mara = town.client.as_user("mara")
    lax = {"ref": "refs/heads/lax", "sha": pull["base"]["sha"]}
    mara.call("POST", f"/repos/{REPO}/git/refs", json=lax)
    put(town, "lax", ".github/AGENT_SCOPES", "* @dede\n")
    other = {"title": "Into lax", "head": "same-head", "base": "lax"}
    mara.call("POST", f"/repos/{REPO}/pulls", json=other)
    time.sleep(4)
    assert check(town, head)["conclusion"] == "failure"
