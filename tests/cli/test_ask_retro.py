"""`kr ask` and `kr retro`."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Engine

from app.cli import main
from app.features.model import Feature, FeatureState, Place, Question
from app.questions.model import QuestionState
from app.retro.figures import figures
from app.store import threads
from app.store.log import Entry
from tests.servers import Backing


def test_ask_a_handbook(capsys: pytest.CaptureFixture[str]) -> None:
    question = "Should refresh tokens be stored in cookies or localStorage?"
    assert main(["ask", "@duc", question, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["confidence"] >= 80
    assert found["sources"]
    assert found["backend"] == "retrieval"
    assert set(found["cost"]) == {"usd", "input_tokens", "output_tokens"}
    assert main(["ask", "architect", question, "--topic", "security", "--json"]) in {0, 1}


def test_an_answer_below_its_threshold_is_a_no(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "architect", "Which colour has the moon of Zork?"]) == 1
    assert "sure" in capsys.readouterr().out


def test_ask_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "nobody", "Why?"]) == 2
    assert "architect" in capsys.readouterr().err


def entry(number: int, kind: str, question: str, **data: object) -> Entry:
    return Entry(number, "", kind, question, "@duc", data, [], "", "")


def test_fifteen_questions_of_which_four_were_escalated() -> None:
    """specs/1, US7.1: 73 % direct acceptance."""
    questions, log = [], []
    for number in range(1, 16):
        escalated = number > 11
        state = QuestionState.CONFIRMED if escalated else QuestionState.ACCEPTED
        questions.append(Question(number, f"q-{number}", f"topic.{number}", "Why?", state=state))
        name, confidence = f"Q{number}", 60 if escalated else 90
        verdict = "escalated" if escalated else "accepted"
        log.append(entry(number, "answer", name, confidence=confidence, verdict=verdict))
        if escalated:
            log.append(entry(number, "escalation", name))
            log.append(entry(number, "human", name, action="confirm"))
    report = figures("acme/storefront#7", questions, log)
    assert (report.acceptance_rate, report.accepted, report.escalated) == (73, 11, 4)
    assert report.escalated_topics == ("topic.12", "topic.13", "topic.14", "topic.15")
    assert report.human_actions == {"confirm": 4}
    assert report.by_agent["@duc"]["answers"] == 15
    assert report.average_confidence == 82.0


def test_retro_of_a_feature(
    engine: Engine,
    backing: Backing,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with engine.begin() as connection:
        place = Place(1, 2, "acme/storefront", 7)
        made = threads.ensure(connection, place)
        feature = Feature(made.feature.id, place, FeatureState.WAITING, run=1)
        threads.save_feature(connection, feature)
        threads.save_question(connection, feature.id, Question(1, "q-000001", "a", "Why?"))
    monkeypatch.setenv("KR_DATABASE_URL", backing.database_url)
    monkeypatch.setenv("KR_REDIS_URL", backing.redis_url)
    assert main(["retro", "acme/storefront#7", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["open"]) == (1, 1)
    assert main(["retro", "acme/storefront#8"]) == 2
    assert main(["retro", "nonsense"]) == 2
