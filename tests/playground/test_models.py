"""Every answer has the form that GitHub's own schema gives it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from githubkit_schemas.latest import models as m
from pydantic import TypeAdapter

from tests.playground.conftest import REPO, Running


def check(model: Any, data: Any) -> Any:
    TypeAdapter(model).validate_python(data)
    return data


class Bot:
    """Calls as the App's installation, checked against a model."""

    def __init__(self, playground: Running) -> None:
        self._playground = playground

    def __call__(self, model: Any, method: str, path: str, status: int = 200, **kwargs: Any) -> Any:
        answer = self._playground.as_bot(method, path, **kwargs)
        assert answer.status_code == status, answer.text
        return check(model, answer.json()) if model else None


@pytest.fixture
def bot(playground: Running) -> Bot:
    return Bot(playground)


def test_the_app(playground: Running) -> None:
    ask = playground.as_app
    check(m.Integration, ask("GET", "/app").json())
    (installation,) = ask("GET", "/app/installations").json()
    check(m.Installation, installation)
    check(m.Installation, ask("GET", f"/repos/{REPO}/installation").json())
    check(m.WebhookConfig, ask("GET", "/app/hook/config").json())
    path = f"/app/installations/{installation['id']}/access_tokens"
    token = check(m.InstallationToken, ask("POST", path).json())["token"]
    found = playground.call("GET", "/installation/repositories", token).json()
    check(m.InstallationRepositoriesGetResponse200, found)
    assert [repo["full_name"] for repo in found["repositories"]] == [REPO]


def test_deliveries(playground: Running) -> None:
    playground.client.comment(REPO, 1, "hello")
    playground.client.settle()
    (item,) = check(
        list[m.HookDeliveryItem], playground.as_app("GET", "/app/hook/deliveries").json()
    )
    full = playground.as_app("GET", f"/app/hook/deliveries/{item['id']}").json()
    check(m.HookDelivery, full)
    assert full["response"]["payload"] == "Stored, thank you."


def test_people_and_repository(playground: Running, bot: Bot) -> None:
    token = playground.installation_token()

    def get(path: str, login: str = "") -> Any:
        answer = playground.call("GET", path, f"ghp_{login}" if login else token)
        assert answer.status_code == 200, answer.text
        return answer.json()

    check(m.PublicUser, get("/users/mara"))
    check(m.PrivateUser, get("/user", "mara"))
    check(m.OrganizationFull, get("/orgs/acme"))
    check(list[m.SimpleUser], get("/orgs/acme/members"))
    check(list[m.Team], get("/orgs/acme/teams"))
    check(m.TeamFull, get("/orgs/acme/teams/storefront-team"))
    check(list[m.SimpleUser], get("/orgs/acme/teams/storefront-team/members"))
    check(m.TeamMembership, get("/orgs/acme/teams/storefront-team/memberships/mara"))
    bot(m.FullRepository, "GET", "")
    bot(list[m.Collaborator], "GET", "/collaborators")
    bot(list[m.ShortBranch], "GET", "/branches")
    bot(m.BranchWithProtection, "GET", "/branches/main")


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        ("ada", "admin", "admin"),
        ("mara", "write", "maintain"),
        ("ravi", "read", "read"),
        ("sol", "read", "read"),
        ("tess", "read", "triage"),
        ("cleo", "write", "release-manager"),
    ],
)
def test_permission(playground: Running, bot: Bot, login: str, permission: str, role: str) -> None:
    playground.client.add_user("tess", "triage")
    playground.client.add_user("cleo", "write", role_name="release-manager")
    path = f"/collaborators/{login}/permission"
    found = bot(m.RepositoryCollaboratorPermission, "GET", path)
    assert (found["permission"], found["role_name"]) == (permission, role)


def test_issues_and_labels(bot: Bot) -> None:
    body = {"title": "From the bot", "body": "Text", "labels": ["bug"], "assignees": ["mara"]}
    issue = bot(m.Issue, "POST", "/issues", 201, json=body)
    at = f"/issues/{issue['number']}"
    assert issue["user"]["type"] == "Bot"
    bot(m.Issue, "GET", at)
    bot(list[m.Issue], "GET", "/issues")
    bot(m.Issue, "PATCH", at, json={"title": "New", "state": "closed"})
    bot(list[m.Label], "GET", at + "/labels")
    bot(list[m.Label], "POST", at + "/labels", json={"labels": ["baron:asking"]})
    bot(list[m.Label], "PUT", at + "/labels", json={"labels": ["feature", "baron:waiting"]})
    left = bot(list[m.Label], "DELETE", at + "/labels/baron%3Awaiting")
    assert [label["name"] for label in left] == ["feature"]
    bot(m.Issue, "DELETE", at + "/assignees", json={"assignees": ["mara"]})
    bot(m.Issue, "POST", at + "/assignees", 201, json={"assignees": ["ada"]})
    bot(m.Label, "POST", "/labels", 201, json={"name": "new one", "color": "ff0000"})
    bot(list[m.Label], "GET", "/labels")


def test_comments_and_reactions(bot: Bot) -> None:
    comment = bot(m.IssueComment, "POST", "/issues/1/comments", 201, json={"body": "Hello"})
    at = f"/issues/comments/{comment['id']}"
    bot(m.IssueComment, "GET", at)
    bot(m.IssueComment, "PATCH", at, json={"body": "Changed"})
    bot(list[m.IssueComment], "GET", "/issues/1/comments")
    bot(list[m.IssueComment], "GET", "/issues/comments?sort=updated&since=2020-01-01T00:00:00Z")
    for place in (at, "/issues/1"):
        first = bot(m.Reaction, "POST", place + "/reactions", 201, json={"content": "eyes"})
        again = bot(m.Reaction, "POST", place + "/reactions", 200, json={"content": "eyes"})
        assert first["id"] == again["id"]
        bot(list[m.Reaction], "GET", place + "/reactions")
        bot(None, "DELETE", f"{place}/reactions/{first['id']}", 204)
    bot(None, "DELETE", at, 204)
    bot(None, "GET", at, 404)


def test_git_data(bot: Bot) -> None:
    ref = bot(m.GitRef, "GET", "/git/ref/heads/main")
    head = ref["object"]["sha"]
    commit = bot(m.GitCommit, "GET", f"/git/commits/{head}")
    bot(m.GitTree, "GET", "/git/trees/main?recursive=1")
    blob = bot(m.ShortBlob, "POST", "/git/blobs", 201, json={"content": "hi\n"})
    assert bot(m.Blob, "GET", f"/git/blobs/{blob['sha']}")["size"] == 3
    rows = [
        {"path": "docs/a.md", "mode": "100644", "type": "blob", "sha": blob["sha"]},
        {"path": "docs/b.md", "mode": "100644", "type": "blob", "content": "b\n"},
        {"path": "pyproject.toml", "mode": "100644", "type": "blob", "sha": None},
    ]
    data = {"base_tree": commit["tree"]["sha"], "tree": rows}
    tree = bot(m.GitTree, "POST", "/git/trees", 201, json=data)
    data = {"message": "Documents", "tree": tree["sha"], "parents": [head]}
    made = bot(m.GitCommit, "POST", "/git/commits", 201, json=data)
    data = {"ref": "refs/heads/001-a", "sha": head}
    bot(m.GitRef, "POST", "/git/refs", 201, json=data)
    bot(m.BasicError, "POST", "/git/refs", 422, json=data)
    bot(m.GitRef, "PATCH", "/git/refs/heads/001-a", json={"sha": made["sha"]})
    bot(m.BasicError, "PATCH", "/git/refs/heads/001-a", 422, json={"sha": head})
    bot(list[m.GitRef], "GET", "/git/matching-refs/heads/001")
    bot(list[m.Commit], "GET", "/commits?sha=001-a&path=docs/a.md")
    assert len(bot(m.Commit, "GET", "/commits/001-a")["files"]) == 3
    compared = bot(m.CommitComparison, "GET", "/compare/main...001-a")
    assert (compared["status"], compared["ahead_by"]) == ("ahead", 1)
    bot(None, "DELETE", "/git/refs/heads/001-a", 204)


def test_contents_and_search(playground: Running, bot: Bot) -> None:
    assert bot(m.ContentFile, "GET", "/contents/README.md")["encoding"] == "base64"
    names = [entry["name"] for entry in bot(list[m.ContentDirectoryItems], "GET", "/contents/src")]
    assert names == ["storefront"]
    data = {"message": "Add", "content": base64.b64encode(b"x\n").decode(), "branch": "main"}
    made = bot(m.FileCommit, "PUT", "/contents/new/file.txt", 201, json=data)
    bot(m.BasicError, "PUT", "/contents/new/file.txt", 422, json=data)
    bot(
        m.FileCommit,
        "PUT",
        "/contents/new/file.txt",
        json={**data, "content": "", "sha": made["content"]["sha"]},
    )
    path = f"/search/code?q=orders_of+repo:{REPO}"
    found = playground.call("GET", path, "ghp_mara").json()
    check(m.SearchCodeGetResponse200, found)
    assert found["total_count"] == 3


def _branch(bot: Bot, name: str) -> str:
    head = bot(m.GitRef, "GET", "/git/ref/heads/main")["object"]["sha"]
    bot(m.GitRef, "POST", "/git/refs", 201, json={"ref": f"refs/heads/{name}", "sha": head})
    data = {"message": "Change", "content": "eA==", "branch": name}
    return str(bot(m.FileCommit, "PUT", "/contents/x.txt", 201, json=data)["commit"]["sha"])


def test_check_runs(bot: Bot) -> None:
    head = bot(m.GitRef, "GET", "/git/ref/heads/main")["object"]["sha"]
    note = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice"}
    data = {
        "name": "baron/scope",
        "head_sha": head,
        "external_id": "key",
        "output": {"title": "t", "summary": "s", "annotations": [{**note, "message": "x"}]},
    }
    run = bot(m.CheckRun, "POST", "/check-runs", 201, json=data)
    at = f"/check-runs/{run['id']}"
    done = bot(m.CheckRun, "PATCH", at, json={"conclusion": "success"})
    assert done["status"] == "completed"
    bot(m.CheckRun, "GET", at)
    found = bot(
        m.ReposOwnerRepoCommitsRefCheckRunsGetResponse200, "GET", "/commits/main/check-runs"
    )
    assert found["total_count"] == 1


def test_pull_requests(playground: Running, bot: Bot) -> None:
    _branch(bot, "topic/one")
    data = {"title": "Change", "head": "topic/one", "base": "main", "body": "Why"}
    pull = bot(m.PullRequest, "POST", "/pulls", 201, json=data)
    at = f"/pulls/{pull['number']}"
    bot(m.ValidationError, "POST", "/pulls", 422, json=data)
    bot(m.PullRequest, "GET", at)
    bot(list[m.PullRequestSimple], "GET", "/pulls?head=acme:topic/one")
    bot(m.PullRequest, "PATCH", at, json={"title": "Better"})
    assert bot(list[m.DiffEntry], "GET", at + "/files")[0]["filename"] == "x.txt"
    bot(list[m.Commit], "GET", at + "/commits")
    bot(None, "POST", at + "/reviews", 422, json={"event": "APPROVE"})
    note = {"path": "x.txt", "line": 1, "body": "Here"}
    review: dict[str, Any] = {"event": "COMMENT", "body": "Well", "comments": [note]}
    bot(m.PullRequestReview, "POST", at + "/reviews", json=review)
    bot(m.PullRequestReviewComment, "POST", at + "/comments", 201, json=note)
    assert len(bot(list[m.PullRequestReviewComment], "GET", at + "/comments")) == 2
    assert len(bot(list[m.PullRequestReview], "GET", at + "/reviews")) == 2
    review = {"event": "APPROVE"}
    assert playground.client.call("POST", f"/repos/{REPO}{at}/reviews", json=review)
    bot(m.PullRequestMergeResult, "PUT", at + "/merge", json={})
    assert bot(m.PullRequest, "GET", at)["merged"]
    assert playground.client.file(REPO, "x.txt", "main") == "x"
