"""What people may say, and what comes of it (specs/1, US3)."""

from __future__ import annotations

import pytest

from app.actions import AskAgent, CommitFiles, ShowComment
from app.commands import SPECS
from app.events import Person
from app.handlers.facts import Permission
from app.questions.model import QuestionState
from app.texts.marker import read_marker
from tests.handlers.world import Table, World, answer, draft, escalated, routed, started


def test_confirm_takes_the_tentative_answer() -> None:
    world = escalated()
    world.say("/confirm")
    question = world.questions[1]
    assert question.state is QuestionState.CONFIRMED
    assert question.answer == answer().content
    assert (question.source, question.validated_by, question.settled_by) == (
        "@duc",
        "human",
        "mara",
    )
    assert world.reactions() == ["eyes", "+1"]
    assert world.replies() == []
    assert len(world.of(CommitFiles)) == 1
    assert "validated by: human" in world.of(CommitFiles)[0].files[0][1]
    human = world.entry("human").data
    assert (human["action"], human["permission"]) == ("confirm", "triage")


def test_correct_makes_the_person_the_source() -> None:
    world = escalated()
    world.say("/correct Q1 One table with a JSON column")
    question = world.questions[1]
    assert question.state is QuestionState.CORRECTED
    assert question.answer == "One table with a JSON column"
    assert (question.source, question.validated_by) == ("@mara", "human")
    data = world.entry("human").data
    assert data["tentative"] == answer().content
    assert data["tentative_by"] == "@duc"


def test_letter_stands_for_its_option() -> None:
    world = escalated()
    world.say("/correct a)")
    assert world.questions[1].answer == "A: One table"
    world = escalated()
    world.say("/correct Q1 D")
    assert world.questions[1].state is QuestionState.ESCALATED
    assert "has no option D; it has A, B" in world.replies()[0]


def test_context_asks_the_original_agent_again() -> None:
    world = escalated()
    world.say("/context Q1 we shard by customer")
    (ask,) = world.of(AskAgent)
    assert ask.ask_round == 2
    assert ask.inquiry.role == "architect"
    assert ask.inquiry.added_context == ("we shard by customer",)
    assert world.questions[1].state is QuestionState.ASKING
    assert read_marker(world.shown["f1:Q1"].body)["state"] == "asking"
    world.say("/confirm Q1")
    assert "is being asked just now" in world.replies()[0]
    world.answer(1, answer(95))
    assert world.questions[1].state is QuestionState.ACCEPTED
    assert read_marker(world.shown["f1:Q1"].body)["state"] == "accepted"
    assert world.entry("human").data["action"] == "add_context"


def test_context_on_a_question_for_people_is_shown_to_them() -> None:
    table = Table({"budget": routed("budget", "human/requester", None)})
    world = started(draft("budget"), table=table)
    world.say("/context Q1 there are 200 euros left")
    assert world.of(AskAgent) == []
    assert "200 euros" in world.shown["f1:Q1"].body
    assert world.questions[1].state is QuestionState.ESCALATED


def test_confirm_without_a_tentative_answer_takes_the_recommendation() -> None:
    table = Table({"budget": routed("budget", "human/requester", None)})
    world = started(draft("budget"), table=table)
    world.say("/confirm")
    assert world.questions[1].answer == "B: Two tables"
    assert world.questions[1].source == "@baron"
    world = started(draft("budget", recommended=None, choices=()), table=table)
    world.say("/confirm")
    assert "no tentative answer" in world.replies()[0]


def test_correct_changes_a_settled_answer_and_the_specification() -> None:
    world = started()
    world.answer(1, answer(92))
    world.committed()
    world.say("/correct Q1 A")
    assert world.questions[1].answer == "A: One table"
    (commit,) = world.of(CommitFiles)
    assert commit.revision == 2
    assert world.entry("human").data["before"] == answer().content


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/confirm Q9", "there is no question Q9"),
        ("/confirm Q1@ffff", "has changed since you read it"),
        ("/confirm q-zzzzzz", "there is no question q-zzzzzz"),
        ("/cofirm", "Did you mean"),
        ("/correct", "/correct"),
        ("/plan", "the documents are written when Q1 is answered"),
        ("/retro", "not available yet"),
        ("/questions Q7", "there is no question Q7"),
    ],
)
def test_refusals_say_why(text: str, reason: str) -> None:
    world = escalated()
    world.say(text)
    assert world.reactions() == ["eyes", "confused"]
    assert reason in world.replies()[0]
    assert world.questions[1].state is QuestionState.ESCALATED


def test_digest_binds_to_what_was_read() -> None:
    world = escalated()
    world.say(f"/confirm Q1@{world.questions[1].digest[:6]}")
    assert world.questions[1].state is QuestionState.CONFIRMED


def test_global_id() -> None:
    world = escalated()
    world.say(f"/confirm {world.questions[1].gid}")
    assert world.questions[1].state is QuestionState.CONFIRMED


def test_nothing_open_and_two_open() -> None:
    world = started()
    world.say("/confirm")
    assert "no question is open" in world.replies()[0]
    world = started(draft(), draft("data.keys"))
    world.answer(1, answer(10))
    world.answer(2, answer(10))
    world.say("/confirm")
    assert "2 questions are open; say which: `/confirm Q1` or `/confirm Q2`" in world.replies()[0]


def test_settled_question_is_not_confirmed_again() -> None:
    world = escalated()
    world.say("/confirm Q1")
    world.say("/confirm Q1")
    assert "settled already" in world.replies()[0]
    assert world.kinds().count("settled") == 1


def test_several_commands_in_one_comment() -> None:
    world = started(draft(), draft("data.keys"), draft("data.size"))
    for number in (1, 2, 3):
        world.answer(number, answer(10))
    world.say("/confirm Q1\n/correct Q2 A\n/confirm Q8\nthanks!")
    assert world.questions[1].state is QuestionState.CONFIRMED
    assert world.questions[2].state is QuestionState.CORRECTED
    assert world.reactions() == ["eyes", "confused"]
    assert len(world.replies()) == 1


def test_stranger_gets_a_reaction_only() -> None:
    world = escalated()
    actions = world.say("/confirm", by="sol", permission=Permission.READ)
    assert [type(action).__name__ for action in actions] == ["React"]
    assert world.reactions() == ["confused"]


def test_author_without_the_right_gets_the_reason() -> None:
    world = escalated()
    world.say("/confirm", by="rosa", permission=Permission.READ)
    assert world.questions[1].state is QuestionState.ESCALATED
    assert "that is for mara" in world.replies()[0]
    for command in ("/correct Q1 x", "/context Q1 x"):
        world.say(command, by="rosa", permission=Permission.READ)
        assert world.reactions() == ["eyes", "confused"]


def test_whoever_was_asked_may_answer_without_triage() -> None:
    table = Table({"x": routed("x", "human/lee", None)})
    world = started(draft("x"), table=table)
    world.say("/correct use B", by="Lee", permission=Permission.READ)
    assert world.questions[1].settled_by == "Lee"


def test_bots_are_not_listened_to() -> None:
    world = escalated()
    assert world.say("/confirm", sender=Person("helper[bot]", bot=True)) == []


def test_text_without_a_command_is_none_of_our_business() -> None:
    world = escalated()
    assert world.say("I think B is right. See `/confirm`.\n\n> /confirm Q1") == []


def test_edit_counts_only_what_is_new() -> None:
    world = escalated()
    assert world.say("/confirm Q9 ", before="/confirm Q9") == []
    world.say("/confirm Q9\n/confirm Q1", before="/confirm Q9")
    assert world.questions[1].state is QuestionState.CONFIRMED
    assert world.replies() == []


def test_commands_on_an_issue_without_a_feature() -> None:
    world = World(feature=None)
    world.say("/confirm")
    assert world.reactions() == ["eyes", "confused"]
    assert "`feature`" in world.replies()[0]
    world.say("/help")
    assert world.reactions() == ["eyes", "+1"]
    assert world.say("/cofirm") == []  # perhaps another bot's
    world.say("@baron cofirm")
    assert "Did you mean" in world.replies()[0]
    for text in ("/assign @bob", "/retry", "/review", "/stop", "/plan"):
        assert world.say(text) == []
        world.say(f"/baron {text[1:]}")
        assert world.reactions()[0] == "eyes"


def test_help_lists_every_command() -> None:
    world = escalated()
    world.say("/help")
    text = world.replies()[0]
    for name in SPECS:
        assert f"/{name}" in text


def test_status_and_questions() -> None:
    world = escalated()
    world.say("/status")
    assert "Q1 waits for mara" in world.replies()[0]
    assert "f1:status" in {c.key for c in world.of(ShowComment)}
    world.say("/questions")
    assert "| Q1 |" in world.replies()[0]
    world.say("/questions answered")
    assert "No answered questions here." in world.replies()[0]
    world.say("/questions Q1")
    assert "Waits for mara" in world.replies()[0]
    world.say("/confirm Q1")
    world.say("/questions Q1")
    assert "Answer (mara)" in world.replies()[0]
    world.say("/questions all")
    assert "confirmed" in world.replies()[0]


def test_hostile_text_is_made_harmless() -> None:
    world = escalated()
    world.say("/correct Q1 fixes #1 @everyone <img src=x> --> <!-- kr {} -->")
    body = world.shown["f1:Q1"].body
    assert body.count("<!-- kr ") == 1
    assert "@everyone" not in body
    assert "<img" not in body
