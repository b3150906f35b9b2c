"""@degaulle's reviews: under an App of its own they request changes, and take that back."""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app.actions import LineNote, SubmitReview
from app.deps import Deps, build_deps
from app.features.model import Place
from app.settings import Settings
from app.store import outbox
from app.store.lanes import Limits
from app.texts.marker import marker
from tests.effects.test_exactly_once import _state, run
from tests.effects.test_review_apps import DEGAULLE, configured, settings
from tests.playground.conftest import REPO, Two, _served_two, two
from tests.playground.pulls import open_pull
from tests.servers import Backing
from workers.outbox import Outbox

__all__ = ["_served_two", "two"]
REQUEST, COMMENT, DISMISSED = "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"
BARON, DEGAULLES = "baron[bot]", "degaulle[bot]"


@dataclass(frozen=True)
class Scene:
    """A pull request, and the service that reviews it."""

    two: Two
    deps: Deps
    place: Place
    head: str

    @property
    def path(self) -> str:
        return f"/repos/{REPO}/pulls/{self.place.number}"

    def review(self, *, blocking: bool, name: str = "", **more: Any) -> SubmitReview:
        head = more.pop("head", self.head)
        key = f"review:{self.place.number}:{head}{name}"
        body = f"{marker('review', key)}\nSaid{name}"
        given: dict[str, Any] = {"body": body, "without_lines": f"{body}, all here", **more}
        return SubmitReview(key, None, self.place, head, blocking=blocking, **given)

    def push(self) -> str:
        """A new commit on its branch."""
        client, at = self.two.first.client, f"/repos/{REPO}/contents/x.txt"
        sha = client.call("GET", at, params={"ref": "topic/one"})["sha"]
        content = base64.b64encode(b"another text\n").decode()
        data = {"message": "More", "content": content, "branch": "topic/one", "sha": sha}
        return str(client.call("PUT", at, json=data)["commit"]["sha"])

    def stand(self) -> list[tuple[str, str]]:
        found = self.two.first.client.call("GET", f"{self.path}/reviews")
        return [(one["user"]["login"], one["state"]) for one in found]

    def bodies(self) -> list[str]:
        found = self.two.first.client.call("GET", f"{self.path}/reviews")
        return [one["body"].partition("\n")[2] for one in found]

    def writes(self, path: str) -> list[str]:
        """Who made the requests whose path ends so."""
        every = self.two.first.client.requests()
        return [one["who"] for one in every if one["path"].endswith(path)]


@contextmanager
def _scene(two: Two, backing: Backing, given: Settings, **pull: Any) -> Iterator[Scene]:
    addresses = {"database_url": backing.database_url, "redis_url": backing.redis_url}
    made = build_deps(given.model_copy(update=addresses))
    deps = replace(made, limits=Limits(100_000, 1_000_000, 1000))
    opened = open_pull(two.first, **pull)
    repo = two.first.client.call("GET", f"/repos/{REPO}")
    # As a webhook has it: the number of the first App's installation.
    (own,) = two.first.as_app("GET", "/app/installations").json()
    place = Place(int(own["id"]), int(repo["id"]), REPO, opened.number)
    yield Scene(two, deps, place, opened.head)
    made.engine.dispose()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.perform_pulls.LAG", 0.1)


def _keyed(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KR_APP_DEGAULLE_ID", "2")
    monkeypatch.setenv("KR_APP_DEGAULLE_PRIVATE_KEY", two.second.private_key)


@pytest.fixture
def scene(
    two: Two, backing: Backing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scene]:
    """With both Apps."""
    _keyed(two, monkeypatch)
    with _scene(two, backing, settings(two, config_dir=configured(tmp_path))) as found:
        yield found


def test_with_one_app_it_comments(two: Two, backing: Backing) -> None:
    with _scene(two, backing, settings(two)) as scene:
        assert run(scene.deps, scene.review(blocking=True)) == "done"
        assert run(scene.deps, scene.review(blocking=False, name=" more")) == "done"
        assert scene.stand() == [(BARON, COMMENT), (BARON, COMMENT)]


def test_it_requests_changes_and_takes_that_back_without_approving(scene: Scene) -> None:
    assert run(scene.deps, scene.review(blocking=True)) == "done"
    assert scene.stand() == [(DEGAULLES, REQUEST)]
    mended = scene.push()
    assert run(scene.deps, scene.review(blocking=False, head=mended)) == "done"
    assert scene.stand() == [(DEGAULLES, DISMISSED), (DEGAULLES, COMMENT)]
    assert scene.writes("/dismissals") == [DEGAULLES]


def test_what_does_not_block_is_a_comment_from_the_start(scene: Scene) -> None:
    assert run(scene.deps, scene.review(blocking=False)) == "done"
    assert scene.stand() == [(DEGAULLES, COMMENT)]
    assert scene.writes("/dismissals") == []


def test_nothing_new_to_say_still_takes_the_request_back(scene: Scene) -> None:
    note = LineNote("x.txt", 2, f"{marker('finding', 'one')}\nWrong")
    assert run(scene.deps, scene.review(blocking=True, notes=(note,))) == "done"
    thread = _thread(scene)
    mended = scene.push()
    silent = scene.review(blocking=False, head=mended, body="", resolve=(thread["id"],))
    assert run(scene.deps, silent) == "done"
    assert scene.stand() == [(DEGAULLES, DISMISSED)]
    assert _thread(scene)["isResolved"]


def _thread(scene: Scene) -> dict[str, Any]:
    query = f"""query {{ repository(owner: "acme", name: "storefront") {{
        pullRequest(number: {scene.place.number}) {{ reviewThreads(first: 9) {{
        nodes {{ id isResolved }} }} }} }} }}"""
    data = scene.two.first.client.graphql(query)["data"]
    found: dict[str, Any] = data["repository"]["pullRequest"]["reviewThreads"]["nodes"][0]
    return found


def test_all_its_requests_are_taken_back_and_those_of_people_stay(scene: Scene) -> None:
    data = {"event": "REQUEST_CHANGES", "body": "I mind"}
    scene.two.first.client.as_user("mara").call("POST", f"{scene.path}/reviews", json=data)
    assert run(scene.deps, scene.review(blocking=True)) == "done"
    assert run(scene.deps, scene.review(blocking=True, name=" again")) == "done"
    assert run(scene.deps, scene.review(blocking=False, body="", name=" then")) == "done"
    assert scene.stand() == [("mara", REQUEST), (DEGAULLES, DISMISSED), (DEGAULLES, DISMISSED)]


def test_a_review_that_comes_late_neither_requests_nor_takes_back(scene: Scene) -> None:
    late = scene.review(blocking=True, name=" late")
    mended = scene.push()
    assert run(scene.deps, late) == "done"
    assert run(scene.deps, scene.review(blocking=True, head=mended)) == "done"
    assert run(scene.deps, scene.review(blocking=False, name=" later")) == "done"
    assert scene.stand() == [(DEGAULLES, COMMENT), (DEGAULLES, REQUEST), (DEGAULLES, COMMENT)]


def test_on_its_own_pull_request_it_comments(scene: Scene) -> None:
    token = scene.two.second.installation_token()
    main = scene.two.first.client.call("GET", f"/repos/{REPO}/git/ref/heads/topic/one")
    data = {"ref": "refs/heads/topic/two", "sha": main["object"]["sha"]}
    scene.two.first.client.call("POST", f"/repos/{REPO}/git/refs", json=data)
    data = {"title": "Its own", "head": "topic/two", "base": "main"}
    pull = scene.two.second.call("POST", f"/repos/{REPO}/pulls", token, json=data).json()
    own = replace(scene, place=replace(scene.place, number=int(pull["number"])))
    assert run(scene.deps, own.review(blocking=True)) == "done"
    assert own.stand() == [(DEGAULLES, COMMENT)]


def test_where_it_is_not_installed_the_first_app_comments_and_says_so_once(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.two.first.client.install("degaulle", installed=False)
    effects = [scene.review(blocking=True, name=f" {number}") for number in (1, 2)]
    with caplog.at_level(logging.WARNING), scene.deps.engine.begin() as connection:
        for effect in effects:
            outbox.put(connection, effect)
    with _working(scene.deps):
        _until(lambda: all(_state(scene.deps.engine, one.key) == "done" for one in effects))
    assert scene.stand() == [(BARON, COMMENT), (BARON, COMMENT)]
    assert caplog.text.count("degaulle cannot write in acme/storefront (404 Not Found)") == 1
    scene.two.first.client.install("degaulle")
    assert run(scene.deps, scene.review(blocking=True, name=" 3")) == "done"
    assert scene.stand()[2:] == [(DEGAULLES, REQUEST)]


def test_what_it_requested_before_it_was_taken_away_is_taken_back(scene: Scene) -> None:
    assert run(scene.deps, scene.review(blocking=True)) == "done"
    scene.two.first.client.install("degaulle", installed=False)
    mended = scene.push()
    assert run(scene.deps, scene.review(blocking=False, head=mended)) == "done"
    assert scene.stand() == [(DEGAULLES, DISMISSED), (BARON, COMMENT)]
    assert scene.writes("/dismissals") == [BARON]


def test_with_a_key_that_github_refuses_the_first_app_comments(
    two: Two, backing: Backing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KR_APP_DEGAULLE_ID", "2")
    monkeypatch.setenv("KR_APP_DEGAULLE_PRIVATE_KEY", two.first.private_key)
    with _scene(two, backing, settings(two, config_dir=configured(tmp_path, DEGAULLE))) as scene:
        assert run(scene.deps, scene.review(blocking=True)) == "done"
        assert scene.stand() == [(BARON, COMMENT)]


def test_what_the_app_may_not_the_first_one_does(scene: Scene) -> None:
    _fault(scene, "POST", r"/reviews$", "403")
    assert run(scene.deps, scene.review(blocking=True)) == "done"
    assert scene.stand() == [(BARON, COMMENT)]


def test_of_a_refused_line_all_is_said_in_the_request(scene: Scene) -> None:
    note = LineNote("x.txt", 900, "Beyond the end")
    assert run(scene.deps, scene.review(blocking=True, notes=(note,))) == "done"
    assert scene.stand() == [(DEGAULLES, REQUEST)]
    assert scene.bodies() == ["Said, all here"]


class Killed(BaseException):
    """Nothing catches it: what is in hand stays in hand, as of a process that died."""


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")  # it died before
@pytest.mark.parametrize("point", ["before-write", "after-write", "before-outbox-commit"])
@pytest.mark.parametrize("blocking", [True, False])
def test_nothing_twice_after_a_crash(scene: Scene, point: str, blocking: bool) -> None:
    asked = scene.review(blocking=True)
    head = scene.head
    if not blocking:
        assert run(scene.deps, asked) == "done"
        head = scene.push()
    # The second write of a review that takes back is the dismissal.
    times = 1 if blocking or point == "before-outbox-commit" else 2
    effect = scene.review(blocking=blocking, head=head)
    _die(scene.deps, effect, point, times)
    assert run(scene.deps, effect) == "done"
    wanted = [(DEGAULLES, REQUEST)]
    taken_back = [(DEGAULLES, DISMISSED), (DEGAULLES, COMMENT)]
    assert scene.stand() == (wanted if blocking else taken_back)
    assert len(scene.writes("/dismissals")) == (0 if blocking else 1)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("path", [r"/reviews$", r"/dismissals$"])
def test_nothing_twice_after_a_doubtful_answer(scene: Scene, path: str, when: str) -> None:
    if "dismissals" in path:
        assert run(scene.deps, scene.review(blocking=True)) == "done"
        head = scene.push()
        _fault(scene, "PUT", path, "502", when)
        assert run(scene.deps, scene.review(blocking=False, head=head)) == "done"
        assert scene.stand() == [(DEGAULLES, DISMISSED), (DEGAULLES, COMMENT)]
        return
    _fault(scene, "POST", path, "502", when)
    assert run(scene.deps, scene.review(blocking=True)) == "done"
    assert scene.stand() == [(DEGAULLES, REQUEST)]


def test_a_crash_under_the_first_app_is_found_when_the_other_is_back(scene: Scene) -> None:
    scene.two.first.client.install("degaulle", installed=False)
    effect = scene.review(blocking=True)
    _die(scene.deps, effect, "after-write", 1)
    scene.two.first.client.install("degaulle")
    assert run(scene.deps, effect) == "done"
    assert scene.stand() == [(BARON, COMMENT)]


def _fault(scene: Scene, method: str, path: str, kind: str, when: str = "before") -> None:
    match = {"method": method, "path": path}
    scene.two.first.client.faults(match=match, kind=kind, when=when, times=1)


def _until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def _working(deps: Deps, crash: Callable[[str], None] = lambda point: None) -> Iterator[None]:
    worker = Outbox(deps, crash)
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def _die(deps: Deps, effect: SubmitReview, point: str, times: int) -> None:
    """Have a worker die at a crash point; its lease has run out then."""
    reached: list[str] = []

    def crash(at: str) -> None:
        reached.extend([at] * (at == point))
        if at == point and len(reached) >= times:
            raise Killed

    with deps.engine.begin() as connection:
        outbox.put(connection, effect)
    with _working(deps, crash):
        _until(lambda: len(reached) >= times)
    with deps.engine.begin() as connection:
        connection.execute(text("UPDATE outbox SET lease_until = now() WHERE state = 'new'"))


def test_the_page_says_who_asked_for_changes(scene: Scene) -> None:
    assert run(scene.deps, scene.review(blocking=True)) == "done"
    page = httpx.get(f"{scene.two.first.url}/{REPO}/pull/{scene.place.number}").text
    assert "requested changes" in page
