"""Many features at once, workers killed while they run: no question lost, nothing done twice.

`KR_CROWD` says how many features (40); the full measure is 200, which is 3,000 questions.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from app.questions.model import QuestionState
from app.store import log
from tests.recovery import crowd
from tests.recovery.crowd import QUESTIONS, Kept
from tests.recovery.town import Town

CROWD = int(os.environ.get("KR_CROWD", "40"))


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_no_question_is_lost(tmp_path: Path) -> None:
    """All at once, under fire; afterwards every question has an answer or a person and a time."""
    chance = random.Random(os.environ.get("KR_SEED", "200"))
    env = {"KR_CONFIG_DIR": str(crowd.configuration(tmp_path / "configs"))}
    with Town(tmp_path, env=env) as town, crowd.database(town) as engine:
        with crowd.Killer(town, chance) as killer:
            numbers = crowd.open_all(town, CROWD)
            crowd.wait_for_rest(engine, CROWD)
        assert killer.killed, "nobody was killed, so nothing was tried"
        with engine.connect() as connection:
            found = crowd.kept(connection)
            assert crowd.given_up(connection) == []
        assert sorted(one.feature.place.number for one in found) == sorted(numbers)
        for one in found:
            every_question_is_in_good_hands(one)
            the_log_is_whole(one)
            the_thread_shows_it_once(town, one)


def every_question_is_in_good_hands(one: Kept) -> None:
    """Settled, or with a person who has a deadline."""
    assert len(one.questions) == QUESTIONS
    for question in one.questions:
        if not question.settled:
            where = f"{one.feature.place} {question.name}"
            assert question.state is QuestionState.ESCALATED, f"{where} is {question.state}"
            assert question.clock.deadline, f"{where} waits for ever"
    assert one.with_people, "nobody is asked, so nothing can be seen in the thread"


def the_log_is_whole(one: Kept) -> None:
    """The chain of hashes holds, and nothing was decided twice."""
    assert log.broken_at(one.log) is None
    kinds = Counter(entry.kind for entry in one.log)
    assert kinds["started"] == kinds["generated"] == 1
    deeds = Counter((entry.kind, entry.question) for entry in one.log)
    once = {
        kind: n for kind, n in deeds.items() if kind[0] in {"question", "settled", "escalation"}
    }
    assert set(once.values()) == {1}, once
    assert kinds["question"] == kinds["settled"] + kinds["escalation"] == QUESTIONS


def the_thread_shows_it_once(town: Town, one: Kept) -> None:
    """One status comment, one comment for each question that waits for a person."""
    number = one.feature.place.number
    town.nothing_twice(number)
    comments = Counter((each["kind"], each.get("question")) for each in town.ours(number))
    wanted = {("question", name) for name in one.with_people} | {("status", None)}
    assert comments == Counter(wanted)
    assert {each["question"] for each in town.escalated(number)} == one.with_people
