"""The comments as people read them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.document import specification
from app.features.model import Clock, Feature, FeatureState, Question
from app.questions.model import Answer, Choice, QuestionState, Routed, Source
from app.texts.marker import marker, read_marker
from app.texts.question import LIMIT, question_comment
from app.texts.status import headline, status_comment
from tests.handlers.world import PLACE

FEATURE = Feature(
    1,
    PLACE,
    title="Export",
    body="Please.\n\n<!-- hidden --> fixes #3 @all",
    branch="012-export",
    started_by="mara",
    started_on="2026-11-21",
    run=1,
)
QUESTION = Question(
    1,
    "q-000001",
    "data.format",
    "Which format?",
    why="It decides the writer.",
    context="“as a file”",
    choices=(Choice("A", "CSV", "Opens anywhere."), Choice("B", "JSON | lines", "For programs.")),
    recommended="A",
    state=QuestionState.ESCALATED,
    routed=Routed("data.format", "agent/architect", "@duc", "data.**", 80, sla="4h"),
    tentative=Answer(
        "A: CSV", "It fits.", 65, ("Two fit.",), (Source("Files", "f.md#x", "Use CSV."),), "@duc"
    ),
    asked="mara",
    clock=Clock(since="2026-11-21T09:00:00+00:00", deadline="2026-11-21T13:00:00+00:00"),
    after="then mara is asked",
    note="@duc is 65 % sure, and 80 % is needed",
    shown=True,
    category="data",
)


@given(st.text(max_size=60), st.text(max_size=60))
def test_marker_survives_any_text_and_never_ends_early(key: str, feature: str) -> None:
    line = marker("question", key, feature=feature)
    assert line.count("-->") == 1
    assert "\n" not in line
    fields = read_marker(line + "\nbody")
    assert fields is not None
    assert fields.get("key", "") == key
    assert fields.get("feature", "") == feature


@pytest.mark.parametrize(
    "body",
    ["", "text", "<!-- kr -->", "<!-- kr {] -->", "<!-- kr [] -->", "x\n<!-- kr {} -->"],
)
def test_what_is_no_marker(body: str) -> None:
    assert not read_marker(body)


def test_question_reads_as_it_should() -> None:
    body = question_comment(FEATURE, QUESTION, ("Q2",), key="k")
    order = [
        "Which format?",
        "Why it matters",
        "Recommended: A",
        "| **A** |",
        "Tentative answer",
        "65 % sure",
        "Rationale",
        "uncertain",
        "Sources",
        "is asked",
        "by 2026-11-21 13:00 UTC; then mara is asked",
        "Q2 waits",
        "/confirm Q1@",
        "/correct Q1",
        "/context Q1",
    ]
    positions = [body.index(part) for part in order]
    assert positions == sorted(positions)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (QuestionState.ACCEPTED, "is 65 % sure of this"),
        (QuestionState.CONFIRMED, "Confirmed by **mara**"),
        (QuestionState.CORRECTED, "Answered by **mara**"),
        (QuestionState.ASKING, "is asked; the answer will appear here"),
        (QuestionState.TIMEOUT, "It can still be answered"),
        (QuestionState.DEFERRED, "has enough to answer"),
        (QuestionState.CANCELLED, "Given up"),
        (QuestionState.PENDING, "Open again"),
    ],
)
def test_question_in_each_state(state: QuestionState, text: str) -> None:
    question = replace(QUESTION, state=state, answer="A", source="@duc", settled_by="mara")
    body = question_comment(FEATURE, question, key="k")
    assert text in body
    assert read_marker(body)["state"] == state.value


def test_bare_question_has_no_empty_parts() -> None:
    question = Question(2, "q-2", "x", "Why?", state=QuestionState.ESCALATED, asked="mara")
    body = question_comment(FEATURE, question, key="k")
    for part in ("Recommended", "Option", "Tentative", "Sources", "/confirm", "details"):
        assert part not in body


def test_maintainer_is_not_pinged_by_name() -> None:
    question = replace(QUESTION, asked="a maintainer")
    assert "**A maintainer** is asked" in question_comment(FEATURE, question, key="k")


@pytest.mark.parametrize("state", list(FeatureState))
def test_status_in_each_state(state: FeatureState) -> None:
    feature = replace(FEATURE, state=state, problem="No.", stopped_because="closed", commit="c" * 9)
    questions = [
        replace(QUESTION, number=n, state=one, answer="A", source="@duc", depends_on=(1,))
        for n, one in enumerate(QuestionState, start=1)
    ]
    body = status_comment(feature, questions, key="k")
    assert headline(feature, questions) in body
    for n in range(1, len(questions) + 1):
        assert f"Q{n} |" in body
    assert json.loads(body.partition("kr ")[2].partition(" -->")[0])["kind"] == "status"


def test_status_without_questions_is_short() -> None:
    body = status_comment(FEATURE, [], key="k")
    assert "|---|" not in body
    assert "details" not in body


def test_huge_answers_stay_within_githubs_limit() -> None:
    huge = replace(QUESTION, answer="é" * 1_000_000, state=QuestionState.CORRECTED, text="?" * 9999)
    assert len(question_comment(FEATURE, huge, key="k")) <= LIMIT
    assert len(status_comment(FEATURE, [huge] * 40, key="k")) <= LIMIT


def test_specification_names_who_settled_what() -> None:
    confirmed = replace(
        QUESTION,
        state=QuestionState.CONFIRMED,
        answer="A: CSV",
        source="@duc",
        validated_by="human",
        settled_by="mara",
    )
    corrected = replace(confirmed, number=2, state=QuestionState.CORRECTED, source="@mara")
    accepted = replace(confirmed, number=3, state=QuestionState.ACCEPTED, validated_by=None)
    timeout = replace(QUESTION, number=4, state=QuestionState.TIMEOUT)
    text = specification(FEATURE, [confirmed, corrected, accepted, timeout])
    for part in (
        "# Feature Specification: Export",
        "**Feature Branch**: `012-export`",
        "**Created**: 2026-11-21",
        "## User Scenarios & Testing *(mandatory)*",
        "## Requirements *(mandatory)*",
        "## Success Criteria *(mandatory)*",
        "## Clarifications",
        "### Session 2026-11-21",
        "source: @duc; validated by: human; confirmed by @mara",
        "source: @mara; validated by: human",
        "source: @duc, 65 % sure, accepted",
        "[NEEDS CLARIFICATION: Which format?] (Q4, timeout)",
    ):
        assert part in text
    assert "<!--" not in text
    assert "@all" not in text


@pytest.mark.parametrize(
    ("category", "heading"),
    [
        ("flows", "### Functional Requirements"),
        ("scope", "### Functional Requirements"),
        ("something-new", "### Functional Requirements"),
        ("data", "### Data"),
        ("quality", "### Quality Attributes"),
        ("edge-cases", "### Edge Cases"),
        ("terms", "### Key Entities and Terms"),
        ("completion", "## Success Criteria"),
    ],
)
def test_answers_stand_under_their_heading(category: str, heading: str) -> None:
    question = replace(
        QUESTION, state=QuestionState.CORRECTED, answer="Forty-two.", category=category
    )
    text = specification(FEATURE, [question])
    after = text[text.index(heading) :]
    assert "Forty-two." in after.split("\n\n#")[0]


def test_specification_of_an_issue_that_left_nothing_open() -> None:
    text = specification(replace(FEATURE, body=""), [])
    assert "The issue left nothing open." in text
    assert "The issue has no description." in text


def test_a_long_answer_is_folded_and_ends_at_what_a_comment_holds() -> None:
    long = Answer("word " * 20_000, "It fits.", 65, agent="@duc")
    body = question_comment(FEATURE, replace(QUESTION, tentative=long), key="k")
    assert len(body) < 65_536
    assert "<details><summary>The whole answer</summary>" in body
    assert "the log has the whole answer" in body
    assert "/correct Q1" in body  # what to do about it is not cut off
    short = question_comment(FEATURE, QUESTION, key="k")
    assert "The whole answer" not in short
