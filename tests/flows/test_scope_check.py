"""`baron/scope` on real pull requests: whoever opens them, it reports."""

from __future__ import annotations

import base64
from typing import Any

from tests.recovery.town import REPO, Town, until


class Branch:
    """A branch and its commits, by the API as a person uses it."""

    def __init__(self, town: Town, name: str) -> None:
        self._town, self._name = town, name
        self._mara = town.client.as_user("mara")
        head = self._mara.call("GET", f"/repos/{REPO}/git/ref/heads/main")["object"]["sha"]
        ref = {"ref": f"refs/heads/{name}", "sha": head}
        self._mara.call("POST", f"/repos/{REPO}/git/refs", json=ref)

    def write(self, path: str, agent: str = "", text: str = "x\n") -> None:
        message = f"Add {path}" + (f"\n\nAgent: {agent}\nTask: T001" if agent else "")
        content = base64.b64encode(text.encode()).decode()
        body = {"message": message, "content": content, "branch": self._name}
        self._mara.call("PUT", f"/repos/{REPO}/contents/{path}", json=body)

    def propose(self) -> dict[str, Any]:
        pull = {"title": f"Take {self._name}", "head": self._name, "base": "main"}
        return dict(self._mara.call("POST", f"/repos/{REPO}/pulls", json=pull))


def check(town: Town, sha: str) -> dict[str, Any]:
    def found() -> Any:
        runs = town.client.call("GET", f"/repos/{REPO}/commits/{sha}/check-runs")["check_runs"]
        return [run for run in runs if run["name"] == "baron/scope"]

    (run,) = until(found, 20, "no check")
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
