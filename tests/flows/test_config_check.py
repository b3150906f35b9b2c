"""The configuration a pull request brings is checked before it is merged."""

from __future__ import annotations

import base64

from tests.recovery.town import REPO, Town, until

BAD = """answerers:
  routes:
    - pattern: billing.**
      answerer: agent/nobody
"""


def propose(town: Town, branch: str, path: str, text: str) -> dict:
    """A pull request that adds a file."""
    mara = town.client.as_user("mara")
    head = mara.call("GET", f"/repos/{REPO}/git/ref/heads/main")["object"]["sha"]
    ref = {"ref": f"refs/heads/{branch}", "sha": head}
    mara.call("POST", f"/repos/{REPO}/git/refs", json=ref)
    content = base64.b64encode(text.encode()).decode()
    body = {"message": "Configure", "content": content, "branch": branch}
    mara.call("PUT", f"/repos/{REPO}/contents/{path}", json=body)
    pull = {"title": "Configure", "head": branch, "base": "main"}
    return mara.call("POST", f"/repos/{REPO}/pulls", json=pull)


def checks(town: Town, pull: dict) -> list[dict]:
    sha = pull["head"]["sha"]
    found = town.client.call("GET", f"/repos/{REPO}/commits/{sha}/check-runs")["check_runs"]
    return [run for run in found if run["name"] == "baron/config"]


def test_a_mistake_is_named_by_line_and_key(town: Town) -> None:
    pull = propose(town, "bad-config", ".github/baron.yml", BAD)
    until(lambda: checks(town, pull), 15, "no check")
    run = checks(town, pull)[0]
    assert run["conclusion"] == "failure"
    notes = town.client.call("GET", f"/repos/{REPO}/check-runs/{run['id']}/annotations")
    assert [(note["path"], note["start_line"]) for note in notes] == [(".github/baron.yml", 4)]
    assert "nobody" in notes[0]["message"]
    assert "answerers.routes[0].answerer" in notes[0]["message"]


def test_a_good_one_passes_and_other_files_are_none_of_its_business(town: Town) -> None:
    good = propose(town, "good-config", ".github/baron.yml", BAD.replace("nobody", "architect"))
    other = propose(town, "no-config", "docs/notes.md", "Nothing.")
    until(lambda: checks(town, good), 15, "no check")
    assert checks(town, good)[0]["conclusion"] == "success"
    assert checks(town, other) == []
