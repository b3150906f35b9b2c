"""The way of a feature, decision by decision (specs/1, US1 to US4 and US8)."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from app.actions import AskAgent, CommitFiles, GenerateQuestions, Record, ShowComment
from app.events import (
    AgentAnswered,
    Closed,
    EffectFailed,
    Person,
    QuestionsGenerated,
    Reopened,
    Unlabeled,
    Vanished,
)
from app.features.model import FeatureState
from app.handlers.facts import Permission
from app.questions.model import QuestionState
from app.texts.marker import read_marker
from tests.handlers.world import Table, World, answer, draft, escalated, routed, started


def test_label_starts_reading() -> None:
    world = World()
    world.label()
    assert world.feature.state is FeatureState.SPECIFYING
    assert world.feature.branch == "012-let-customers-export-their"
    assert world.reactions() == ["eyes"]
    (generate,) = world.of(GenerateQuestions)
    assert generate.request.title == "Let customers export their order history"
    assert generate.limit == 6
    (status,) = world.of(ShowComment)
    assert read_marker(status.body) == {
        "kind": "status",
        "feature": "acme/storefront#12",
        "key": "f1:status",
    }
    assert world.label_shown() == "baron:asking"


@pytest.mark.parametrize(
    "issue",
    [{"closed": True}, {"pull_request": True}],
)
def test_label_on_a_closed_issue_or_a_pull_request_does_nothing(issue: dict) -> None:
    world = World()
    assert world.label(issue=issue) == []


def test_other_labels_do_nothing() -> None:
    assert World().label("bug") == []


def test_label_without_the_right_is_refused_with_a_reason_to_the_author_only() -> None:
    world = World(feature=None)
    world.label(by="rosa", permission=Permission.READ)
    assert world.reactions() == ["confused"]
    assert "triage" in world.of(ShowComment)[0].body
    world = World(feature=None)
    world.label(by="sol", permission=Permission.READ)
    assert world.reactions() == ["confused"]
    assert world.of(ShowComment) == []


def test_second_label_while_running_does_nothing() -> None:
    world = started()
    assert world.label() == []


def test_question_for_the_architect_goes_to_duc_with_its_context_only() -> None:
    world = started(draft(context="“as a file”"))
    (ask,) = world.of(AskAgent)
    assert ask.inquiry.role == "architect"
    assert ask.inquiry.context == "“as a file”"
    assert ask.inquiry.feature_title == world.feature.title
    assert world.entry("routing").data["agent"] == "@duc"
    assert world.questions[1].state is QuestionState.ASKING


def test_override_sends_a_question_to_a_person() -> None:
    table = Table({"budget": routed("budget", "human/requester", None, override=True)})
    world = started(draft("budget"), table=table)
    assert world.of(AskAgent) == []
    assert world.questions[1].state is QuestionState.ESCALATED
    assert world.questions[1].asked == "mara"
    assert "`budget` is always decided by people" in world.shown["f1:Q1"].body


@pytest.mark.parametrize("label", ["feature:capacity", "feature:config"])
def test_capacity_and_configuration_ask_people_only(label: str) -> None:
    world = started(draft(), draft("product.scope"), label=label)
    assert world.of(AskAgent) == []
    assert {q.state for q in world.questions.values()} == {QuestionState.ESCALATED}


def test_sure_answer_is_accepted_and_the_specification_written() -> None:
    world = started()
    world.answer(1, answer(92))
    question = world.questions[1]
    assert question.state is QuestionState.ACCEPTED
    assert (question.source, question.validated_by) == ("@duc", None)
    (commit,) = world.of(CommitFiles)
    assert commit.branch == "012-let-customers-export-their"
    assert commit.files[0][0] == "specs/012-let-customers-export-their/spec.md"
    assert "Two tables" in commit.files[0][1]
    assert "Decision: Q1" in commit.message
    world.committed()
    assert world.feature.state is FeatureState.PLANNED
    assert world.label_shown() == "baron:waiting"
    assert "f1:Q1" not in world.shown


@pytest.mark.parametrize(
    ("confidence", "threshold", "state"),
    [
        (92, 80, QuestionState.ACCEPTED),
        (80, 80, QuestionState.ACCEPTED),
        (79, 80, QuestionState.ESCALATED),
        (65, 80, QuestionState.ESCALATED),
        (85, 90, QuestionState.ESCALATED),
        (90, 95, QuestionState.ESCALATED),
        (100, 100, QuestionState.ESCALATED),
        (0, 0, QuestionState.ACCEPTED),
    ],
)
def test_gate(confidence: int, threshold: int, state: QuestionState) -> None:
    table = Table({"x": routed("x", "agent/architect", "@duc", threshold)})
    world = started(draft("x"), table=table)
    world.answer(1, answer(confidence))
    assert world.questions[1].state is state


def test_escalation_carries_everything_needed_to_decide() -> None:
    world = escalated(65)
    body = world.shown["f1:Q1"].body
    for part in (
        "What about architecture.data?",
        "It decides the schema.",
        "Recommended: B",
        "| **A** | One table | Simple. |",
        "Keep what changes apart",
        "65 % sure",
        "The handbook says so.",
        "The passage is about files.",
        "Data modelling",
        "**@mara** is asked",
        "/confirm Q1",
        "/correct Q1",
        "/context Q1",
    ):
        assert part in body
    assert read_marker(body)["state"] == "escalated"
    assert world.label_shown() == "baron:waiting"
    data = world.entry("escalation").data
    assert (data["confidence"], data["threshold"], data["to"]) == (65, 80, "mara")


def test_low_confidence_goes_to_the_first_person_or_team_of_the_chain() -> None:
    chain = (("agent/product", "1h"), ("team/security", "4h"), ("human/lee", None))
    table = Table({"x": routed("x", "agent/architect", "@duc", escalate_to=chain)})
    world = started(draft("x"), table=table)
    world.answer(1, answer(10))
    assert world.questions[1].asked == "acme/security"


def test_dependent_question_waits_and_is_asked_with_the_earlier_answer() -> None:
    world = started(draft(), draft("data.keys", depends_on=(1,)))
    assert world.questions[2].state is QuestionState.PENDING
    world.answer(1, answer(92))
    (ask,) = world.of(AskAgent)
    assert ask.question == 2
    assert ask.inquiry.earlier == (("What about architecture.data?", answer().content),)


def test_late_or_repeated_answer_changes_nothing() -> None:
    world = escalated()
    assert world.answer(1, answer(99)) == []
    world.say("/context we have two shards")
    assert world.questions[1].ask_round == 2
    assert world.send(AgentAnswered(1, 1, 1, "architect", answer(99))) == []
    assert world.send(AgentAnswered(1, 9, 1, "architect", answer(99))) == []


def test_unavailable_agent_goes_to_a_person_with_a_note_and_the_error_in_the_log() -> None:
    world = started()
    world.answer(1, error="timed out after 120 s")
    assert world.questions[1].state is QuestionState.ESCALATED
    assert "Agent unavailable" in world.shown["f1:Q1"].body
    assert world.entry("agent.failed").data["error"] == "timed out after 120 s"


def test_fallback_is_asked_once_before_a_person() -> None:
    table = Table({"x": routed("x", "agent/architect", "@duc", fallback="product")})
    world = started(draft("x"), table=table)
    world.answer(1, error="down")
    (ask,) = world.of(AskAgent)
    assert ask.inquiry.role == "product"
    world.answer(1, error="down too")
    assert world.questions[1].state is QuestionState.ESCALATED
    assert world.kinds().count("agent.failed") == 2


def test_no_questions_means_the_specification_at_once() -> None:
    world = World()
    world.label()
    world.generate()
    assert len(world.of(CommitFiles)) == 1
    assert world.feature.state is FeatureState.WRITING


def test_generator_failure_is_shown_and_the_label_starts_again() -> None:
    world = World()
    world.label()
    world.generate(error="boom")
    assert world.feature.state is FeatureState.FAILED
    assert "stuck" in world.shown["f1:status"].body
    world.label()
    assert world.feature.state is FeatureState.SPECIFYING
    assert world.feature.run == 2
    assert world.send(QuestionsGenerated(1, 1, (draft(),))) == []


def test_questions_twice_are_created_once() -> None:
    world = started()
    assert world.generate(draft(), draft()) == []


def test_removed_label_pauses_and_the_same_label_goes_on() -> None:
    world = escalated()
    world.send(Unlabeled("d", Person("mara"), world.issue(labels=()), "feature"))
    assert world.feature.state is FeatureState.STOPPED
    assert world.label_shown() == "baron:paused"
    world.say("/confirm")
    assert world.reactions() == ["eyes", "confused"]
    assert "paused" in world.replies()[0]
    world.label()
    assert world.feature.state is FeatureState.WAITING
    assert world.questions[1].state is QuestionState.ESCALATED


def test_other_feature_label_removed_is_no_pause() -> None:
    world = escalated()
    event = Unlabeled("d", Person("mara"), world.issue(), "feature:infra")
    assert world.send(event) == []
    assert world.send(Unlabeled("d", Person("mara"), world.issue(labels=()), "bug")) == []


def test_answer_while_paused_is_kept_and_shown_when_it_goes_on() -> None:
    world = started(draft(), draft("data.keys", depends_on=(1,)))
    world.send(Closed("d", Person("mara"), world.issue(closed=True)))
    world.answer(1, answer(92))
    assert world.of(AskAgent) == []
    assert world.questions[1].state is QuestionState.ACCEPTED
    world.send(Reopened("d", Person("mara"), world.issue()))
    assert [ask.question for ask in world.of(AskAgent)] == [2]


def test_questions_while_paused_wait() -> None:
    world = World()
    world.label()
    world.send(Closed("d", Person("mara"), world.issue(closed=True)))
    world.generate(draft())
    assert world.of(AskAgent) == []
    world.send(Reopened("d", Person("mara"), world.issue()))
    assert len(world.of(AskAgent)) == 1


def test_reopened_without_its_label_stays_paused() -> None:
    world = escalated()
    world.send(Closed("d", Person("mara"), world.issue(closed=True)))
    assert world.send(Reopened("d", Person("mara"), world.issue(labels=()))) == []


def test_paused_before_the_questions_came_goes_on_reading() -> None:
    world = World()
    world.label()
    world.send(Closed("d", Person("mara"), world.issue(closed=True)))
    world.send(Reopened("d", Person("mara"), world.issue()))
    assert world.feature.state is FeatureState.SPECIFYING


def test_closing_a_finished_feature_changes_nothing() -> None:
    world = started()
    world.answer(1, answer(92))
    world.committed()
    world.feature = replace(world.feature, state=FeatureState.DONE)
    assert world.send(Closed("d", Person("mara"), world.issue(closed=True))) == []
    world.send(Unlabeled("d", Person("mara"), world.issue(labels=()), "feature"))
    world.label()
    assert world.feature.state is FeatureState.DONE


@pytest.mark.parametrize("how", ["deleted", "transferred"])
def test_vanished_issue_ends_everything(how: str) -> None:
    world = escalated()
    world.send(Vanished("d", Person("mara"), world.issue(), how))
    assert world.feature.state is FeatureState.GONE
    assert world.dropped
    assert world.of(ShowComment) == []
    assert world.say("/confirm") == []
    assert world.answer(1, answer(99)) == []
    assert world.committed(1) == []
    assert world.generate(draft()) == []
    assert world.label() == []
    assert world.send(Vanished("d", Person("mara"), world.issue(), how)) == []
    assert world.send(EffectFailed(1, "specification", "no")) == []


@pytest.mark.parametrize("kind", [Closed, Reopened])
def test_events_of_issues_without_a_feature(kind: type) -> None:
    world = World(feature=None)
    assert world.send(kind("d", Person("mara"), world.issue())) == []
    assert world.send(Unlabeled("d", Person("m"), world.issue(labels=()), "feature")) == []
    assert world.send(Vanished("d", Person("m"), world.issue(), "deleted")) == []
    assert world.send(QuestionsGenerated(1, 1)) == []
    assert world.send(AgentAnswered(1, 1, 1, "architect")) == []
    assert world.send(EffectFailed(1, "x", "y")) == []
    assert world.committed() == []


def test_failed_commit_is_shown() -> None:
    world = started()
    world.answer(1, answer(92))
    world.send(EffectFailed(1, "specification", "The branch is protected."))
    assert world.feature.state is FeatureState.FAILED
    assert "The branch is protected." in world.shown["f1:status"].body
    world.label()
    assert world.feature.state is FeatureState.WRITING
    assert len(world.of(CommitFiles)) == 1


def test_old_commit_does_not_finish_a_newer_specification() -> None:
    world = started()
    world.answer(1, answer(92))
    world.say("/correct Q1 A")
    assert world.feature.spec_revision == 2
    assert world.committed(1) == []
    world.committed(2)
    assert world.feature.state is FeatureState.PLANNED


def test_comments_none_shows_the_status_only() -> None:
    world = World(comments="none")
    world.label()
    world.generate(draft())
    world.answer(1, answer(10))
    assert {c.key for c in world.of(ShowComment)} == {"f1:status"}


def test_log_links_related_entries() -> None:
    world = escalated()
    world.say("/context Q1 we have two shards")
    world.answer(1, answer(95))
    about = [entry for entry in world.log if entry.question == "Q1"]
    assert about[0].links == ()
    for before, entry in itertools.pairwise(about):
        assert entry.links == (before.seq,)
    assert [entry.kind for entry in about] == [
        "question",
        "routing",
        "asked",
        "answer",
        "escalation",
        "human",
        "asked",
        "answer",
        "settled",
    ]


def test_handlers_return_only_actions() -> None:
    world = escalated()
    assert all(isinstance(record, Record) for record in world.log)
