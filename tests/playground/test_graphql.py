"""GraphQL: drafts and review threads, with GitHub's names, permissions and errors."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.playground.client import PlaygroundClient
from tests.playground.conftest import REPO, Running
from tests.playground.pulls import open_pull

READY = "mutation($id: ID!) { %s(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
RESOLVE = "mutation($id: ID!) { %s(input: {threadId: $id}) { thread { isResolved } } }"
THREADS = """
query($owner: String!, $name: String!, $number: Int!, $cursor: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    id isDraft
    reviewThreads(first: %d, after: $cursor) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved isOutdated path line
        comments(first: 1) { nodes { databaseId body author { login __typename } } } } } } } }
"""
AT = {"owner": "acme", "name": "storefront"}


def actions(playground: Running, event: str) -> list[str]:
    playground.client.settle()
    return [one["action"] for one in playground.client.deliveries() if one["event"] == event]


def threads(client: PlaygroundClient, number: int, size: int = 100, **more: Any) -> dict[str, Any]:
    answer = client.graphql(THREADS % size, **AT, number=number, **more)
    found: dict[str, Any] = answer["data"]["repository"]["pullRequest"]["reviewThreads"]
    return found


@pytest.mark.parametrize("path", ["/api/graphql", "/api/v3/graphql", "/graphql"])
def test_draft_and_ready_at_each_address(playground: Running, path: str) -> None:
    pull = open_pull(playground)
    headers = {"Authorization": f"Bearer {playground.installation_token()}"}
    for name, draft in (
        ("convertPullRequestToDraft", True),
        ("markPullRequestReadyForReview", False),
    ):
        body = {"query": READY % name, "variables": {"id": pull.node}}
        answer = httpx.post(playground.url + path, json=body, headers=headers)
        assert answer.json() == {"data": {name: {"pullRequest": {"isDraft": draft}}}}
        assert pull.now()["draft"] is draft
    told = actions(playground, "pull_request")
    assert told[:2] == ["ready_for_review", "converted_to_draft"]
    writes = [one["who"] for one in playground.client.requests() if one["path"] == "/graphql"]
    assert writes == ["baron[bot]", "baron[bot]"]


def test_doing_it_again_tells_nobody(playground: Running) -> None:
    pull = open_pull(playground)
    playground.client.graphql(READY % "markPullRequestReadyForReview", id=pull.node)
    assert actions(playground, "pull_request") == ["opened"]


def test_faults_strike_graphql_too(playground: Running) -> None:
    pull = open_pull(playground, draft=True)
    playground.client.faults(match={"path": "^/graphql$"}, kind="502", when="after")
    with pytest.raises(httpx.HTTPStatusError, match="502"):
        playground.client.graphql(READY % "markPullRequestReadyForReview", id=pull.node)
    assert pull.now()["draft"] is False


@pytest.mark.parametrize(
    ("login", "query", "target", "kind"),
    [
        ("sol", READY % "convertPullRequestToDraft", "pull", "FORBIDDEN"),
        ("sol", RESOLVE % "resolveReviewThread", "thread", "FORBIDDEN"),
        ("mara", READY % "convertPullRequestToDraft", "PR_nothing", "NOT_FOUND"),
        ("mara", RESOLVE % "resolveReviewThread", "PRRT_nothing", "NOT_FOUND"),
        ("mara", THREADS % 100, "", "NOT_FOUND"),
        ("mara", THREADS % 0, "", "EXCESSIVE_PAGINATION"),
        ("mara", "query { viewer { login } }", "", None),
    ],
)
def test_refusals(
    playground: Running, login: str, query: str, target: str, kind: str | None
) -> None:
    pull = open_pull(playground)
    pull.review(comments=[pull.note()])
    (thread,) = threads(playground.client, pull.number)["nodes"]
    target = {"pull": pull.node, "thread": thread["id"]}.get(target, target)
    number = 99 if kind == "NOT_FOUND" else pull.number
    client = playground.client.as_user(login)
    answer = client.graphql(query, id=target, **AT, number=number)
    (error,) = answer["errors"]
    assert error.get("type") == kind
    assert error["message"]
    assert not threads(playground.client, pull.number)["nodes"][0]["isResolved"]
    assert not pull.now()["draft"]


def test_nobody_asks_graphql_without_a_name(playground: Running) -> None:
    answer = httpx.post(f"{playground.url}/api/graphql", json={"query": "query { x }"})
    assert answer.status_code == 401


def test_a_thread_is_a_line_comment_with_its_replies(playground: Running) -> None:
    pull = open_pull(playground)
    pull.review(body="Well", comments=[pull.note(2, "First"), pull.note(3, "Second")])
    (first, second) = threads(playground.client, pull.number)["nodes"]
    (comment,) = first["comments"]["nodes"]
    said = {"body": "First", "author": {"login": "baron", "__typename": "Bot"}}
    assert {name: comment[name] for name in said} == said
    reply = f"/repos/{REPO}{pull.path}/comments/{comment['databaseId']}/replies"
    made = playground.client.call("POST", reply, json={"body": "Done"})
    assert (made["in_reply_to_id"], made["path"]) == (comment["databaseId"], "x.txt")
    nodes = threads(playground.client, pull.number)["nodes"]
    assert [node["id"] for node in nodes] == [first["id"], second["id"]]
    assert (first["path"], first["line"], first["isOutdated"]) == ("x.txt", 2, False)
    one = threads(playground.client, pull.number, 1)
    assert one["pageInfo"]["hasNextPage"]
    rest = threads(playground.client, pull.number, 1, cursor=one["pageInfo"]["endCursor"])
    assert [node["id"] for node in rest["nodes"]] == [second["id"]]
    assert not rest["pageInfo"]["hasNextPage"]


def test_resolve_and_unresolve(playground: Running) -> None:
    pull = open_pull(playground)
    pull.review(comments=[pull.note()])
    (thread,) = threads(playground.client, pull.number)["nodes"]
    for name, resolved in (("resolveReviewThread", True), ("unresolveReviewThread", False)):
        answer = playground.client.graphql(RESOLVE % name, id=thread["id"])
        assert answer == {"data": {name: {"thread": {"isResolved": resolved}}}}
        (now,) = threads(playground.client, pull.number)["nodes"]
        assert now["isResolved"] is resolved
    assert actions(playground, "pull_request_review_thread") == ["unresolved", "resolved"]


def test_a_changed_file_makes_its_threads_outdated(playground: Running) -> None:
    pull = open_pull(playground)
    pull.review(comments=[pull.note()])
    at = f"/repos/{REPO}/contents/x.txt"
    sha = playground.client.call("GET", at, params={"ref": "topic/one"})["sha"]
    data = {"message": "New", "content": "eA==", "branch": "topic/one", "sha": sha}
    playground.client.call("PUT", at, json=data)
    (thread,) = threads(playground.client, pull.number)["nodes"]
    assert (thread["isOutdated"], thread["line"]) == (True, None)
