"""Acting as people on a playground: for the demo and the tests."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx


class PlaygroundClient:
    """Speaks REST as a user; `as_user` returns one for somebody else.

    The switches are open from the same machine; elsewhere they need `key`, the webhook's secret.
    """

    def __init__(self, base_url: str, login: str = "mara", key: str = "") -> None:
        self.base_url = base_url.rstrip("/")
        self.login, self.key = login, key
        self._http = httpx.Client(
            base_url=f"{self.base_url}/api/v3",
            headers={"Authorization": f"Bearer ghp_{login}", "X-Playground-Key": key},
            timeout=20,
            trust_env=False,
        )

    def as_user(self, login: str) -> PlaygroundClient:
        """Somebody else on the same playground."""
        return PlaygroundClient(self.base_url, login, self.key)

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """A REST call. Raises `httpx.HTTPStatusError`."""
        answer = self._http.request(method, path, **kwargs)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def pages(self, path: str) -> list[Any]:
        """All pages of a list."""
        found: list[Any] = []
        url: str | None = f"{path}?per_page=100"
        while url:
            answer = self._http.get(url)
            answer.raise_for_status()
            found += answer.json()
            url = answer.links.get("next", {}).get("url")
        return found

    def graphql(self, query: str, **variables: Any) -> dict[str, Any]:
        """A GraphQL call: the answer, also one with errors. Raises `httpx.HTTPStatusError`."""
        data = {"query": query, "variables": variables}
        answer: dict[str, Any] = self.call("POST", f"{self.base_url}/api/graphql", json=data)
        return answer

    # deeds

    def open_issue(
        self, repo: str, title: str, body: str, labels: list[str] | None = None
    ) -> dict[str, Any]:
        data = {"title": title, "body": body, "labels": labels or []}
        issue: dict[str, Any] = self.call("POST", f"/repos/{repo}/issues", json=data)
        return issue

    def comment(self, repo: str, number: int, body: str) -> dict[str, Any]:
        path = f"/repos/{repo}/issues/{number}/comments"
        comment: dict[str, Any] = self.call("POST", path, json={"body": body})
        return comment

    def edit_comment(self, repo: str, comment_id: int, body: str) -> None:
        self.call("PATCH", f"/repos/{repo}/issues/comments/{comment_id}", json={"body": body})

    def label(self, repo: str, number: int, name: str) -> None:
        self.call("POST", f"/repos/{repo}/issues/{number}/labels", json={"labels": [name]})

    def unlabel(self, repo: str, number: int, name: str) -> None:
        self.call("DELETE", f"/repos/{repo}/issues/{number}/labels/{quote(name, safe='')}")

    def close(self, repo: str, number: int) -> None:
        self.call("PATCH", f"/repos/{repo}/issues/{number}", json={"state": "closed"})

    def reopen(self, repo: str, number: int) -> None:
        self.call("PATCH", f"/repos/{repo}/issues/{number}", json={"state": "open"})

    def delete_issue(self, repo: str, number: int) -> None:
        self.call("DELETE", f"/repos/{repo}/issues/{number}")

    def transfer_issue(self, repo: str, number: int, to: str) -> None:
        """Move it to another repository, which is made if it is not there."""
        owner, name = to.split("/")
        self.control("POST", "repos", {"full_name": to})
        data = {"new_owner": owner, "new_repo": name}
        self.call("POST", f"/repos/{repo}/issues/{number}/transfer", json=data)

    def delete_comment(self, repo: str, comment_id: int) -> None:
        self.call("DELETE", f"/repos/{repo}/issues/comments/{comment_id}")

    def react(self, repo: str, comment_id: int, content: str) -> None:
        path = f"/repos/{repo}/issues/comments/{comment_id}/reactions"
        self.call("POST", path, json={"content": content})

    # looks

    def issue(self, repo: str, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/repos/{repo}/issues/{number}")
        return found

    def comments(self, repo: str, number: int) -> list[dict[str, Any]]:
        return self.pages(f"/repos/{repo}/issues/{number}/comments")

    def reactions(self, comment_id: int, repo: str = "acme/storefront") -> list[dict[str, Any]]:
        return self.pages(f"/repos/{repo}/issues/comments/{comment_id}/reactions")

    def file(self, repo: str, path: str, ref: str) -> str:
        """A file's text on a branch."""
        found = self.call("GET", f"/repos/{repo}/contents/{path}", params={"ref": ref})
        return base64.b64decode(found["content"]).decode()

    def branches(self, repo: str) -> list[str]:
        return [branch["name"] for branch in self.pages(f"/repos/{repo}/branches")]

    # switches

    def control(self, method: str, name: str, data: Any = None) -> Any:
        """Turn a switch: a request to `/_playground/NAME`."""
        answer = self._http.request(method, f"{self.base_url}/_playground/{name}", json=data)
        answer.raise_for_status()
        return answer.json()

    def faults(self, **fault: Any) -> None:
        """Plan a fault: `match`, `kind`, `when`, `times`, `seconds`."""
        self.control("POST", "faults", fault)

    def no_faults(self) -> None:
        self.control("DELETE", "faults")

    def requests(self) -> list[dict[str, Any]]:
        """Every write so far."""
        found: list[dict[str, Any]] = self.control("GET", "requests")
        return found

    def deliveries(self) -> list[dict[str, Any]]:
        """Webhook deliveries with payload and answer, the newest first."""
        found: list[dict[str, Any]] = self.control("GET", "deliveries")
        return found

    def redeliver(self, delivery_id: int) -> None:
        """Send one again, with its GUID."""
        self.control("POST", f"deliveries/{delivery_id}")

    def settle(self) -> None:
        """Wait until no webhook is under way."""
        self.control("POST", "settle")

    def webhook(self, url: str | None, secret: str | None = None) -> None:
        """Change where webhooks go."""
        self.control("POST", "webhook", {"url": url, "secret": secret})

    def add_user(self, login: str, role: str | None = None, **more: Any) -> None:
        """Make a user with a role in all repositories (`repo=`: in one; `role_name=`: custom)."""
        self.control("POST", "users", {"login": login, "role": role, **more})

    def install(self, app: str, *, installed: bool = True) -> None:
        """Put an App, named by its slug, on the organisation, or take it away."""
        self.control("PUT", "apps", {"app": app, "installed": installed})

    def require_checks(
        self, repo: str, branch: str, names: Sequence[str], kind: str = "rules"
    ) -> None:
        """Make checks required to merge into a branch; none with no names.

        `kind` is where that is written: `rules` (a ruleset) or `classic` (branch protection).
        """
        data = {"repo": repo, "branch": branch, "names": list(names), "kind": kind}
        self.control("PUT", "required-checks", data)

    def reset(self) -> None:
        """Everything as at the start."""
        self.control("POST", "reset")

    def state(self) -> dict[str, Any]:
        """All of it in short."""
        found: dict[str, Any] = self.control("GET", "state")
        return found
