"""Deadlines, reminders, the chain, and what happens if nobody answers (specs/2)."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from app.actions import Notify, ShowComment
from app.events import ClockStruck
from app.features.model import FeatureState
from app.handlers.facts import HumanLoad, Load, Permission
from app.questions.calendars import Calendar
from app.questions.model import QuestionState
from tests.handlers.world import Table, World, answer, draft, escalated, routed, started

CHAIN = {
    "architecture.data": routed(
        "architecture.data",
        "agent/architect",
        "@duc",
        sla="1h",
        escalate_to=(("team/architecture", "4h"), ("human/tech-lead", "24h")),
        notify="slack://architecture",
    )
}


def chained(**policy: object) -> World:
    world = started(table=Table(dict(CHAIN)))
    world.policy = policy
    return world


def strike(world: World, number: int = 1) -> list:
    """Let time pass until the question's clock strikes."""
    at = world.questions[number].clock.next_at
    world.now = max(world.now, datetime.fromisoformat(at))
    return world.send(ClockStruck(1, number, at))


def settle_time(world: World, number: int = 1) -> datetime:
    return datetime.fromisoformat(world.questions[number].clock.deadline)


def test_agent_then_team_then_person_then_a_known_end() -> None:
    world = chained()
    begin = world.now
    assert settle_time(world) == begin + timedelta(hours=1)
    strike(world)  # the agent is late
    question = world.questions[1]
    assert question.state is QuestionState.ESCALATED
    assert question.asked == "acme/architecture"
    assert "@duc did not answer within 1h" in question.note
    assert settle_time(world) == begin + timedelta(hours=5)
    assert world.entry("timeout").data["answerer"] == "agent/architect"
    strike(world)  # the reminder, halfway
    assert world.questions[1].clock.reminded
    assert world.now == begin + timedelta(hours=3)
    strike(world)
    question = world.questions[1]
    assert question.asked == "tech-lead"
    assert settle_time(world) == begin + timedelta(hours=29)
    strike(world)
    strike(world)
    question = world.questions[1]
    assert question.state is QuestionState.TIMEOUT
    assert question.clock.next_at == ""
    assert world.feature.state is FeatureState.WAITING
    assert "It can still be answered" in world.shown["f1:Q1"].body
    world.say("/correct Q1 A")
    assert world.questions[1].state is QuestionState.CORRECTED


def test_a_reminder_edits_the_comment_and_tells_the_channel_once() -> None:
    world = chained()
    strike(world)
    asked = world.of(Notify)
    assert len(asked) == 1
    strike(world)
    assert [effect.key for effect in world.of(ShowComment)] == ["f1:status", "f1:Q1"]
    assert "This is the reminder" in world.shown["f1:Q1"].body
    assert len(world.of(Notify)) == 1
    assert world.of(Notify)[0].key != asked[0].key
    assert world.kinds().count("reminder") == 1
    event = ClockStruck(1, 1, world.questions[1].clock.remind_at)
    assert world.send(event) == []  # told again, it is nothing new


def test_use_the_answer_with_a_warning() -> None:
    world = escalated(
        table=Table(
            {
                "architecture.data": routed(
                    "architecture.data",
                    "agent/architect",
                    "@duc",
                    sla="1h",
                    on_timeout="use_answer_with_warning",
                )
            }
        )
    )
    assert "then the answer of @duc is used, with a warning" in world.questions[1].after
    strike(world)
    strike(world)
    question = world.questions[1]
    assert question.state is QuestionState.ACCEPTED
    assert question.source == "@duc"
    assert question.validated_by is None
    assert "nobody looked at it in time" in question.warning
    assert "Take it with care" in world.shown["f1:Q1"].body
    assert world.feature.state is FeatureState.WRITING


def test_without_a_tentative_answer_nothing_can_be_used() -> None:
    table = {"x": routed("x", "human/mara", None, sla="1h", on_timeout="use_answer_with_warning")}
    world = started(draft("x"), table=Table(table))
    strike(world)
    strike(world)
    assert world.questions[1].state is QuestionState.TIMEOUT


def test_a_day_of_downtime_is_made_up_for_once() -> None:
    world = chained()
    strike(world)
    at = world.questions[1].clock.next_at
    world.now += timedelta(days=1)
    world.send(ClockStruck(1, 1, at))  # the reminder's moment, the deadline long past
    question = world.questions[1]
    assert question.asked == "tech-lead"
    assert not question.clock.reminded
    assert settle_time(world) == world.now + timedelta(hours=24)
    assert world.kinds().count("reminder") == 0


def test_the_same_person_under_another_name_is_not_asked_twice() -> None:
    table = {
        "x": routed(
            "x", "human/requester", None, sla="1h", escalate_to=(("human/maintainer", None),)
        )
    }
    world = started(draft("x"), table=Table(table))
    assert world.questions[1].asked == "mara"
    assert "then it goes on waiting" in world.questions[1].after
    strike(world)
    strike(world)
    assert world.questions[1].state is QuestionState.TIMEOUT


def test_pause_stops_all_clocks_and_resume_gives_back_what_was_left() -> None:
    world = chained()
    strike(world)
    before = settle_time(world) - world.now
    world.now += timedelta(hours=1)
    world.say("/pause")
    assert world.feature.state is FeatureState.STOPPED
    at = world.questions[1].clock.next_at
    world.now += timedelta(days=3)
    assert world.send(ClockStruck(1, 1, at)) == []
    world.say("/resume")
    assert settle_time(world) - world.now == before - timedelta(hours=1)
    assert world.feature.state is FeatureState.WAITING


def test_pause_and_resume_are_for_people_who_may_triage() -> None:
    world = escalated()
    world.say("/pause", by="rosa", permission=Permission.NONE)
    assert "people who may triage" in world.replies()[0]
    world.say("/resume")
    assert "nothing is paused" in world.replies()[0]


def test_snooze_and_delegate() -> None:
    world = chained()
    strike(world)
    begin = world.now
    world.say("/snooze Q1 2d")
    assert "sleeps until 2026-11-23 10:00 UTC" in world.replies()[0]
    assert "Put off until" in world.shown["f1:Q1"].body
    assert settle_time(world) == begin + timedelta(days=2, hours=4)
    strike(world)
    assert world.now == begin + timedelta(days=2)
    assert world.questions[1].clock.reminded
    world.say("/delegate Q1 @sol")
    question = world.questions[1]
    assert question.asked == "sol"
    assert settle_time(world) == world.now + timedelta(hours=4)
    world.say("/correct Q1 A", by="sol", permission=Permission.READ)
    assert world.questions[1].settled_by == "sol"


def test_delegating_to_a_crowd() -> None:
    world = escalated()
    world.say("/delegate Q1 @other/everyone")
    assert "only teams of acme" in world.replies()[0]
    world.say("/delegate Q1 @acme/core")
    assert world.questions[1].asked == "acme/core"


@pytest.mark.parametrize("text", ["/snooze Q1 banana", "/snooze Q1 0d", "/snooze Q1 400d"])
def test_bad_snooze(text: str) -> None:
    world = escalated()
    before = world.questions[1].clock
    world.say(text)
    assert world.reactions()[-1] == "confused"
    assert world.questions[1].clock == before


def test_members_of_an_asked_team_may_answer() -> None:
    world = chained()
    strike(world)
    world.say("/correct Q1 A", by="ravi", permission=Permission.READ)
    assert world.reactions() == ["confused"]  # a stranger
    world.facts = {"teams": frozenset({"acme/architecture"})}
    world.say("/correct Q1 A", by="ravi", permission=Permission.READ)
    assert world.questions[1].settled_by == "ravi"


BERLIN = Calendar(
    timezone="Europe/Berlin",
    opens=time(9),
    closes=time(17),
    days=frozenset(range(5)),
    holidays="DE",
)


def test_two_weeks_across_a_weekend_a_holiday_a_change_of_clocks_and_an_outage() -> None:
    """An hour of somebody's time is an hour of their working day (issue: Time)."""
    table = {
        "x": routed(
            "x",
            "team/core",
            None,
            sla="8h",
            escalate_to=(("human/tech-lead", "16h"), ("human/boss", "8h")),
        )
    }
    world = World(Table(table))
    world.policy = {"calendars": {"default": BERLIN}}
    world.now = datetime(2026, 12, 23, 14, 0, tzinfo=UTC)  # Wednesday, 15:00 in Berlin
    world.label()
    world.generate(draft("x"))
    # 2 h left today, Thursday is open, Friday and Saturday are Christmas, then Sunday
    assert settle_time(world) == datetime(2026, 12, 24, 14, 0, tzinfo=UTC)
    strike(world)
    assert world.now == datetime(2026, 12, 24, 10, 0, tzinfo=UTC)
    assert world.questions[1].clock.reminded
    strike(world)
    assert world.now == datetime(2026, 12, 24, 14, 0, tzinfo=UTC)
    assert world.questions[1].asked == "tech-lead"
    # 2 h on Thursday, 8 h on Monday, 6 h on Tuesday
    assert settle_time(world) == datetime(2026, 12, 29, 14, 0, tzinfo=UTC)
    strike(world)
    assert world.questions[1].clock.reminded
    world.now = datetime(2027, 1, 4, 9, 30, tzinfo=UTC)  # we were away over New Year
    world.send(ClockStruck(1, 1, world.questions[1].clock.next_at))
    assert world.questions[1].asked == "boss"
    assert settle_time(world) == datetime(2027, 1, 5, 9, 30, tzinfo=UTC)
    # 80 days on it is Thursday, 10:30; then come Easter and, on 28 March, summer time
    world.say("/snooze Q1 80d")
    assert settle_time(world) == datetime(2027, 3, 30, 8, 30, tzinfo=UTC)
    assert world.kinds().count("timeout") == 2


def test_human_load_defers_the_least_valuable() -> None:
    table = {topic: routed(topic, "human/mara", None) for topic in ("a", "b", "c")}
    world = World(Table(table))
    world.policy = {"load": HumanLoad(open=2)}
    world.facts = {"load": {"mara": Load(1, 1)}}
    world.label()
    world.generate(draft("a", impact=1), draft("b", impact=5), draft("c", impact=3))
    states = [question.state for question in world.questions.values()]
    assert states.count(QuestionState.ESCALATED) == 1
    assert states.count(QuestionState.DEFERRED) == 2
    assert "has enough to answer" in world.shown["f1:status"].body
    world.facts = {"load": {"mara": Load(1, 2)}}
    number = next(n for n, q in world.questions.items() if q.state is QuestionState.ESCALATED)
    world.say(f"/correct Q{number} A")
    assert number == 2
    open_now = [n for n, q in world.questions.items() if q.state is QuestionState.ESCALATED]
    assert open_now == [3]
    world.facts = {"load": {}}
    waiting = next(n for n, q in world.questions.items() if q.state is QuestionState.DEFERRED)
    strike(world, waiting)
    assert world.questions[waiting].state is QuestionState.ESCALATED


def test_settled_questions_leave_the_list_after_a_while() -> None:
    world = escalated()
    world.say("/correct Q1 A")
    world.say("/questions all")
    assert "Q1" in world.replies()[0]
    world.now += timedelta(days=31)
    world.say("/questions all")
    assert "No questions" in world.replies()[0]
    world.say("/why Q1")
    assert "Why Q1?" in world.replies()[0]


def test_late_answer_of_an_agent_is_shown_to_whoever_was_asked_meanwhile() -> None:
    world = chained()
    strike(world)
    late = world.questions[1].ask_round
    world.answer(1, answer(97), ask_round=late, role="architect")
    question = world.questions[1]
    assert question.state is QuestionState.ESCALATED
    assert question.tentative is not None
    assert "/confirm Q1@" in world.shown["f1:Q1"].body
    world.say("/confirm Q1")
    assert world.questions[1].state is QuestionState.CONFIRMED
