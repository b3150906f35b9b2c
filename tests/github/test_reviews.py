"""Our reviews and their threads, on a playground."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.actions import LineNote
from app.github import reviews
from app.github.client import GitHubError
from app.github.reviews import OurThread
from app.texts.marker import marker
from tests.github.conftest import Work
from tests.playground.conftest import REPO, Running
from tests.playground.pulls import Opened, open_pull

Run = Callable[[Work], Any]


def ours_of(github: Run, pull: Opened) -> list[OurThread]:
    found: list[OurThread] = github(lambda client, ours: reviews.threads(client, pull.number, ours))
    return found


def submit(github: Run, pull: Opened, *notes: LineNote, **more: Any) -> int:
    data = {"head": pull.head, "body": "With lines", "without_lines": "Without", **more}
    number: int = github(
        lambda client, _: reviews.submit(client, pull.number, comments=notes, **data)
    )
    return number


def shown(playground: Running, pull: Opened) -> list[tuple[str, str]]:
    found = playground.client.call("GET", f"/repos/{REPO}{pull.path}/reviews")
    return [(one["body"], one["state"]) for one in found]


def test_only_threads_that_we_began(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    submit(github, pull, LineNote("x.txt", 2, "First"), LineNote("x.txt", 3, "Second"))
    maras = {**pull.note(4, "Mine"), "commit_id": pull.head}
    path = f"/repos/{REPO}{pull.path}/comments"
    playground.client.call("POST", path, json=maras)
    comments = playground.client.call("GET", path)
    reply = {"body": "Done", "in_reply_to": comments[0]["id"]}
    playground.client.call("POST", path, json=reply)
    found = ours_of(github, pull)
    assert [(one.path, one.body, one.resolved) for one in found] == [
        ("x.txt", "First", False),
        ("x.txt", "Second", False),
    ]


def test_resolve(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    submit(github, pull, LineNote("x.txt", 2, "First"), LineNote("x.txt", 3, "Second"))
    second = ours_of(github, pull)[1]
    for _ in range(2):
        github(lambda client, _: reviews.resolve(client, second.id))
    assert [one.resolved for one in ours_of(github, pull)] == [False, True]
    with pytest.raises(GitHubError) as gone:
        github(lambda client, _: reviews.resolve(client, "PRRT_gone"))
    assert gone.value.status == 404


def test_all_pages_of_threads(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    notes = [LineNote("x.txt", 1 + n % 20, f"Note {n}") for n in range(101)]
    submit(github, pull, *notes)
    assert [one.body for one in ours_of(github, pull)] == [note.body for note in notes]


def test_a_thread_whose_file_has_changed(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    submit(github, pull, LineNote("x.txt", 2, "First"))
    assert not ours_of(github, pull)[0].outdated
    at = f"/repos/{REPO}/contents/x.txt"
    sha = playground.client.call("GET", at, params={"ref": "topic/one"})["sha"]
    data = {"message": "New", "content": "eA==", "branch": "topic/one", "sha": sha}
    playground.client.call("PUT", at, json=data)
    assert ours_of(github, pull)[0].outdated


@pytest.mark.parametrize(("login", "kind"), [("baron", "User"), ("baron[bot]", "User")])
def test_a_person_with_the_apps_name_is_not_the_app(
    playground: Running, github: Run, login: str, kind: str
) -> None:
    first = {"databaseId": 1, "body": "x", "author": {"login": login, "__typename": kind}}
    node = {"id": "T", "isResolved": False, "isOutdated": False, "path": "x"}
    node["comments"] = {"nodes": [first]}

    async def work(_: Any, ours: Any) -> Any:
        assert reviews._ours({**node, "comments": {"nodes": []}}, ours) is None
        ghost = {"nodes": [{**first, "author": None}]}
        assert reviews._ours({**node, "comments": ghost}, ours) is None
        return reviews._ours(node, ours)

    assert github(work) is None


def test_find_our_review_by_its_key(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    body = f"{marker('review', 'pull-3/abc')}\nWell"
    forged = {"event": "COMMENT", "body": body}
    path = f"/repos/{REPO}{pull.path}/reviews"
    playground.client.call("POST", path, json=forged)

    def find(key: str) -> Any:
        return github(lambda client, ours: reviews.find_review(client, pull.number, key, ours))

    assert find("pull-3/abc") is None
    pull.review(body=body, event="")
    assert find("pull-3/abc") is None  # pending: nobody sees it
    number = submit(github, pull, body=body)
    assert find("pull-3/abc") == number
    assert find("pull-3/other") is None


@pytest.mark.parametrize(
    ("event", "state"), [("COMMENT", "COMMENTED"), ("REQUEST_CHANGES", "CHANGES_REQUESTED")]
)
def test_submit(playground: Running, github: Run, event: str, state: str) -> None:
    pull = open_pull(playground, by="mara")
    submit(github, pull, LineNote("x.txt", 2, "Here"), event=event)
    assert shown(playground, pull) == [("With lines", state)]
    (comment,) = playground.client.call("GET", f"/repos/{REPO}{pull.path}/comments")
    assert (comment["line"], comment["body"], comment["commit_id"]) == (2, "Here", pull.head)


def test_lines_outside_of_the_diff_are_said_in_the_text(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    submit(github, pull, LineNote("x.txt", 2, "Here"), LineNote("README.md", 1, "There"))
    assert shown(playground, pull) == [("Without", "COMMENTED")]
    assert playground.client.call("GET", f"/repos/{REPO}{pull.path}/comments") == []


def test_a_review_without_comments_keeps_its_body(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    submit(github, pull)
    assert shown(playground, pull) == [("With lines", "COMMENTED")]


def test_other_refusals_are_raised(playground: Running, github: Run) -> None:
    pull = open_pull(playground)
    with pytest.raises(GitHubError) as own:  # nobody requests changes of the own pull request
        submit(github, pull, LineNote("x.txt", 2, "Here"), event="REQUEST_CHANGES")
    assert own.value.status == 422
    playground.client.faults(match={"path": "/reviews$"}, kind="502", when="after")
    with pytest.raises(GitHubError) as lost:
        submit(github, pull, LineNote("x.txt", 2, "Here"))
    assert lost.value.status == 502
    assert len(shown(playground, pull)) == 1
