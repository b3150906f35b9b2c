"""A pull request on the playground, for the tests."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from tests.playground.conftest import REPO, Running

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
TRAILER = "Change\n\nThe reason.\n\nAgent: backend"


@dataclass(frozen=True)
class Opened:
    """By whom it was opened is the bot, or somebody whom `by` names."""

    playground: Running
    number: int
    node: str
    head: str

    @property
    def path(self) -> str:
        return f"/pulls/{self.number}"

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.playground.client.call("GET", f"/repos/{REPO}{self.path}")
        return found

    def check(self, conclusion: str | None, name: str = "baron/scope") -> None:
        output = {"title": "Two files", "summary": "Outside of the **scope**"}
        data = {"name": name, "head_sha": self.head, "output": output}
        more = {"conclusion": conclusion} if conclusion else {"status": "in_progress"}
        answer = self.playground.as_bot("POST", "/check-runs", json={**data, **more})
        assert answer.status_code == 201

    def review(self, **data: Any) -> dict[str, Any]:
        path = f"{self.path}/reviews"
        answer = self.playground.as_bot("POST", path, json={"event": "COMMENT", **data})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def note(self, line: int = 2, body: str = "Here") -> dict[str, Any]:
        return {"path": "x.txt", "line": line, "body": body}


def open_pull(
    playground: Running, *, branch: str = "topic/one", draft: bool = False, by: str = ""
) -> Opened:
    """A branch that adds `x.txt` of twenty lines, and a pull request for it."""
    client = playground.client
    start = client.call("GET", f"/repos/{REPO}/git/ref/heads/main")["object"]["sha"]
    data: dict[str, Any] = {"ref": f"refs/heads/{branch}", "sha": start}
    client.call("POST", f"/repos/{REPO}/git/refs", json=data)
    content = base64.b64encode(TEXT.encode()).decode()
    data = {"message": TRAILER, "content": content, "branch": branch}
    made = client.call("PUT", f"/repos/{REPO}/contents/x.txt", json=data)
    data = {"title": "A change", "head": branch, "base": "main", "draft": draft}
    if by:
        pull = client.as_user(by).call("POST", f"/repos/{REPO}/pulls", json=data)
    else:
        pull = playground.as_bot("POST", "/pulls", json=data).json()
    return Opened(playground, pull["number"], pull["node_id"], made["commit"]["sha"])
