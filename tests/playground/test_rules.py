"""Who may do what, how it is refused, how lists are paged, webhooks and faults."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from githubkit import AppAuthStrategy, GitHub
from githubkit.cache import MemCacheStrategy

from tests.playground.conftest import REPO, SECRET, Running


def test_the_real_client_from_jwt_to_branch(playground: Running) -> None:
    with GitHub(
        AppAuthStrategy("1", playground.private_key),
        base_url=playground.api + "/",
        http_cache=False,
        cache_strategy=MemCacheStrategy(),
    ) as app:
        found = app.rest.apps.get_repo_installation("acme", "storefront").parsed_data
        github = app.with_auth(app.auth.as_installation(found.id))
        rest = github.rest
        at = ("acme", "storefront")
        comment = rest.issues.create_comment(*at, 1, body="Hello").parsed_data
        assert comment.user
        assert comment.user.login == "baron[bot]"
        assert [c.id for c in rest.issues.list_comments(*at, 1).parsed_data] == [comment.id]
        rest.reactions.create_for_issue_comment(*at, comment.id, content="rocket")
        head = rest.git.get_ref(*at, "heads/main").parsed_data.object_.sha
        base = rest.git.get_commit(*at, head).parsed_data
        row = {"path": "a.txt", "mode": "100644", "type": "blob", "content": "a"}
        tree = rest.git.create_tree(*at, base_tree=base.tree.sha, tree=[row]).parsed_data
        commit = rest.git.create_commit(*at, message="A", tree=tree.sha, parents=[head]).parsed_data
        rest.git.create_ref(*at, ref="refs/heads/001-a", sha=commit.sha)
    assert playground.client.branches(REPO) == ["001-a", "main"]
    assert playground.client.file(REPO, "a.txt", "001-a") == "a"


def test_who_is_refused_and_how(playground: Running) -> None:
    def status(method: str, path: str, token: str | None, data: object = None) -> int:
        return playground.call(method, path, token, json=data).status_code

    issue = f"/repos/{REPO}/issues/1"
    assert status("GET", issue, None) == 200
    assert status("GET", issue, "ghs_unknown") == 401
    assert status("POST", issue + "/comments", None, {"body": "x"}) == 401
    assert status("POST", issue + "/comments", "ghp_sol", {"body": "x"}) == 201
    assert status("POST", issue + "/comments", "ghp_sol", {"body": " "}) == 422
    assert status("POST", issue + "/comments", "ghp_sol", {"body": "x" * 65537}) == 422
    assert status("POST", issue + "/labels", "ghp_ravi", {"labels": ["feature"]}) == 403
    assert status("PATCH", issue, "ghp_ravi", {"state": "closed"}) == 403
    assert status("GET", f"/repos/{REPO}/issues/99", "ghp_sol") == 404
    assert status("GET", "/app", "ghp_mara") == 401
    assert status("GET", "/app", playground.app_jwt(exp=int(time.time()) + 3000)) == 401
    assert status("GET", "/app", playground.app_jwt()[:-8] + "AAAAAAAA") == 401


def test_only_author_or_write_edits_a_comment(playground: Running) -> None:
    sols = playground.client.as_user("sol").comment(REPO, 1, "mine")
    with pytest.raises(httpx.HTTPStatusError, match="403"):
        playground.client.as_user("ravi").edit_comment(REPO, sols["id"], "not yours")
    playground.client.as_user("mara").edit_comment(REPO, sols["id"], "moderated")
    playground.client.settle()
    event = playground.client.deliveries()[0]["payload"]
    assert event["sender"]["login"] == "mara"
    assert event["comment"]["user"]["login"] == "sol"
    assert event["changes"] == {"body": {"from": "mine"}}


def test_lists_are_paged(playground: Running) -> None:
    for number in range(5):
        playground.client.comment(REPO, 1, f"{number}")
    url = f"{playground.api}/repos/{REPO}/issues/1/comments?per_page=2"
    first = httpx.get(url)
    assert first.headers["X-RateLimit-Limit"] == "5000"
    second = httpx.get(first.links["next"]["url"])
    assert [comment["body"] for comment in second.json()] == ["2", "3"]
    assert second.links["last"]["url"].endswith("page=3")
    etag = first.headers["ETag"]
    assert httpx.get(url, headers={"If-None-Match": etag}).status_code == 304


def test_webhooks_are_signed_and_complete(playground: Running) -> None:
    playground.client.label(REPO, 2, "feature")
    playground.client.settle()
    ((headers, body),) = playground.receiver.got
    assert headers["X-GitHub-Event"] == "issues"
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] == f"sha256={digest}"
    payload = json.loads(body)
    assert (payload["action"], payload["label"]["name"]) == ("labeled", "feature")
    assert payload["issue"]["number"] == 2
    assert payload["repository"]["full_name"] == REPO
    assert payload["organization"]["login"] == "acme"
    assert payload["sender"]["login"] == "mara"
    assert payload["installation"]["id"]


def test_the_apps_own_deeds_are_told_too(playground: Running) -> None:
    playground.as_bot("POST", "/issues/1/comments", json={"body": "I am a bot"})
    playground.client.settle()
    payload = playground.client.deliveries()[0]["payload"]
    assert payload["sender"]["type"] == "Bot"
    assert payload["comment"]["performed_via_github_app"]["slug"] == "baron"


def test_nothing_is_redelivered_until_somebody_asks(playground: Running) -> None:
    playground.receiver.status = 500
    playground.client.comment(REPO, 1, "hello")
    playground.client.settle()
    (failed,) = playground.as_app("GET", "/app/hook/deliveries").json()
    assert failed["status_code"] == 500
    playground.receiver.status = 202
    answer = playground.as_app("POST", f"/app/hook/deliveries/{failed['id']}/attempts")
    assert answer.status_code == 202
    playground.client.settle()
    one = playground.as_app("GET", "/app/hook/deliveries?per_page=1")
    assert one.json()[0]["redelivery"]
    assert one.json()[0]["guid"] == failed["guid"]
    older = playground.call(
        "GET", one.links["next"]["url"].split("/api/v3")[1], playground.app_jwt()
    )
    assert [item["id"] for item in older.json()] == [failed["id"]]
    guids = [headers["X-GitHub-Delivery"] for headers, _ in playground.receiver.got]
    assert len(set(guids)) == 1


def test_issues_that_vanish(playground: Running) -> None:
    ada = playground.client.as_user("ada")
    ada.delete_issue(REPO, 2)
    ada.transfer_issue(REPO, 1, "acme/attic")
    playground.client.settle()
    actions = [one["action"] for one in playground.client.deliveries()]
    assert {"deleted", "transferred"} <= set(actions)
    assert playground.call("GET", f"/repos/{REPO}/issues/2", None).status_code == 410


def test_a_lost_answer_has_had_its_effect(playground: Running) -> None:
    match = {"method": "POST", "path": "/comments$"}
    playground.client.faults(match=match, kind="502", when="after")
    answer = playground.as_bot("POST", "/issues/1/comments", json={"body": "once"})
    assert answer.status_code == 502
    assert [c["body"] for c in playground.client.comments(REPO, 1)] == ["once"]
    (write,) = [w for w in playground.client.requests() if w["path"].endswith("/comments")]
    assert (write["status"], write["answered"], write["who"]) == (201, "502", "baron[bot]")
    assert playground.as_bot("POST", "/issues/1/comments", json={"body": "x"}).status_code == 201


@pytest.mark.parametrize("kind", ["reset", "timeout"])
def test_a_broken_connection(playground: Running, kind: str) -> None:
    playground.client.faults(match={"path": "/comments"}, kind=kind, seconds=0.2)
    with pytest.raises(httpx.TransportError):
        playground.as_bot("POST", "/issues/1/comments", json={"body": "never"})
    assert playground.client.comments(REPO, 1) == []


def test_a_secondary_limit(playground: Running) -> None:
    match = {"method": "POST", "path": "/comments"}
    playground.client.faults(match=match, kind="403-secondary", seconds=7, times=1)
    answer = playground.as_bot("POST", "/issues/1/comments", json={"body": "x"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (403, "7")
    assert "secondary rate limit" in answer.json()["message"]


def test_reads_lag_behind_writes(playground: Running) -> None:
    match = {"method": "POST", "path": "/comments"}
    playground.client.faults(match=match, kind="404-for-a-while", when="after", seconds=0.6)
    made = playground.as_bot("POST", "/issues/1/comments", json={"body": "soon"})
    assert made.status_code == 201
    assert playground.client.comments(REPO, 1) == []
    time.sleep(0.7)
    assert [c["body"] for c in playground.client.comments(REPO, 1)] == ["soon"]


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "GIT_TERMINAL_PROMPT": "0"}
    who = ["-c", "user.name=Mara", "-c", "user.email=0+mara@users.example.invalid"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def test_git_over_http(playground: Running, tmp_path: Path) -> None:
    url = f"{playground.url}/{REPO}.git"
    assert _git(tmp_path, "clone", "-q", url, "shop").returncode == 0
    shop = tmp_path / "shop"
    (shop / "new.txt").write_text("new\n")
    _git(shop, "checkout", "-q", "-b", "002-new")
    _git(shop, "add", ".")
    _git(shop, "commit", "-q", "-m", "New")
    assert _git(shop, "push", "-q", "origin", "002-new").returncode != 0
    for name, expected in (("ghp_sol", False), (playground.installation_token(), True)):
        to = url.replace("://", f"://x-access-token:{name}@")
        assert (_git(shop, "push", "-q", to, "002-new").returncode == 0) is expected
    playground.client.settle()
    push = playground.client.deliveries()[0]
    assert push["event"] == "push"
    assert push["payload"]["ref"] == "refs/heads/002-new"
    assert push["payload"]["head_commit"]["added"] == ["new.txt"]
    assert playground.client.file(REPO, "new.txt", "002-new") == "new\n"
