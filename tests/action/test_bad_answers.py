"""The Action where GitHub, or what stands before it, answers badly: it fails, and says why."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from action.__main__ import FAILURE, FINE, NO, WRONG_USE, main

HEAD, BASE = "a" * 40, "b" * 40
ROOT = "/repos/acme/storefront"
PULL = {
    "number": 3, "state": "open", "draft": False, "title": "x", "body": "",
    "user": {"login": "mara", "id": 1, "type": "User"},
    "head": {"sha": HEAD, "ref": "x", "repo": {"id": 7, "full_name": "acme/storefront"}},
    "base": {"sha": BASE, "ref": "main", "repo": {"id": 7, "full_name": "acme/storefront"}},
}  # fmt: skip
EVENT = {
    "action": "opened", "number": 3, "pull_request": PULL,
    "repository": {"id": 7, "full_name": "acme/storefront", "name": "storefront",
                   "default_branch": "main", "owner": {"login": "acme"}},
    "sender": {"login": "mara", "id": 1, "type": "User"},
}  # fmt: skip
FILE = {"filename": "k8s/a.yaml", "status": "added", "patch": "@@ -0,0 +1 @@\n+x", "additions": 1}
MARA = {"login": "mara", "type": "User"}


def commit(message: str = "x", sha: str = HEAD, by: Any = MARA, parents: int = 1) -> dict[str, Any]:
    return {"sha": sha, "author": by, "parents": [{"sha": "c" * 40}] * parents,
            "commit": {"message": message, "author": {"email": "m@acme.test"}}}  # fmt: skip


class GitHub:
    """Answers as it is told to: path → JSON, or bytes for anything else."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {
            f"{ROOT}/pulls/3": PULL,
            f"{ROOT}/pulls/3/files": [FILE],
            f"{ROOT}/pulls/3/commits": [commit("x\n\nAgent: dede")],
            f"{ROOT}/git/trees/{HEAD}": {"truncated": False, "tree": []},
            "/graphql": {
                "data": {
                    "repository": {
                        "pullRequest": {
                            "reviewThreads": {
                                "nodes": [],
                                "pageInfo": {"hasNextPage": False, "endCursor": None},
                            }
                        }
                    }
                }
            },
        }
        self.everywhere: bytes | None = None
        self.status = 200
        self.headers: dict[str, str] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(github: GitHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = github.answers.get(self.path.partition("?")[0])
            body, status = json.dumps(found).encode(), 404 if found is None else 200
            if github.everywhere is not None:
                body, status = github.everywhere, github.status
            self.send_response(status)
            for name, value in github.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def github() -> Iterator[GitHub]:
    made = GitHub()
    yield made
    made.close()


def run(github: GitHub, folder: Path, mode: str = "scope", **more: str) -> int:
    event = folder / "event.json"
    if not event.exists():
        event.write_text(json.dumps(EVENT))
    return main(
        {
            "KR_ACTION_MODE": mode,
            "KR_ACTION_TOKEN": "ghs_token",
            "KR_ACTION_COMMENT": "false",
            "GITHUB_API_URL": github.url,
            "GITHUB_REPOSITORY": "acme/storefront",
            "GITHUB_EVENT_NAME": "pull_request_target",
            "GITHUB_EVENT_PATH": str(event),
            **more,
        }
    )


def test_the_world_above_is_a_good_one(github: GitHub, tmp_path: Path) -> None:
    assert run(github, tmp_path) == NO
    github.answers[f"{ROOT}/pulls/3/files"] = [{**FILE, "filename": "src/a.py"}]
    assert run(github, tmp_path) == FINE


@pytest.mark.parametrize("mode", ["scope", "config", "review"])
@pytest.mark.parametrize(
    ("body", "status", "headers"),
    [
        (b"<html>hi", 200, {}),
        (b"", 200, {}),
        (b"null", 200, {}),
        (b"{}", 200, {}),
        (b"[null]", 200, {}),
        (b'"x"', 200, {}),
        (b"[" * 100_000, 200, {}),
        (b"{}", 403, {"Retry-After": "banana", "X-RateLimit-Reset": "y"}),
    ],
)
def test_what_is_no_answer_is_githubs_failure(
    github: GitHub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    mode: str,
    body: bytes,
    status: int,
    headers: dict[str, str],
) -> None:
    github.everywhere, github.status, github.headers = body, status, headers
    assert run(github, tmp_path, mode) == FAILURE
    assert "::error::GitHub" in capsys.readouterr().out


def test_a_list_without_end_ends(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.github.calls.MOST_PAGES", 5)
    github.headers = {"Link": f'<{github.url}/next>; rel="next"'}
    assert run(github, tmp_path) == FAILURE


@pytest.mark.parametrize("listed", [[], [commit(sha="d" * 40)]])
def test_commits_that_are_not_those_of_the_head_let_nothing_through(
    github: GitHub, tmp_path: Path, listed: list[dict[str, Any]]
) -> None:
    github.answers[f"{ROOT}/pulls/3/commits"] = listed
    assert run(github, tmp_path) == NO


def test_a_review_says_that_it_could_not_tell_who_changed_what(
    github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    merge = commit("Merge", by=None, parents=2)
    first = commit("x\n\nAgent: dede", sha="d" * 40)
    github.answers[f"{ROOT}/pulls/3/commits"] = [first, merge]
    summary = tmp_path / "summary.md"
    run(github, tmp_path, "review", GITHUB_STEP_SUMMARY=str(summary))
    assert "found nothing" not in capsys.readouterr().out
    assert "was not looked at here" in summary.read_text()


@pytest.mark.parametrize("kind", [[{"type": "file"}], {"type": "symlink", "target": "x"},
                                  {"type": "submodule"}])  # fmt: skip
def test_a_scope_file_that_is_no_file_allows_nothing(
    github: GitHub, tmp_path: Path, kind: object
) -> None:
    github.answers[f"{ROOT}/pulls/3/files"] = [{**FILE, "filename": "src/a.py"}]
    github.answers[f"{ROOT}/contents/.github/AGENT_SCOPES"] = kind
    assert run(github, tmp_path) == NO


def test_outputs_that_cannot_be_written_change_no_verdict(
    github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(tmp_path / "missing" / "summary")
    assert run(github, tmp_path, GITHUB_STEP_SUMMARY=nowhere, GITHUB_OUTPUT=nowhere) == NO
    assert "::warning::summary cannot be written" in capsys.readouterr().out


@pytest.mark.parametrize("address", ["http://[::1", "ftp://x", "nonsense", "https://"])
def test_an_address_that_is_none(github: GitHub, tmp_path: Path, address: str) -> None:
    assert run(github, tmp_path, GITHUB_API_URL=address) == WRONG_USE


def test_an_event_that_is_nested_without_end(github: GitHub, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text("[" * 200_000)
    assert run(github, tmp_path) == WRONG_USE


def test_a_setting_that_cannot_be_read(
    github: GitHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KR_WORKERS", "abc")
    assert run(github, tmp_path, "review") == WRONG_USE
    assert "KR_WORKERS" in capsys.readouterr().out
