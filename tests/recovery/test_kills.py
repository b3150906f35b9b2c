"""Kill -9, anywhere, at random moments and at every named point: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.recovery.crashing import POINTS
from tests.recovery.town import REPO, Town, until

TITLE = "Let customers download their invoices"
BODY = """Customers ask support for copies of their invoices every day.

They should find them in their account and download each as a PDF.
"""
ROUNDS = int(os.environ.get("KR_KILLS", "20"))
PATIENCE = 15.0
VICTIMS = ("web", "events-1", "events-2", "outbox", "agents", "timer", "redis", "postgres")


def settle(town: Town, number: int, after_each: object = None) -> None:
    """Answer every question that waits, as the maintainer, until the specification is written."""
    mara = town.client.as_user("mara")
    until(
        lambda: town.waits_for_people(number) or town.done(number), PATIENCE, _state(town, number)
    )
    answered: set[str] = set()
    end = time.monotonic() + 4 * PATIENCE
    while not town.done(number) and time.monotonic() < end:
        for fields in town.escalated(number):
            if fields["question"] not in answered:
                answered.add(fields["question"])
                mara.comment(REPO, number, f"/correct {fields['question']} As the plan says.")
                if callable(after_each):
                    after_each()
        time.sleep(0.1)
    until(lambda: town.done(number), PATIENCE, _state(town, number))
    commands = [c for c in town.client.comments(REPO, number) if c["body"].startswith("/correct")]
    for comment in commands:
        until(
            lambda comment=comment: {"eyes", "+1"} <= _contents(town, comment["id"]),
            PATIENCE,
            "a command has not its reactions",
        )
    town.nothing_twice(number)
    assert len(commands) == len(answered)


def _state(town: Town, number: int) -> str:
    return f"issue {number} stands still: {town.status(number)[:300]!r}"


def _contents(town: Town, comment_id: int) -> set[str]:
    return {reaction["content"] for reaction in town.client.reactions(comment_id)}


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_random_kills(tmp_path: Path) -> None:
    """Each round: a feature, and one kill at a random moment of its life."""
    chance = random.Random(os.environ.get("KR_SEED", "20"))
    with Town(tmp_path) as town:
        for round_ in range(ROUNDS):
            victim = chance.choice([*VICTIMS, "supervisor"])
            early = chance.random() < 0.6
            number = town.open(f"{TITLE} {round_}", BODY)
            if early:
                time.sleep(chance.random() * 1.5)
                _kill(town, victim)
                settle(town, number)
            else:
                until(lambda n=number: town.waits_for_people(n), PATIENCE, "no question")
                kills = iter([victim])
                settle(town, number, lambda kills=kills: [_kill(town, one) for one in kills])


def _kill(town: Town, victim: str) -> None:
    if victim == "supervisor":
        town.kill_supervisor()
        town.start()
    else:
        town.kill(victim)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "point"), [(kind, point) for kind, points in POINTS.items() for point in points]
)
def test_crash_point(tmp_path: Path, kind: str, point: str) -> None:
    """The process dies there once, the second time it gets there; the thread completes."""
    with Town(tmp_path, crash=(kind, point, 2)) as town:
        number = town.open(TITLE, BODY)
        settle(town, number)
        assert not town.token.exists(), "the point was never reached"


def test_control_without_the_sweep_a_lost_ring_is_lost(tmp_path: Path) -> None:
    """The test above can fail: with nobody to ring again, work that was left behind stays so."""
    with Town(tmp_path, crash=("web", "after-intake-commit", 1), without=("timer",)) as town:
        number = town.open(TITLE, BODY)
        with pytest.raises(AssertionError, match="stands still"):
            settle(town, number)
