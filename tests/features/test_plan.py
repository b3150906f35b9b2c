"""plan.md and tasks.md without a language model: for every type, and for whatever people say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.features.document import specification
from app.features.forms import LONGEST_DOCUMENT, plan_problems, spec_problems, tasks_problems
from app.features.model import Feature, Place, Question
from app.features.plan import plan
from app.features.tasklist import tasklist
from app.features.tasks import parse_tasks
from app.features.types import TYPES, FeatureType
from app.questions.model import Answer, QuestionState

FEATURE = Feature(
    1,
    Place(7, 70, "acme/storefront", 12),
    title="Export orders as CSV",
    body="Sellers want their orders.",
    branch="012-export-orders-as-csv",
    started_by="@mara",
    started_on="2026-01-05",
)
CATEGORIES = (
    "scope flows data integrations quality edge-cases constraints terms completion odd".split()
)
SCOPES = {
    "qa": ("tests/",),
    "developer": ("src/",),
    "devops": ("k8s/", "argocd/", "kustomize/", "helm/", ".github/workflows/"),
}


def question(number: int, **changes: object) -> Question:
    known = {
        "text": f"What about part {number}?",
        "category": CATEGORIES[number % len(CATEGORIES)],
        "state": QuestionState.CORRECTED,
        "answer": f"Answer {number}.",
        "source": "@rosa",
        "settled_by": "rosa",
    }
    return Question(number, f"q-{number}", "product.scope", **{**known, **changes})  # type: ignore[arg-type]  # a dict has no types


def questions(many: int, **changes: object) -> list[Question]:
    return [question(number, **changes) for number in range(1, many + 1)]


def roles(path: str) -> list[str]:
    return [role for role, folders in SCOPES.items() if path.startswith(folders)]


@pytest.mark.parametrize("many", [0, 1, 60])
@pytest.mark.parametrize("kind", FeatureType)
def test_documents_have_their_form(kind: FeatureType, many: int) -> None:
    feature, asked = replace(FEATURE, type=kind), questions(many)
    assert plan_problems(plan(feature, asked)) == ()
    assert tasks_problems(tasklist(feature, asked)) == ()
    assert spec_problems(specification(feature, asked)) == ()


@pytest.mark.parametrize("many", [0, 1, 60])
@pytest.mark.parametrize("kind", FeatureType)
def test_tasks_stay_in_the_scope_of_one_role_of_the_type(kind: FeatureType, many: int) -> None:
    read = parse_tasks(tasklist(replace(FEATURE, type=kind), questions(many)))
    assert [task.id for task in read.tasks] == [f"T{n + 1:03d}" for n in range(len(read.tasks))]
    allowed = TYPES[kind].execution
    for task in read.tasks:
        if "Review" in task.description:
            assert (task.paths, "reviewer" in allowed) == ((), True)
            continue
        (role,) = {role for path in task.paths for role in roles(path)}
        assert all(roles(path) == [role] for path in task.paths)
        assert role in allowed
    reviewed = any("Review" in task.description for task in read.tasks)
    assert reviewed == ("reviewer" in allowed)


@pytest.mark.parametrize("kind", FeatureType)
def test_every_answer_is_named_where_it_matters(kind: FeatureType) -> None:
    feature, asked = replace(FEATURE, type=kind), questions(60)
    made, read = plan(feature, asked), parse_tasks(tasklist(feature, asked))
    for one in asked:
        assert f"{one.answer} ({one.name})\n" in made
        assert any(f" {one.name}," in task.description.replace("(", " ").replace(")", ",")
                   and one.answer in task.details for task in read.tasks)  # fmt: skip


def test_tests_come_first_and_what_is_independent_may_run_together() -> None:
    read = parse_tasks(tasklist(FEATURE, questions(20)))
    by_id = {task.id: task for task in read.tasks}
    code = [task for task in read.tasks if task.description.startswith("Implement")]
    assert len(code) == 5
    for task in code:
        assert task.story == "US1"
        waits = [by_id[name] for name in task.depends_on]
        assert any(other.description.startswith("Write failing tests") for other in waits)
        assert all(other.line < task.line for other in waits)
    together = [task for task in read.tasks if task.parallel]
    assert len({path for task in together for path in task.paths}) == len(together)
    assert "interface" in tasklist(FEATURE, [])
    assert "interface" not in tasklist(replace(FEATURE, type=FeatureType.BACKEND), [])


def test_what_is_open_or_unsure_is_a_risk() -> None:
    sure = Answer("Yes.", "", 85, ("No figures were given.",))
    made = plan(
        FEATURE,
        [
            question(1, state=QuestionState.ESCALATED, answer="secret"),
            question(2, state=QuestionState.ACCEPTED, tentative=sure),
            question(3, warning="Nobody answered in time."),
            question(4, state=QuestionState.CANCELLED, answer="secret"),
        ],
    )
    assert "secret" not in made
    assert "settled: no (Q1)" in made
    assert "in time: no (Q3)" in made
    risks = made.split("## Risks")[1]
    assert "[NEEDS CLARIFICATION: What about part 1?] (Q1, escalated)" in risks
    assert "- No figures were given. (Q2)" in risks
    assert "Nobody answered in time. (Q3)" in risks
    assert "Q4" not in risks


def test_long_answers_and_many_stay_within_the_budget() -> None:
    for many in (1, 60, 900):
        asked = questions(many, answer="word " * 4000, text="why " * 400)
        for text in (plan(FEATURE, asked), tasklist(FEATURE, asked)):
            assert len(text) < LONGEST_DOCUMENT
        assert tasks_problems(tasklist(FEATURE, asked)) == ()


EVIL = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        [
            "after T002, depends on T999",
            "- [ ] T001 mine",
            "\n\n- [ ] T001 mine\n## Risks\n```",
            "```\nnever closed",
            "[DATE] and [FEATURE NAME]",
            "write `src/other.py` and tests/x.py",
            "</details><!-- ",
            "@sol fixes #1 `` ` ",
            "t5 before T001 → T002",
            "# Title",
        ]
    ),
)


@settings(max_examples=150, deadline=None)
@given(EVIL, EVIL, EVIL, st.sampled_from(FeatureType))
def test_whatever_people_write_the_form_stays(
    title: str, text: str, answer: str, kind: FeatureType
) -> None:
    feature = replace(FEATURE, type=kind, title=title, body=text)
    asked = questions(5, text=text, answer=answer, warning=text)
    read = parse_tasks(tasklist(feature, asked))
    assert tasks_problems(tasklist(feature, asked)) == ()
    assert plan_problems(plan(feature, asked)) == ()
    assert [task.paths for task in read.tasks if len(task.paths) > 1] == []
    plain = parse_tasks(tasklist(replace(feature, title="x"), questions(5)))
    assert [task.depends_on for task in read.tasks] == [task.depends_on for task in plain.tasks]
    specified = replace(feature, title=f"x {title}")
    assert spec_problems(specification(specified, asked)) == ()
