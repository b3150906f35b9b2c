"""What must not get stuck, go round for ever, or be anybody's to undo."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.actions import AskAgent, CommitFiles, Notify
from app.config.loader import build_config
from app.config.problems import ConfigInvalid
from app.events import ClockStruck, Closed, Person, Reopened, ToPeople
from app.features.model import Feature, FeatureState
from app.handlers.facts import HumanLoad, Load, Permission
from app.questions.model import QuestionState
from tests.handlers.test_people import GAP, plain_issue
from tests.handlers.test_time import chained, strike
from tests.handlers.world import PLACE, Table, World, answer, draft, escalated, routed, started


def test_what_a_person_answered_counts_when_time_is_up_before_the_agent() -> None:
    world = chained()
    world.say("/correct Q1 A")
    strike(world)
    assert world.questions[1].state is QuestionState.CORRECTED
    assert world.questions[1].answer == "A: One table"


def test_what_a_person_answered_counts_more_than_a_gap() -> None:
    world = started()
    world.say("/correct Q1 A")
    world.answer(1, answer(95, content=GAP.format(urgency="blocking")))
    assert world.questions[1].state is QuestionState.CORRECTED


def test_a_settled_question_of_somebody_is_not_the_whole_feature() -> None:
    world = plain_issue()
    world.say('/ask x "Why?"')
    world.label()
    world.answer(1, answer(95))
    assert world.feature.state is FeatureState.SPECIFYING
    assert not world.of(CommitFiles)
    world.generate(draft("a"))
    assert world.feature.state is FeatureState.ASKING
    world.answer(2, answer(95))
    assert world.of(CommitFiles)


def test_a_failed_reading_is_not_hidden_by_a_question() -> None:
    world = World()
    world.label()
    world.generate(error="no model")
    world.say('/ask x "Why?"')
    world.answer(1, answer(95))
    assert world.feature.state is FeatureState.FAILED
    assert not world.of(CommitFiles)
    world.say("/retry")
    world.generate()
    assert world.feature.state is FeatureState.WRITING


def test_ever_new_gaps_have_an_end() -> None:
    table = {"requirements.scope": routed("requirements.scope", "human/mara", None)}
    world = started(table=Table(table))
    for number in range(20):
        if world.questions[1].state is not QuestionState.ASKING:
            break
        text = GAP.format(urgency="blocking").replace("refunds", f"refunds of {number}")
        world.answer(1, answer(95, content=text))
        newest = max(world.questions)
        if not world.questions[newest].ended:
            world.say(f"/correct Q{newest} Yes.")
    assert world.questions[1].ended or world.questions[1].waits_for_a_person
    assert len(world.questions) == 6


def test_a_tool_after_a_person_ends_the_chain() -> None:
    table = {"x": routed("x", "human/mara", None, sla="1h", escalate_to=(("tool/docs", "1h"),))}
    world = World(Table(table))
    world.policy = {"tools": frozenset({"docs"})}
    world.label()
    world.generate(draft("x"))
    for _ in range(10):
        if not world.questions[1].clock.next_at:
            break
        if world.questions[1].state is QuestionState.ASKING:
            world.answer(1, answer(50))
        else:
            strike(world)
    assert world.questions[1].state is QuestionState.TIMEOUT
    assert world.kinds().count("escalation") == 1


@pytest.mark.parametrize("who", ["x** @torvalds <img src=x>", "github/employees", "team/", "@mara"])
def test_an_alias_is_a_person_or_a_team_and_nothing_else(who: str) -> None:
    with pytest.raises(ConfigInvalid, match="nobody"):
        build_config({"answerers.yaml": f'people: {{boss: "{who}"}}'})


def test_nobody_is_called_a_maintainer() -> None:
    world = plain_issue()
    table = {"x": routed("x", "human/requester", None)}
    world.table.rows = table
    world.say('/ask x "Drop it?"')
    assert world.questions[1].asked == "a maintainer"
    world.say("/correct Q1 Yes", by="maintainer", permission=Permission.NONE)
    assert world.questions[1].state is QuestionState.ESCALATED
    assert world.reactions() == ["confused"]


def test_nothing_goes_on_in_a_pause() -> None:
    world = started(draft("a"), draft("b"))
    world.say("/pause")
    assert world.send(ToPeople(1, 1, "now", "ops")) == []
    world.answer(1, answer(65))
    world.answer(2, None, error="boom")
    assert not world.of(AskAgent)
    assert not world.of(Notify)
    assert world.feature.state is FeatureState.STOPPED
    assert not [q for q in world.questions.values() if q.state is QuestionState.ESCALATED]
    world.say("/resume")
    assert world.questions[1].state is QuestionState.ESCALATED
    assert world.questions[2].state is QuestionState.ASKING


def test_an_author_does_not_undo_a_maintainers_pause() -> None:
    world = escalated()
    world.say("/pause")
    world.send(Closed("d", Person("rosa"), world.issue(closed=True)), Permission.NONE)
    world.send(Reopened("d2", Person("rosa"), world.issue()), Permission.NONE)
    assert world.feature.state is FeatureState.STOPPED
    world.say("/resume")
    assert world.feature.state is FeatureState.WAITING


def test_a_paused_question_of_a_plain_issue_keeps_its_time_when_a_label_comes() -> None:
    world = plain_issue()
    world.table.rows = {"x": routed("x", "human/mara", None, sla="8h")}
    world.say('/ask x "Why?"', by="sol")
    world.say("/pause")
    world.now += timedelta(days=9)
    world.label()
    from datetime import datetime

    left = datetime.fromisoformat(world.questions[1].clock.deadline) - world.now
    assert left == timedelta(hours=8)
    assert world.feature.paused_at == ""


def test_a_changed_answer_reaches_what_is_being_answered_from_the_old_one() -> None:
    world = started(draft("a"), draft("b", depends_on=(1,)))
    world.answer(1, answer(95))
    first = world.questions[2].ask_round
    world.say("/correct Q1 A")
    asked = world.of(AskAgent)[0]
    assert (asked.question, asked.ask_round) == (2, first + 1)
    assert asked.inquiry.earlier[0][1] == "A: One table"
    assert world.answer(2, answer(95), ask_round=first) == []


def test_a_deferred_question_gets_a_new_moment_even_if_our_clock_is_behind() -> None:
    world = World(Table({"x": routed("x", "human/mara", None)}))
    world.policy = {"load": HumanLoad(open=1)}
    world.facts = {"load": {"mara": Load(1, 1)}}
    world.label()
    world.generate(draft("x"))
    at = world.questions[1].clock.next_at
    world.send(ClockStruck(1, 1, at))  # our clock says that it is not time yet
    again = world.questions[1].clock.next_at
    assert again
    world.now += timedelta(minutes=1)
    world.send(ClockStruck(1, 1, again))
    assert world.questions[1].clock.next_at != at


def test_a_conversation_has_an_end() -> None:
    world = escalated()
    for number in range(60):
        world.say(f"/chat Q1 and {number}?")
    assert len(world.questions[1].chat) == 40
    assert "are enough" in world.replies()[0]


def test_a_channel_is_not_called_together() -> None:
    table = {"x": routed("x", "human/mara", None, notify="slack://a")}
    world = plain_issue()
    world.table.rows = table
    world.say('/ask x "@everyone <!channel> look?"', by="sol")
    told = world.of(Notify)[0]
    assert "@everyone" not in told.title + told.body
    assert "<!channel>" not in told.title + told.body


def test_gone_is_gone() -> None:
    world = World(feature=Feature(1, PLACE, FeatureState.GONE, run=1))
    assert world.say("/resume") == []
