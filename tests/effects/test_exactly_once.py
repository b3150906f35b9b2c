"""Every kind of write × every way to fail × before or after it happened: exactly one effect."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine, text

from app.actions import CommitFiles, GitHubEffect, React, ShowCheck, ShowComment, ShowLabel
from app.cli_commands.demo_setup import make_keys
from app.deps import Deps, build_deps
from app.embedded.files import free_port, private_folder
from app.features.model import Place
from app.github import client as github_client
from app.github import writes
from app.playground.client import PlaygroundClient
from app.settings import Settings
from app.store import outbox
from app.store.lanes import Limits
from app.texts.marker import marker
from tests.servers import Backing
from workers import outbox as outbox_worker

REPO = "acme/storefront"
KINDS = ("reset", "timeout", "500", "502", "403-secondary", "404")
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Box:
    client: PlaygroundClient
    url: str
    key: Path


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A playground without a service behind it."""
    folder = Path(tmp_path_factory.mktemp("box"))
    keys = make_keys(private_folder(folder / "keys"))
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "app.playground", "--port", str(port)),
            *("--data-dir", str(folder / "data")),
            *("--webhook-url", "http://127.0.0.1:9/"),
            *("--webhook-secret-file", str(keys.webhook_secret)),
            *("--app-public-key-file", str(keys.public)),
        ],
        stdout=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            httpx.get(url)
            break
        except httpx.TransportError:
            time.sleep(0.1)
    yield Box(PlaygroundClient(url), url, keys.private)
    process.kill()
    process.wait()


@pytest.fixture
def deps(box: Box, backing: Backing, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deps]:
    monkeypatch.setattr(github_client, "TIMEOUT", 1.5)
    settings = Settings(
        github_api_url=f"{box.url}/api/v3",
        github_url=box.url,
        github_app_id="1",
        github_private_key_path=box.key,
        database_url=backing.database_url,
        redis_url=backing.redis_url,
    )
    made = replace(build_deps(settings), limits=Limits(100_000, 1_000_000, 1000))
    yield made
    made.engine.dispose()


@pytest.fixture
def place(box: Box) -> Place:
    """A fresh issue."""
    mara = box.client.as_user("mara")
    number = int(mara.open_issue(REPO, f"Issue {next(_numbers)}", "text")["number"])
    repo = httpx.get(f"{box.url}/api/v3/repos/{REPO}").json()
    head = httpx.get(f"{box.url}/api/v3/repos/{REPO}/commits/main").json()["sha"]
    _heads[:] = [head]
    return Place(0, int(repo["id"]), REPO, number)


def _commented(place: Place, body: str = "hello") -> ShowComment:
    key = f"key-{place.number}"
    return ShowComment(key, None, place, f"{marker('status', key)}\n{body}")


def _standing(box: Box, place: Place) -> list[str]:
    return [c["body"].partition("\n")[2] for c in box.client.comments(REPO, place.number)]


def _reactions(box: Box, place: Place) -> int:
    url = f"{box.url}/api/v3/repos/{REPO}/issues/{place.number}/reactions"
    return len(httpx.get(url).json())


def _labels(box: Box, place: Place) -> list[str]:
    return [label["name"] for label in box.client.issue(REPO, place.number)["labels"]]


def _commits(box: Box, branch: str) -> list[str]:
    url = f"{box.url}/api/v3/repos/{REPO}/commits"
    found = httpx.get(url, params={"sha": branch}).json()
    return [one["commit"]["message"] for one in found if "effect" in one["commit"]["message"]]


def _files(place: Place, content: str = "one") -> CommitFiles:
    return CommitFiles(
        key=f"spec-{place.number}",
        feature_id=0,
        place=place,
        branch=f"b-{place.number}",
        base="main",
        files=((f"specs/{place.number}/spec.md", content),),
        message=f"effect {content}",
        revision=1,
    )


def _head() -> str:
    return str(_heads[0])


_heads: list[str] = []


def _check(place: Place, conclusion: str) -> ShowCheck:
    key = f"check-{place.number}"
    return ShowCheck(key, None, place, "baron/config", _head(), conclusion, "Checked", "So it is.")


def _checks(box: Box, place: Place) -> list[str]:
    url = f"{box.url}/api/v3/repos/{REPO}/commits/{_head()}/check-runs?filter=all&per_page=100"
    runs = httpx.get(url).json()["check_runs"]
    return [run["conclusion"] for run in runs if run["external_id"] == f"check-{place.number}"]


@dataclass(frozen=True)
class Case:
    """One kind of write: what is wanted, where the fault strikes, what has to stand then."""

    name: str
    effect: Callable[[Place], GitHubEffect]
    method: str
    path: str
    stands: Callable[[Box, Place], object]
    wanted: object
    before: Callable[[Place], GitHubEffect] | None = None


CASES = (
    Case(
        "create-comment",
        _commented,
        "POST",
        r"/issues/\d+/comments$",
        _standing,
        ["hello"],
    ),
    Case(
        "edit-comment",
        lambda place: _commented(place, "changed"),
        "PATCH",
        r"/issues/comments/\d+$",
        _standing,
        ["changed"],
        before=_commented,
    ),
    Case(
        "react",
        lambda place: React(f"r-{place.number}", None, place, "eyes"),
        "POST",
        r"/reactions$",
        _reactions,
        1,
    ),
    Case(
        "add-label",
        lambda place: ShowLabel(f"l-{place.number}", 0, place, "baron:waiting"),
        "POST",
        r"/issues/\d+/labels$",
        _labels,
        ["baron:waiting"],
    ),
    Case(
        "remove-label",
        lambda place: ShowLabel(f"l-{place.number}", 0, place, None),
        "DELETE",
        r"/issues/\d+/labels/",
        _labels,
        [],
        before=lambda place: ShowLabel(f"l-{place.number}", 0, place, "baron:waiting"),
    ),
    *(
        Case(
            f"commit-{step}",
            _files,
            "POST",
            rf"/git/{step}$",
            lambda box, place: _commits(box, f"b-{place.number}"),
            ["effect one"],
        )
        for step in ("trees", "commits", "refs")
    ),
    Case(
        "move-branch",
        lambda place: _files(place, "two"),
        "PATCH",
        r"/git/refs/",
        lambda box, place: _commits(box, f"b-{place.number}"),
        ["effect two", "effect one"],
        before=_files,
    ),
    Case(
        "create-check",
        lambda place: _check(place, "failure"),
        "POST",
        r"/check-runs$",
        _checks,
        ["failure"],
    ),
    Case(
        "update-check",
        lambda place: _check(place, "success"),
        "PATCH",
        r"/check-runs/\d+$",
        _checks,
        ["success"],
        before=lambda place: _check(place, "failure"),
    ),
)


def run(deps: Deps, effect: GitHubEffect, seconds: float = 25.0) -> str:
    """Have the real worker do it. Returns the state that the effect ends in."""
    with deps.engine.begin() as connection:
        outbox.put(connection, effect)
    worker = outbox_worker.Outbox(deps)
    worker.start()
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = _state(deps.engine, effect.key)
            if state != "new":
                return state
            time.sleep(0.05)
        return _state(deps.engine, effect.key)
    finally:
        worker.stop()


def _state(engine: Engine, key: str) -> str:
    with engine.connect() as connection:
        query = text("SELECT state FROM outbox WHERE key = :key")
        return str(connection.execute(query, {"key": key}).scalar_one())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exactly_one_effect(
    box: Box, deps: Deps, place: Place, case: Case, kind: str, when: str
) -> None:
    if case.before:
        assert run(deps, case.before(place)) == "done"
    seconds = 4.0 if kind == "timeout" else 2.0
    box.client.faults(
        match={"method": case.method, "path": case.path},
        kind=kind,
        when=when,
        times=1,
        seconds=seconds,
    )
    assert run(deps, case.effect(place)) == "done"
    assert case.stands(box, place) == case.wanted


def test_control_a_blind_retry_does_it_twice(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: whoever posts again without a look posts twice."""

    async def blind(*_: object) -> None:
        return None

    monkeypatch.setattr(writes, "find_comment", blind)
    box.client.faults(
        match={"method": "POST", "path": r"/issues/\d+/comments$"},
        kind="502",
        when="after",
        times=1,
    )
    assert run(deps, _commented(place)) == "done"
    assert _standing(box, place) == ["hello", "hello"]


def test_forged_marker_is_not_ours(box: Box, deps: Deps, place: Place) -> None:
    effect = _commented(place)
    box.client.as_user("sol").comment(REPO, place.number, effect.body)
    box.client.faults(
        match={"method": "POST", "path": r"/issues/\d+/comments$"},
        kind="502",
        when="before",
        times=1,
    )
    assert run(deps, effect) == "done"
    assert _standing(box, place) == ["hello", "hello"]


def test_what_cannot_be_done_fails_with_its_reason(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.perform.GIVE_UP", 2)
    gone = replace(place, number=99_999)
    assert run(deps, _commented(gone)) == "failed"
    with deps.engine.connect() as connection:
        error = connection.execute(text("SELECT error FROM outbox")).scalar_one()
    assert error.startswith("404")
