"""Our pull requests, on a playground."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from app.github import graphql, proposals
from app.github.client import GitHubError
from app.github.proposals import Proposal
from tests.github.conftest import Work
from tests.playground.conftest import REPO, Running
from tests.playground.pulls import Opened, open_pull

Run = Callable[[Work], Any]


def found(github: Run, pull: Opened) -> Proposal:
    proposal = github(lambda client, _: proposals.get(client, pull.number))
    assert isinstance(proposal, Proposal)
    return proposal


def test_find_looks_for_a_branch_of_the_repository(playground: Running, github: Run) -> None:
    assert github(lambda client, _: proposals.find(client, "topic/one")) is None
    pull = open_pull(playground)
    proposal = github(lambda client, _: proposals.find(client, "topic/one"))
    assert proposal == Proposal(
        number=pull.number,
        node=pull.node,
        draft=False,
        merged=False,
        state="open",
        head_sha=pull.head,
        base="main",
        body="",
        title="A change",
        author="baron[bot]",
    )
    assert github(lambda client, _: proposals.find(client, "topic")) is None
    assert github(lambda client, _: proposals.find(client, "topic/one", "other")) is None
    assert github(lambda client, _: proposals.find(client, "topic/one", "main")) == proposal


def test_find_leaves_out_what_is_closed_unless_asked(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    playground.client.close(REPO, pull.number)
    assert github(lambda client, _: proposals.find(client, "topic/one")) is None
    closed = github(lambda client, _: proposals.find(client, "topic/one", state="all"))
    assert (closed.number, closed.state, closed.merged) == (pull.number, "closed", False)


def test_open_a_draft_once_and_edit_it(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    playground.client.close(REPO, pull.number)
    texts = {"title": "Orders as CSV", "body": "What and why"}

    async def work(client: Any, _: Any) -> tuple[Proposal, Proposal]:
        made = await proposals.open_draft(client, head="topic/one", base="main", **texts)
        with pytest.raises(GitHubError) as again:
            await proposals.open_draft(client, head="topic/one", base="main", **texts)
        assert again.value.status == 422
        return made, await proposals.edit(client, made.number, title="New", body="Text")

    made, edited = github(work)
    assert (made.draft, made.title, made.body) == (True, "Orders as CSV", "What and why")
    assert edited == replace(made, title="New", body="Text")


def test_ready_and_back(playground: Running, github: Run) -> None:
    pull = open_pull(playground, draft=True)
    draft = found(github, pull)
    ready = github(lambda client, _: proposals.set_ready(client, draft))
    assert (ready, pull.now()["draft"]) == (replace(draft, draft=False), False)
    assert github(lambda client, _: proposals.set_draft(client, ready)) == draft
    assert pull.now()["draft"]


def test_what_is_ready_already_is_not_told_again(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    ready = found(github, pull)
    assert github(lambda client, _: proposals.set_ready(client, ready)) == ready
    assert all(one["path"] != "/graphql" for one in playground.client.requests())


def test_a_closed_one_becomes_no_draft(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    proposal = found(github, pull)
    playground.client.close(REPO, pull.number)
    with pytest.raises(GitHubError) as refused:
        github(lambda client, _: proposals.set_draft(client, proposal))
    assert refused.value.status == 422
    stale = replace(proposal, draft=True)  # it is ready in truth: nothing is left to do
    assert github(lambda client, _: proposals.set_ready(client, stale)).draft is False


def test_one_that_is_gone(github: Run) -> None:
    gone = Proposal(99, "PR_gone", True, False, "open", "", "main", "", "", "")
    with pytest.raises(GitHubError, match="global id") as refused:
        github(lambda client, _: proposals.set_ready(client, gone))
    assert refused.value.status == 404


@pytest.mark.parametrize(
    ("end", "state"), [("open", None), ("close", "closed"), ("merge", "merged")]
)
def test_how_it_ended(playground: Running, github: Run, end: str, state: str | None) -> None:
    pull = open_pull(playground)
    if end == "close":
        playground.client.close(REPO, pull.number)
    if end == "merge":
        playground.client.call("PUT", f"/repos/{REPO}{pull.path}/merge", json={})
    assert github(lambda client, _: proposals.closed_state(client, pull.number)) == state


class FakeGitHub:
    """Gives one answer to everything, and remembers where it was asked."""

    def __init__(self, base_url: str) -> None:
        self.config = type("Config", (), {"base_url": base_url})


@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        ("https://api.github.com/", "/graphql"),
        ("https://git.example/api/v3/", "https://git.example/api/graphql"),
        ("http://127.0.0.1:8080/api/v3", "http://127.0.0.1:8080/api/graphql"),
    ],
)
def test_where_graphql_is(base_url: str, address: str) -> None:
    assert graphql._address(FakeGitHub(base_url)) == address  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("FORBIDDEN", 403),
        ("NOT_FOUND", 404),
        ("RATE_LIMITED", 429),
        ("UNPROCESSABLE", 422),
        (None, 422),
    ],
)
def test_an_error_in_the_answer_has_the_status_of_rest(
    monkeypatch: pytest.MonkeyPatch, kind: str | None, status: int
) -> None:
    async def send(*_: Any, **__: Any) -> httpx.Response:
        error = {"type": kind, "message": "No"}
        return httpx.Response(200, json={"data": {"x": None}, "errors": [error]})

    monkeypatch.setattr(graphql, "send", send)
    github: Any = FakeGitHub("https://api.github.com/")
    with pytest.raises(GitHubError, match="No") as refused:
        asyncio.run(graphql.run(github, "query { x }", {}))
    assert refused.value.status == status
    assert refused.value.rate_limited is (kind == "RATE_LIMITED")


def test_a_lost_answer_is_no_reason_to_ask_again(playground: Running, github: Run) -> None:
    pull = open_pull(playground, draft=True)
    draft = found(github, pull)
    playground.client.faults(match={"path": "^/graphql$"}, kind="502", when="after")
    with pytest.raises(GitHubError) as lost:
        github(lambda client, _: proposals.set_ready(client, draft))
    assert lost.value.status == 502
    assert len([one for one in playground.client.requests() if one["path"] == "/graphql"]) == 1
