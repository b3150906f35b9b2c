"""Required checks, lines outside of the diff, and the pages of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from githubkit_schemas.latest import models as m
from pydantic import TypeAdapter

from tests.playground.conftest import REPO, Running
from tests.playground.pulls import open_pull
from tests.playground.test_graphql import threads

CLASSIC = "/branches/main/protection/required_status_checks"
NAME = "baron/scope"


@pytest.fixture
def browser(playground: Running) -> Iterator[httpx.Client]:
    headers = {"Origin": playground.url, "Sec-Fetch-Site": "same-origin"}
    with httpx.Client(
        base_url=playground.url, headers=headers, follow_redirects=True, timeout=20
    ) as client:
        yield client


def merge(playground: Running, number: int) -> httpx.Response:
    return playground.as_bot("PUT", f"/pulls/{number}/merge", json={})


@pytest.mark.parametrize("kind", ["rules", "classic"])
@pytest.mark.parametrize(
    ("conclusion", "words", "state"),
    [
        ("nothing", 'Required status check "baron/scope" is expected.', "blocked"),
        (None, 'Required status check "baron/scope" is in progress.', "blocked"),
        ("failure", 'Required status check "baron/scope" is failing.', "blocked"),
        ("success", "", "clean"),
        ("neutral", "", "clean"),
    ],
)
def test_merging_needs_the_required_checks(
    playground: Running, kind: str, conclusion: str | None, words: str, state: str
) -> None:
    playground.client.require_checks(REPO, "main", [NAME], kind)
    pull = open_pull(playground)
    if conclusion != "nothing":
        pull.check(conclusion)
    assert pull.now()["mergeable_state"] == state
    answer = merge(playground, pull.number)
    assert answer.status_code == (405 if words else 200)
    assert words in answer.json()["message"]
    assert pull.now()["merged"] is not bool(words)


def test_a_check_of_an_older_commit_does_not_count(playground: Running) -> None:
    playground.client.require_checks(REPO, "main", [NAME])
    pull = open_pull(playground)
    pull.check("success")
    data = {"message": "More", "content": "eA==", "branch": "topic/one"}
    playground.client.call("PUT", f"/repos/{REPO}/contents/y.txt", json=data)
    assert merge(playground, pull.number).status_code == 405


def test_what_a_branch_requires(playground: Running) -> None:
    def admin(status: int) -> Any:
        answer = playground.call("GET", f"/repos/{REPO}{CLASSIC}", "ghp_ada")
        assert answer.status_code == status
        return answer.json()

    assert playground.as_bot("GET", "/rules/branches/main").json() == []
    assert admin(404)["message"] == "Branch not protected"
    playground.client.require_checks(REPO, "main", [NAME])
    (rule,) = playground.as_bot("GET", "/rules/branches/main").json()
    TypeAdapter(m.RepositoryRuleDetailedOneof8).validate_python(rule)
    assert rule["type"] == "required_status_checks"
    assert rule["parameters"]["required_status_checks"] == [{"context": NAME}]
    playground.client.require_checks(REPO, "main", ["ci", "lint"], "classic")
    policy = admin(200)
    TypeAdapter(m.StatusCheckPolicy).validate_python(policy)
    assert policy["contexts"] == ["ci", "lint"]
    assert [check["context"] for check in policy["checks"]] == ["ci", "lint"]
    assert playground.as_bot("GET", CLASSIC).status_code == 403
    branch = playground.as_bot("GET", "/branches/main").json()
    TypeAdapter(m.BranchWithProtection).validate_python(branch)
    assert branch["protection"]["required_status_checks"]["contexts"] == ["ci", "lint"]
    playground.client.require_checks(REPO, "main", [])
    assert playground.as_bot("GET", "/rules/branches/main").json() == []


def test_a_draft_cannot_be_merged(playground: Running) -> None:
    pull = open_pull(playground, draft=True)
    assert pull.now()["mergeable_state"] == "draft"
    assert merge(playground, pull.number).status_code == 405


def test_branches_that_conflict_cannot_be_merged(playground: Running) -> None:
    pull = open_pull(playground)
    data = {"message": "Other", "content": "eA==", "branch": "main"}
    playground.client.call("PUT", f"/repos/{REPO}/contents/x.txt", json=data)
    assert (pull.now()["mergeable"], pull.now()["mergeable_state"]) == (False, "dirty")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"line": 21}, "Line could not be resolved"),
        ({"line": 1, "side": "LEFT"}, "Line could not be resolved"),
        ({"path": "README.md"}, "Path could not be resolved"),
    ],
)
def test_a_review_has_lines_of_the_diff_or_is_not_made(
    playground: Running, changed: dict[str, Any], words: str
) -> None:
    pull = open_pull(playground)
    data = {"event": "COMMENT", "body": "x", "comments": [pull.note(), pull.note() | changed]}
    answer = playground.as_bot("POST", f"{pull.path}/reviews", json=data)
    assert (answer.status_code, answer.json()["errors"]) == (422, [words])
    assert playground.as_bot("GET", f"{pull.path}/reviews").json() == []
    assert playground.as_bot("GET", f"{pull.path}/comments").json() == []


def test_the_conversation_shows_reviews_and_folds_what_is_resolved(
    browser: httpx.Client, playground: Running
) -> None:
    pull = open_pull(playground)
    notes = [pull.note(2, "Use **this**"), pull.note(3, "And *that*")]
    pull.review(body="Two things", comments=notes)
    page = browser.get(f"/{REPO}/pull/{pull.number}").text
    assert page.count('id="head"') == 1
    assert 'id="head"' in browser.get(f"/{REPO}/issues/{pull.number}/fragment").text
    assert page.count('<div class="note"') == 2
    assert "<code>x.txt:2</code>" in page
    assert "<strong>this</strong>" in page
    assert "as mara" in page
    first = threads(playground.client, pull.number)["nodes"][0]["comments"]["nodes"][0]
    form = {"deed": "resolve", "comment": str(first["databaseId"])}
    browser.post(f"/{REPO}/issues/{pull.number}", data=form)
    page = browser.get(f"/{REPO}/pull/{pull.number}").text
    assert page.count('<details class="note"') == 1
    assert page.count('<div class="note"') == 1
    browser.post(f"/{REPO}/issues/{pull.number}", data={**form, "deed": "unresolve"})
    assert not threads(playground.client, pull.number)["nodes"][0]["isResolved"]


def test_commits_with_trailers_checks_with_summaries_and_files(
    browser: httpx.Client, playground: Running
) -> None:
    pull = open_pull(playground)
    pull.check("failure")
    for tab, texts in (
        ("/commits", ("Change</a>", "Agent: backend")),
        ("/checks", ("baron/scope", "failure", "<strong>scope</strong>")),
        ("/files", ("x.txt", "+line 20")),
    ):
        page = browser.get(f"/{REPO}/pull/{pull.number}{tab}").text
        assert 'class="state open"' in page
        assert all(text in page for text in texts)


def test_badges_and_buttons_from_draft_to_merged(
    browser: httpx.Client, playground: Running
) -> None:
    playground.client.require_checks(REPO, "main", [NAME])
    pull = open_pull(playground, draft=True)
    page = f"/{REPO}/pull/{pull.number}"
    assert 'class="state draft"' in browser.get(page).text
    assert "Merge pull request" not in browser.get(page).text
    browser.post(f"/{REPO}/issues/{pull.number}", data={"deed": "ready"})
    text = browser.get(page).text
    assert 'class="state open"' in text
    assert "marked this as ready for review" in text
    assert "is expected." in text
    assert browser.post(page + "/merge").status_code == 405
    browser.post(f"/{REPO}/issues/{pull.number}", data={"deed": "draft"})
    assert pull.now()["draft"]
    browser.post(f"/{REPO}/issues/{pull.number}", data={"deed": "ready"})
    pull.check("success")
    assert 'class="state merged"' in browser.post(page + "/merge").text


def test_a_reader_sees_no_buttons_of_writers(browser: httpx.Client, playground: Running) -> None:
    pull = open_pull(playground)
    pull.review(comments=[pull.note()])
    browser.post("/session", data={"login": "sol"})
    page = browser.get(f"/{REPO}/pull/{pull.number}").text
    assert "as sol" in page
    for words in ("Merge pull request", "Convert to draft", "Resolve conversation"):
        assert words not in page
    form = {"deed": "draft"}
    assert browser.post(f"/{REPO}/issues/{pull.number}", data=form).status_code == 403


def test_a_closed_one_says_so(browser: httpx.Client, playground: Running) -> None:
    pull = open_pull(playground)
    playground.client.close(REPO, pull.number)
    assert 'class="state closed"' in browser.get(f"/{REPO}/pull/{pull.number}/files").text
    answer = playground.client.graphql(
        "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id})"
        " { pullRequest { isDraft } } }",
        id=pull.node,
    )
    assert answer["errors"][0]["type"] == "UNPROCESSABLE"
