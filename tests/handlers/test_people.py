"""What people say beside confirming and correcting: ask, answer, talk, route, ask why."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.actions import AskAgent, CommitFiles, DropAgentWork, SuggestAgents
from app.events import AgentsSuggested, ClockStruck, Commented, EffectFailed, Person
from app.features.model import Feature, FeatureState
from app.handlers.facts import Line, Permission
from app.questions.model import Candidate, QuestionState
from tests.handlers.world import (
    PLACE,
    Table,
    World,
    answer,
    draft,
    escalated,
    routed,
    started,
)

OTHER = "A: One table. Everything in one place."


def plain_issue() -> World:
    """An issue on which nothing was started."""
    return World(feature=Feature(1, PLACE))


# --- /ask and /answer


def test_ask_on_any_issue_is_routed_and_answered_where_it_was_asked() -> None:
    world = plain_issue()
    world.say('/ask architecture.auth "Where do refresh tokens go?"', by="rosa")
    assert world.reactions() == ["eyes", "+1"]
    question = world.questions[1]
    assert question.state is QuestionState.ASKING
    assert question.asker == "rosa"
    assert "f1:status" not in world.shown  # no feature, no status comment
    world.answer(1, answer(92))
    assert world.questions[1].state is QuestionState.ACCEPTED
    body = world.shown["f1:Q1"].body
    assert "answers rosa" in body
    assert "Sources" in body
    assert not world.of(CommitFiles)


def test_whoever_asks_is_never_asked_back() -> None:
    table = Table({"x": routed("x", "human/requester", None)})
    world = started(draft("a"), table=table)
    world.say('/ask x "Why?"', by="mara")
    assert world.questions[2].asked == "a maintainer"
    assert "**A maintainer** is asked" in world.shown["f1:Q2"].body
    world.policy = {"people": {"maintainer": "team/core"}}
    world.say('/ask x "And why that?"', by="mara")
    assert world.questions[3].asked == "acme/core"


def test_ask_is_for_the_author_and_for_triage() -> None:
    table = Table({"architecture.data": routed("architecture.data", "human/sol", None)})
    world = started(table=table)
    world.say('/ask x "Why?"', by="sol", permission=Permission.READ)  # asked, yet not the author
    assert "the issue's author" in world.replies()[0]
    assert len(world.questions) == 1


def test_ask_in_a_finished_feature_writes_the_specification_again() -> None:
    world = started()
    world.answer(1, answer(92))
    world.committed()
    assert world.feature.state is FeatureState.PLANNED
    world.say('/ask ux.words "What is it called?"')
    assert world.feature.state is FeatureState.ASKING
    world.answer(2, answer(92))
    assert world.of(CommitFiles)[0].revision == 2


def test_nobody_may_have_hundreds_of_questions_open() -> None:
    world = started()
    for _ in range(30):
        world.say('/ask x "Why?"')
    assert len(world.questions) == 21
    assert "you have 20 questions open" in world.replies()[0]
    for _ in range(5):
        world.say('/ask x "Why?"', by="rosa", permission=Permission.READ)
    assert len(world.questions) == 24
    assert "you have 3 questions open" in world.replies()[0]


def test_answer_settles_an_open_question_by_its_global_name() -> None:
    world = escalated()
    world.say(f"/answer {world.questions[1].gid} It is optional.")
    assert world.questions[1].answer == "It is optional."
    assert world.questions[1].source == "@mara"


def test_an_answer_while_the_agent_works_is_queued_and_both_are_in_the_log() -> None:
    world = started()
    world.say("/answer Q1 A")
    assert "as soon as" in world.replies()[0]
    assert world.questions[1].state is QuestionState.ASKING
    world.answer(1, answer(99))
    question = world.questions[1]
    assert question.state is QuestionState.CORRECTED
    assert question.answer == "A: One table"
    assert world.entry("answer").data["confidence"] == 99


def test_a_queued_answer_survives_a_failing_agent() -> None:
    world = started()
    world.say("/answer Q1 A")
    world.answer(1, None, error="boom")
    assert world.questions[1].state is QuestionState.CORRECTED


# --- /route, two opinions


def test_route_overrides_and_counts_as_a_correction() -> None:
    world = escalated()
    world.say("/route Q1 @veuve")
    entry = world.entry("human")
    assert (entry.data["action"], entry.data["counts_as"]) == ("route", "correction")
    assert world.of(AskAgent)[0].inquiry.role == "product"
    assert world.questions[1].routed.rule == "/route by mara"
    assert "by the rule `/route by mara`" in world.shown["f1:status"].body


def test_route_to_nobody() -> None:
    world = escalated()
    world.say("/route Q1 @nobody")
    assert "nobody is nobody here" in world.replies()[0]
    assert "duc" in world.replies()[0]


def test_route_to_a_tool() -> None:
    world = escalated()
    world.policy = {"tools": frozenset({"docs"})}
    world.say("/route Q1 tool/docs")
    assert world.of(AskAgent)[0].inquiry.role == "tool/docs"


def test_two_agents_who_answer_differently_are_both_shown_and_a_person_decides() -> None:
    world = started()
    world.answer(1, answer(92))
    assert world.questions[1].state is QuestionState.ACCEPTED
    world.say("/route Q1 @veuve")
    world.answer(1, answer(95, content=OTHER))
    question = world.questions[1]
    assert question.state is QuestionState.ESCALATED
    assert "answer differently" in question.note
    body = world.shown["f1:Q1"].body
    assert "Two tables" in body
    assert "One table" in body
    world.say("/confirm")
    assert "the answers differ" in world.replies()[0]
    world.say("/confirm Q1")
    assert world.questions[1].answer == OTHER


def test_two_agents_who_say_the_same_settle_it() -> None:
    world = started()
    world.answer(1, answer(92))
    world.say("/route Q1 @veuve")
    world.answer(1, answer(95, content="B: Two tables, says the handbook."))
    assert world.questions[1].state is QuestionState.ACCEPTED


def test_a_late_answer_after_the_fallbacks() -> None:
    chain = (("agent/product", "1h"),)
    duc = routed("architecture.data", "agent/architect", "@duc", sla="1h", escalate_to=chain)
    table = {"architecture.data": duc}
    world = started(table=Table(table))
    at = world.questions[1].clock.deadline
    world.send(ClockStruck(1, 1, at))
    assert world.questions[1].ask_role == "product"
    world.answer(1, answer(92))
    assert world.questions[1].state is QuestionState.ACCEPTED
    world.answer(1, answer(95, content=OTHER), ask_round=1, role="architect")
    question = world.questions[1]
    assert question.state is QuestionState.ESCALATED
    assert "@veuve and @duc answer differently" in question.note
    assert "Two tables" in world.shown["f1:Q1"].body
    assert "One table" in world.shown["f1:Q1"].body
    assert world.answer(1, answer(95, content=OTHER), ask_round=1, role="architect") == []


def test_an_agent_that_failed_is_followed_by_its_fallback_once() -> None:
    table = {"architecture.data": routed("architecture.data", "agent/architect", "@duc",
                                         fallback="product")}  # fmt: skip
    world = started(table=Table(table))
    world.answer(1, None, error="no answer within 120 seconds")
    assert world.questions[1].ask_role == "product"
    world.answer(1, None, error="boom")
    assert world.questions[1].state is QuestionState.ESCALATED
    assert "Agent unavailable" in world.questions[1].note
    assert [entry.data["error"] for entry in world.log if entry.kind == "agent.failed"] == [
        "no answer within 120 seconds",
        "boom",
    ]


# --- /chat


def test_a_conversation_about_one_question_only() -> None:
    world = escalated()
    world.say("/chat Q1")
    assert "Let us talk about Q1" in world.replies()[0]
    world.say("We have two shards. Does that change it?")
    asked = world.of(AskAgent)[0]
    assert asked.chat == 1
    assert asked.inquiry.said == (("mara", "We have two shards. Does that change it?"),)
    assert asked.inquiry.added_context[-1].startswith("We have two shards")
    world.answer(1, answer(90, content="A: One table, then."), chat=1)
    reply = world.shown["f1:Q1:chat:1:reply"].body
    assert "One table, then" in reply
    assert "`/confirm Q1` takes this" in reply
    assert [entry.actor for entry in world.log if entry.kind == "chat"] == ["@mara", "@baron"]
    world.say("/confirm Q1")
    assert world.questions[1].answer == "A: One table, then."
    assert world.questions[1].chat_with == ""
    assert world.say("Thank you!") == []


def test_a_guess_in_a_conversation_does_not_take_the_recommendations_place() -> None:
    table = Table({"x": routed("x", "human/mara", None)})
    world = started(draft("x"), table=table)
    world.say("/chat Q1 What do others do?")
    world.answer(1, answer(43, content="A: One table."), chat=1, role="architect")
    assert world.questions[1].tentative is None
    assert "says it in your words" in world.shown["f1:Q1:chat:1:reply"].body
    world.say("/confirm Q1")
    assert world.questions[1].answer == "B: Two tables"


def test_a_conversation_ends_with_stop_and_the_question_stays_open() -> None:
    world = escalated()
    world.say("/chat Q1 What if we shard?")
    assert world.of(AskAgent)[0].chat == 1
    world.say("/stop")
    assert "has ended" in world.replies()[0]
    assert world.questions[1].state is QuestionState.ESCALATED
    assert world.feature.state is FeatureState.WAITING
    world.answer(1, answer(99), chat=1)
    assert "f1:Q1:chat:1:reply" not in world.shown


def test_only_one_person_talks_about_a_question() -> None:
    world = escalated()
    world.say("/chat Q1")
    world.say("/chat Q1", by="sol")
    assert "mara is talking" in world.replies()[0]
    assert world.say("Me too", by="sol") == []


# --- plain replies


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("B", "/correct Q1 B"),
        ("B.", "/correct Q1 B"),
        ("Option A, please", "/correct Q1 A"),
        ("I'd go with B because it is clean", "/correct Q1 B"),
        ("Q1: two tables it is", "/correct Q1 two tables it is"),
        ("> ### Q1 · What about architecture.data?\n\nOne table.", "/correct Q1 One table."),
    ],
)
def test_a_plain_answer_is_offered_and_never_taken(text: str, command: str) -> None:
    world = escalated()
    world.say(text)
    assert command in world.replies()[0]
    assert world.questions[1].state is QuestionState.ESCALATED
    assert world.reactions() == []


@pytest.mark.parametrize(
    "text", ["Thanks!", "I wonder about that.", "Z", "Q1?", "Q9: yes", "> Q1 ·\n\nWhat is this?"]
)
def test_talk_is_no_answer(text: str) -> None:
    world = escalated()
    assert world.say(text) == []


def test_a_strangers_answer_is_not_offered() -> None:
    world = escalated()
    assert world.say("B", by="sol", permission=Permission.READ) == []


# --- reopening


def test_correcting_a_settled_answer_reopens_what_rested_on_it() -> None:
    world = started(draft("a"), draft("b", depends_on=(1,)), draft("c"))
    world.answer(1, answer(92))
    world.answer(3, answer(92))
    assert world.questions[2].state is QuestionState.ASKING
    world.answer(2, answer(92))
    assert world.feature.state is FeatureState.WRITING
    world.say("/correct Q1 A")
    assert world.entry("reopened").question == "Q2"
    assert world.questions[2].state is QuestionState.ASKING
    assert world.questions[3].state is QuestionState.ACCEPTED
    asked = world.of(AskAgent)[0].inquiry
    assert asked.earlier == (("What about a?", "A: One table"),)
    assert "Earlier: B: Two tables" in asked.added_context[0]
    assert world.feature.state is FeatureState.ASKING


def test_the_same_answer_again_reopens_nothing() -> None:
    world = started(draft("a"), draft("b", depends_on=(1,)))
    world.answer(1, answer(92))
    world.answer(2, answer(92))
    world.say("/context Q1 We checked it.")
    assert world.questions[1].state is QuestionState.ASKING
    world.answer(1, answer(92))
    assert world.questions[2].state is QuestionState.ACCEPTED


def test_questions_that_wait_for_each_other_go_to_a_person_who_sees_the_circle() -> None:
    world = started(draft("a", depends_on=(2,)), draft("b", depends_on=(1,)), draft("c"))
    assert world.questions[1].state is QuestionState.ESCALATED
    assert "Q1 → Q2 → Q1" in world.questions[1].note
    assert "Q1 → Q2 → Q1" in world.shown["f1:Q2"].body
    assert world.questions[3].state is QuestionState.ASKING
    assert world.entry("circle").data["circle"] == "Q1 → Q2 → Q1"


# --- gaps


GAP = """B: Two tables.
<gap>
  <topic>requirements.scope</topic>
  <question>Are refunds kept?</question>
  <context>They are rows too.</context>
  <urgency>{urgency}</urgency>
</gap>"""


def test_a_blocking_gap_becomes_a_question_and_the_work_resumes_with_its_answer() -> None:
    table = {"requirements.scope": routed("requirements.scope", "human/requester", None)}
    world = started(table=Table(table))
    world.answer(1, answer(95, content=GAP.format(urgency="blocking")))
    gap = world.questions[2]
    assert (gap.text, gap.urgency, gap.asker) == ("Are refunds kept?", "blocking", "@duc")
    assert gap.state is QuestionState.ESCALATED
    assert world.questions[1].state is QuestionState.PENDING
    assert world.feature.state is FeatureState.WAITING
    world.say("/correct Q2 Yes, for ever.")
    asked = world.of(AskAgent)[0].inquiry
    assert asked.earlier == (("Are refunds kept?", "Yes, for ever."),)
    world.answer(1, answer(95))
    assert world.questions[1].state is QuestionState.ACCEPTED


def test_another_gap_blocks_nothing_and_is_cut_from_the_text() -> None:
    world = started()
    world.answer(1, answer(95, content=GAP.format(urgency="low")))
    assert world.questions[1].state is QuestionState.ACCEPTED
    assert world.questions[1].answer == "B: Two tables."
    assert world.questions[2].state is QuestionState.ASKING


def test_a_broken_gap_loses_no_text_and_is_told() -> None:
    text = "B: Two tables.\n<gap><topic>a</topic>"
    world = started()
    world.answer(1, answer(65, content=text))
    assert "<gap>" in world.questions[1].tentative.content
    assert any("not closed" in r for r in world.questions[1].tentative.uncertainty_reasons)
    assert world.entry("gap.broken").data["errors"]


def test_gaps_of_gaps_have_an_end() -> None:
    world = started()
    for _ in range(10):
        asking = [n for n, q in world.questions.items() if q.state is QuestionState.ASKING]
        for number in asking:
            content = GAP.format(urgency="low").replace("refunds", f"refunds of {number}")
            world.answer(number, answer(95, content=content))
    assert len(world.questions) == 4


# --- unclear topics


def test_who_might_know_is_shown_where_the_topic_names_nobody() -> None:
    nobody = routed("zebra", "human/requester", None, rule="default", note="unknown topic")
    world = started(draft("zebra"), table=Table({"zebra": nobody}))
    assert world.of(SuggestAgents)[0].topic == "zebra"
    assert "Unknown topic" in world.questions[1].note
    found = (
        Candidate("architect", "@duc", "its description has storage"),
        Candidate("product", "@veuve", "its description is 30% alike"),
    )
    world.send(AgentsSuggested(1, 1, found))
    body = world.shown["f1:Q1"].body
    assert "`/route Q1 @duc`" in body
    assert "its description has storage" in body


# --- /why, /stop, /retry, /config


def test_why_shows_the_whole_chain() -> None:
    world = escalated()
    world.facts = {
        "lines": tuple(
            Line(e.seq, "2026-11-21T09:00:00Z", e.kind, e.question, e.actor, e.data)
            for e in world.log
        )
    }
    world.say("/why Q1")
    text = world.replies()[0]
    for part in ("architecture.data", "80 %", "65 % sure", "architect/data.md#tables", "mara is"):
        assert part in text


def test_stop_gives_up_a_question() -> None:
    world = started(draft("a"), draft("b"))
    world.answer(1, answer(65))
    world.answer(2, answer(92))
    world.say("/stop Q1")
    assert world.questions[1].state is QuestionState.CANCELLED
    assert world.feature.state is FeatureState.WRITING


def test_stop_stops_the_feature_and_resume_goes_on() -> None:
    world = started()
    world.say("/stop")
    assert world.feature.state is FeatureState.STOPPED
    assert world.of(DropAgentWork)
    first = world.questions[1].ask_round
    world.say("/resume")
    assert world.feature.state is FeatureState.ASKING
    assert world.of(AskAgent)[0].ask_round == first + 1
    assert world.answer(1, answer(99), ask_round=first) == []


def test_retry_asks_an_agent_again_that_was_away() -> None:
    world = started()
    world.answer(1, None, error="boom")
    assert "Agent unavailable" in world.questions[1].note
    world.say("/retry Q1")
    assert world.of(AskAgent)[0].ask_round == 2
    world.answer(1, answer(92))
    assert world.questions[1].state is QuestionState.ACCEPTED


def test_config_shows_what_is_in_force() -> None:
    world = escalated()
    world.policy = {"explained": "| answerers.default_sla | 24h | answerers.yaml:1 |"}
    world.say("/config")
    assert "answerers.yaml:1" in world.replies()[0]


# --- late, hostile, too much


def test_a_confirmation_that_comes_late_confirms_nothing_its_writer_never_saw() -> None:
    world = escalated()
    world.say("/confirm Q1", at="2026-11-21T08:59:00Z")
    assert "has changed since you read it" in world.replies()[0]
    world.say("/confirm Q1", at="2026-11-21T09:00:01Z")
    assert world.questions[1].state is QuestionState.CONFIRMED


def test_thousands_of_commands_are_not_carried_out() -> None:
    world = escalated()
    world.say("/confirm Q9\n" * 5000)
    assert world.kinds().count("refused") == 10
    assert "may hold 10 commands" in world.replies()[0]


def test_whoever_has_had_enough_attention_gets_silence() -> None:
    world = escalated()
    world.facts = {"quiet": True}
    assert world.say("/confirm", by="ravi", permission=Permission.NONE) == []
    assert world.say("/confirm", by="rosa", permission=Permission.READ) == []


def test_an_edited_comment_has_one_reply() -> None:
    world = escalated()
    first = world.say("/confirm Q9")
    event = Commented(
        "d-x", Person("mara"), world.issue(), world.counter, "/confirm Q8", "/confirm Q9"
    )
    second = world.send(event)
    keys = [{a.key for a in actions if getattr(a, "key", "").startswith("reply")} for actions in
            (first, second)]  # fmt: skip
    assert keys[0] == keys[1] != set()


def test_text_that_will_be_drawn_again_is_not_failed_again() -> None:
    world = escalated()
    actions = world.send(EffectFailed(1, "comment", "404 gone"))
    assert not [action for action in actions if hasattr(action, "body")]
    assert world.entry("failed").data["what"] == "comment"


def test_a_late_answer_cannot_be_confirmed_unseen() -> None:
    table = {"x": routed("x", "agent/architect", "@duc", sla="1h")}
    world = started(draft("x", choices=(), recommended=None), table=Table(table))
    world.send(ClockStruck(1, 1, world.questions[1].clock.deadline))
    asked_at = world.now
    world.now += timedelta(minutes=10)
    world.answer(1, answer(95), ask_round=1, role="architect")
    world.say("/confirm Q1", at=asked_at.isoformat())
    assert "has changed since you read it" in world.replies()[0]
    world.say("/confirm Q1", at=world.now.isoformat())
    assert world.questions[1].state is QuestionState.CONFIRMED


def test_a_huge_answer_is_handed_on_within_bounds() -> None:
    world = started(draft("a"), draft("b", depends_on=(1,)))
    world.answer(1, answer(95, content="x" * 1_000_000))
    earlier = world.of(AskAgent)[0].inquiry.earlier
    assert len(earlier[0][1]) < 10_000
    assert len(world.entry("answer").data["content"]) == 1_000_000


def test_an_agent_is_asked_with_the_model_of_its_role_and_the_log_says_so() -> None:
    """specs/1, US6.3."""
    world = World()
    world.policy = {"model_for": {"architect": "opus"}.get}
    world.label()
    world.generate(draft())
    assert world.of(AskAgent)[0].inquiry.model == "opus"
    assert world.entry("asked").data["model"] == "opus"


def test_outcomes_only() -> None:
    world = World(comments="outcomes")
    world.label()
    world.generate(draft("a"), draft("b"))
    world.answer(1, answer(65))
    assert "f1:Q1" in world.shown  # a person must act
    world.shown.clear()
    world.say("/context Q1 We have two shards.")
    assert "f1:Q1" not in world.shown  # nobody can do anything about it now
    world.answer(1, answer(95))
    assert "f1:Q1" in world.shown
