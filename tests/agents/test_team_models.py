"""The team on models: nothing secret leaves it, and the handbook steps in."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from app.agents.contained import sweep
from app.agents.prompting import SHIPPED
from app.agents.protocols import (
    NOBODY,
    Account,
    AgentUnavailable,
    Declined,
    Generated,
    Malformed,
    OverBudget,
)
from app.agents.team import Member, Parts, Team
from app.features.types import FeatureRequest, FeatureType
from app.questions.gaps import parse_gaps
from app.questions.model import Answer, Choice, Draft, Inquiry, Source

TOKEN = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OURS = "the-webhook-secret-of-this-service"


class Says:
    def __init__(self, answer: Answer | AgentUnavailable) -> None:
        self._answer = answer

    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        if isinstance(self._answer, AgentUnavailable):
            raise self._answer
        return self._answer


class Generator:
    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        choices = (Choice("A", TOKEN, TOKEN), Choice("B", OURS))
        return Generated((Draft("x", f"Is {TOKEN} right?", None, TOKEN, TOKEN, choices),), "llm")


def team(answer: Answer | AgentUnavailable, handbook: Answer | None = None) -> Team:
    member = Member("architect", Says(answer), 5, "", Says(handbook) if handbook else None, True)
    return Team({"architect": member}, Parts(Generator(), secrets=frozenset({OURS})))


def ask(team: Team, *, handbook: bool = True) -> Answer:
    return asyncio.run(team.ask(Inquiry("architect", "x", "?"), handbook=handbook))


def test_no_secret_leaves_the_team_by_any_field() -> None:
    said = f"Take {TOKEN} or {OURS}."
    answer = ask(team(Answer(said, said, 95, (said,), (Source(said, TOKEN, said),), doubt=said)))
    assert TOKEN not in repr(answer)
    assert OURS not in repr(answer)
    assert "[removed: GitHub token]" in answer.content
    clean = ask(team(Answer("Take two tables.", "", 95)))
    assert (clean.content, clean.doubt) == ("Take two tables.", "")


def test_an_answer_that_held_a_secret_goes_to_a_person() -> None:
    answer = ask(team(Answer(f"Take {TOKEN}.", "", 95)))
    assert "what looked like a secret was removed" in answer.doubt
    assert answer.uncertainty_reasons[0] == answer.doubt


def test_what_nobody_sees_and_no_database_takes_is_left_out() -> None:
    answer = ask(
        team(Answer("Ye\x00s\u200b.", "So\x00.", 90, ("Hm\x00",), (Source("\x00t", "r"),)))
    )
    assert (answer.content, answer.rationale) == ("Yes.", "So.")
    assert "\x00" not in repr(answer)


def test_no_secret_is_in_the_reason_why_nobody_answered() -> None:
    with pytest.raises(AgentUnavailable) as raised:
        ask(team(AgentUnavailable(f"it said: {TOKEN} is wrong")))
    assert str(raised.value) == "it said: [removed: GitHub token] is wrong"


def test_a_repository_may_keep_models_out() -> None:
    said = team(Answer("From the model.", "", 95), BOOK)
    inquiry = Inquiry("architect", "x", "?")
    assert asyncio.run(said.ask(inquiry, model=False)).content == "From the book."
    with pytest.raises(AgentUnavailable, match="no model is asked here"):
        asyncio.run(team(Answer("From the model.", "", 95)).ask(inquiry, model=False))


def test_no_secret_is_in_a_question() -> None:
    found = asyncio.run(
        team(Answer("", "", 1)).generate(FeatureRequest("a", "b", FeatureType.BACKEND), 5)
    )
    assert TOKEN not in repr(found)
    assert OURS not in repr(found)


BOOK = Answer("From the book.", "", 85, backend="retrieval")


def test_the_handbook_answers_where_the_model_is_away_and_says_so() -> None:
    answer = ask(team(AgentUnavailable("no answer within 5 seconds"), BOOK))
    assert (answer.content, answer.backend) == ("From the book.", "retrieval")
    assert (
        "the model could not be asked (no answer within 5 seconds)"
        in (answer.uncertainty_reasons[0])
    )


@pytest.mark.parametrize("kind", [Malformed, Declined, OverBudget])
def test_the_handbook_does_not_speak_for_a_model_that_answered_badly(
    kind: type[AgentUnavailable],
) -> None:
    with pytest.raises(kind):
        ask(team(kind("no"), BOOK))


def test_the_handbook_is_silent_where_another_agent_is_named() -> None:
    with pytest.raises(AgentUnavailable, match="down"):
        ask(team(AgentUnavailable("down"), BOOK), handbook=False)


def test_the_prompt_teaches_the_form_of_gaps_that_we_read() -> None:
    text = (SHIPPED / "knowledge.system.md").read_text()
    start, end = text.index("<gap>"), text.index("</gap>") + len("</gap>")
    block = text[start:end].replace("blocking, or normal", "blocking")
    found = parse_gaps(f"Two tables.\n\n{block}\n")
    assert found.errors == ()
    assert [gap.urgency for gap in found.gaps] == ["blocking"]


def test_what_a_killed_worker_left_is_cleared_and_nothing_else() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    temp = Path(tempfile.gettempdir())
    left = temp / f"kr-agent-{ended.pid}-left"
    ours = temp / f"kr-agent-{os.getpid()}-ours"
    for folder in (left, ours):
        (folder / "home").mkdir(parents=True)
    try:
        sweep()
        assert not left.exists()
        assert ours.exists()
    finally:
        (ours / "home").rmdir()
        ours.rmdir()
