"""Pictures come right in the end: after doubt, after a failure, and after somebody deleted them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text

from app.actions import CommitFiles, ShowComment, ShowLabel
from app.deps import Deps
from app.features.model import Place
from app.store import outbox
from app.store.outbox import Due, Later
from app.texts.marker import marker
from tests.effects import test_exactly_once as once
from tests.effects.test_exactly_once import REPO, Box, run
from workers.outbox import Outbox

box, deps, place = once.box, once.deps, once.place

COMMENTS = r"/issues/\d+/comments$"
LANE = "github:7"
HERE = Place(7, 70, REPO, 12)


def picture(place: Place, body: str = "one", key: str = "") -> ShowComment:
    key = key or f"f{place.number}:status"
    return ShowComment(key, place.number, place, f"{marker('status', key)}\n{body}")


def standing(box: Box, place: Place) -> list[str]:
    return [c["body"].partition("\n")[2] for c in box.client.comments(REPO, place.number)]


def posts(box: Box, place: Place) -> int:
    path = f"/issues/{place.number}/comments"
    return len(
        [r for r in box.client.requests() if r["method"] == "POST" and r["path"].endswith(path)]
    )


def put(deps: Deps, effect: ShowComment) -> None:
    with deps.engine.begin() as connection:
        outbox.put(connection, effect)


def state(deps: Deps, key: str) -> str:
    with deps.engine.connect() as connection:
        query = text("SELECT state FROM outbox WHERE key = :key")
        return str(connection.execute(query, {"key": key}).scalar_one())


def told(deps: Deps) -> list[str]:
    """The events of ours that wait for the handlers."""
    with deps.engine.connect() as connection:
        return list(connection.execute(text("SELECT guid FROM deliveries ORDER BY seq")).scalars())


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def at_work(deps: Deps) -> Iterator[None]:
    worker = Outbox(deps)
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def fault(box: Box, method: str, path: str, kind: str, when: str = "before", **more: float) -> None:
    match = {"method": method, "path": path}
    box.client.faults(match=match, kind=kind, when=when, **{"times": 1, **more})


@pytest.fixture(autouse=True)
def _no_faults(request: pytest.FixtureRequest) -> None:
    if "box" in request.fixturenames:
        request.getfixturevalue("box").client.no_faults()


def claim(engine: Engine) -> Due:
    with engine.begin() as connection:
        connection.execute(text("UPDATE outbox SET due_at = now()"))
        due = outbox.claim(connection, LANE)
    assert due is not None
    return due


def put_back(engine: Engine, due: Due, later: Later) -> None:
    with engine.begin() as connection:
        outbox.again(connection, due, later)


def look_twice(engine: Engine) -> Due:
    for _ in range(2):
        put_back(engine, claim(engine), Later(0, doubtful=True, looked=True, counted=False))
    due = claim(engine)
    assert due.looks == 2
    return due


# looks


def test_second_doubtful_write_is_looked_for_as_long_as_the_first(
    box: Box, deps: Deps, place: Place
) -> None:
    effect = picture(place)
    fault(box, "POST", COMMENTS, "502")
    with at_work(deps):
        put(deps, effect)
        until(lambda: posts(box, place) == 1)
        fault(box, "POST", COMMENTS, "404-for-a-while", "after", seconds=2.4)
        fault(box, "POST", COMMENTS, "502", "after")
        until(lambda: state(deps, effect.key) == "done")
    assert posts(box, place) == 2
    assert standing(box, place) == ["one"]


@pytest.mark.parametrize(
    "effect",
    [picture(HERE), CommitFiles("f1:spec", 1, HERE, "b", "main", (("a", "b"),), "m", 1)],
    ids=["comment", "commit"],
)
def test_looks_begin_anew_with_every_try(engine: Engine, effect: ShowComment | CommitFiles) -> None:
    with engine.begin() as connection:
        outbox.put(connection, effect)
    put_back(engine, claim(engine), Later(0, doubtful=True, error="502"))
    due = look_twice(engine)
    put_back(engine, due, Later(0, doubtful=True, counted=False))
    due = claim(engine)
    assert due.looks == 2  # the lane was full: nothing was written
    put_back(engine, due, Later(0, doubtful=True, error="502"))
    due = claim(engine)
    assert (due.looks, due.doubtful) == (0, True)


def test_looks_begin_anew_after_a_dead_process(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE))
    look_twice(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE outbox SET lease_until = now() - interval '1 second'"))
    due = claim(engine)
    assert (due.looks, due.doubtful) == (0, True)


# newer pictures


def test_newer_picture_is_drawn_though_the_older_one_failed(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.perform.GIVE_UP", 1)
    effect = picture(place, "one")
    fault(box, "POST", COMMENTS, "slow", seconds=1)
    fault(box, "POST", COMMENTS, "404")
    with at_work(deps):
        put(deps, effect)
        until(lambda: posts(box, place) == 1)
        put(deps, picture(place, "two"))
        until(lambda: state(deps, effect.key) != "new")
    assert state(deps, effect.key) == "done"
    assert standing(box, place) == ["two"]
    assert told(deps) == []


def test_failure_of_an_older_picture_leaves_the_newer_one_all_its_tries(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE, "one"))
    put_back(engine, claim(engine), Later(0, doubtful=True, error="404"))
    due = claim(engine)
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE, "two"))
        assert not outbox.failed(connection, due, "404")
    due = claim(engine)
    assert due.effect == picture(HERE, "two")
    assert (due.attempts, due.looks) == (1, 0)
    with engine.begin() as connection:
        assert outbox.failed(connection, due, "404")
        assert outbox.claim(connection, LANE) is None


def test_failure_of_what_was_taken_over_does_not_count(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE))
    slow = claim(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE outbox SET lease_until = now() - interval '1 second'"))
    claim(engine)
    with pytest.raises(outbox.FenceLost), engine.begin() as connection:
        outbox.failed(connection, slow, "404")


def test_newer_picture_starts_with_all_its_tries_and_looks(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE, "one"))
    put_back(engine, claim(engine), Later(0, doubtful=True, error="404"))
    due = look_twice(engine)
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE, "two"))
    put_back(engine, due, Later(0, doubtful=True, counted=False))
    due = claim(engine)
    assert (due.attempts, due.looks, due.doubtful) == (1, 0, True)


# what failed before


def test_same_picture_is_tried_again_after_it_failed(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.perform.GIVE_UP", 2)
    fault(box, "POST", COMMENTS, "404", times=2)
    assert run(deps, picture(place)) == "failed"
    assert standing(box, place) == []
    assert run(deps, picture(place)) == "done"
    assert standing(box, place) == ["one"]


def test_same_picture_is_due_again_after_it_was_dropped(engine: Engine) -> None:
    effect = picture(HERE)
    with engine.begin() as connection:
        outbox.put(connection, effect)
    put_back(engine, look_twice(engine), Later(0, doubtful=True, looked=True, counted=False))
    with engine.begin() as connection:
        outbox.drop(connection, HERE.number)
        assert outbox.claim(connection, LANE) is None
        outbox.put(connection, effect)
        due = outbox.claim(connection, LANE)
    assert due is not None
    assert (due.effect, due.wanted, due.attempts, due.looks) == (effect, 1, 1, 0)


def test_same_picture_that_waits_is_left_alone(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE))
    put_back(engine, claim(engine), Later(30, doubtful=True, error="502"))
    with engine.begin() as connection:
        outbox.put(connection, picture(HERE))
        assert outbox.claim(connection, LANE) is None
    assert claim(engine).attempts == 2


# comments that are not there any more


def _delete(box: Box, place: Place, which: int = 0) -> None:
    comment = box.client.comments(REPO, place.number)[which]
    box.client.delete_comment(REPO, comment["id"])


def test_deleted_comment_comes_back_once(box: Box, deps: Deps, place: Place) -> None:
    assert run(deps, picture(place, "one")) == "done"
    _delete(box, place)
    assert run(deps, picture(place, "two")) == "done"
    assert (standing(box, place), posts(box, place)) == (["two"], 2)
    assert run(deps, picture(place, "three")) == "done"
    assert (standing(box, place), posts(box, place)) == (["three"], 2)


def test_comment_of_another_number_is_found_by_its_marker(
    box: Box, deps: Deps, place: Place
) -> None:
    first = picture(place, "one")
    assert run(deps, first) == "done"
    assert run(deps, replace(first, key="another")) == "done"
    _delete(box, place)
    assert run(deps, picture(place, "two")) == "done"
    assert (standing(box, place), posts(box, place)) == (["two"], 2)


def test_comment_that_nobody_sees_yet_is_not_written_twice(
    box: Box, deps: Deps, place: Place
) -> None:
    fault(box, "POST", COMMENTS, "404-for-a-while", "after", seconds=2.4)
    assert run(deps, picture(place, "one")) == "done"
    assert standing(box, place) == []
    assert run(deps, picture(place, "two")) == "done"
    assert (standing(box, place), posts(box, place)) == (["two"], 1)


def test_comment_of_a_deleted_issue_fails(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.perform.GIVE_UP", 2)
    assert run(deps, picture(place, "one")) == "done"
    box.client.as_user("ada").delete_issue(REPO, place.number)
    assert run(deps, picture(place, "two")) == "failed"
    with deps.engine.connect() as connection:
        error = connection.execute(text("SELECT error FROM outbox")).scalar_one()
    assert re.match(r"the issue was deleted", error)
    assert posts(box, place) == 1


# who is told


def test_lost_picture_is_told_once_for_each_revision(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.perform.GIVE_UP", 1)
    gone = replace(place, number=99_998)
    assert run(deps, picture(gone, "one", "f3:status")) == "failed"
    assert run(deps, picture(gone, "one", "f3:status")) == "failed"
    assert told(deps) == ["kr:f3:status:1:EffectFailed"]
    assert run(deps, picture(gone, "two", "f3:status")) == "failed"
    assert run(deps, picture(gone, "one", "f3:Q2")) == "failed"
    assert told(deps)[1:] == ["kr:f3:status:2:EffectFailed", "kr:f3:Q2:1:EffectFailed"]
    with deps.engine.connect() as connection:
        payload = connection.execute(text("SELECT payload FROM deliveries LIMIT 1")).scalar_one()
    assert b'"comment"' in bytes(payload)
    assert b"404" in bytes(payload)


def test_lost_replies_and_labels_are_told_to_nobody(
    box: Box, deps: Deps, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.perform.GIVE_UP", 1)
    gone = replace(place, number=99_997)
    assert run(deps, picture(gone, key="reply:5")) == "failed"
    assert run(deps, picture(gone, key="f3:Q2:chat:1:reply")) == "failed"
    assert run(deps, replace(picture(gone, key="f0:status"), feature_id=None)) == "failed"
    assert run(deps, ShowLabel("f3:label", 3, gone, "baron:waiting")) == "failed"
    assert told(deps) == []
