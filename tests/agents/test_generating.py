"""@baron on a model: questions and documents, held to their form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.actions import WriteDocuments
from app.agents.generating import ModelGenerator
from app.agents.prompting import Prompts
from app.agents.protocols import NOBODY, Account, AgentUnavailable, Generated
from app.agents.writing import Form, ModelWriter
from app.features.types import FeatureRequest, FeatureType
from app.questions.model import Choice, Draft
from tests.agents.fake import SaidModel

REQUEST = FeatureRequest("Exports", "Customers want their orders as a file.", FeatureType.BACKEND)


class Fallback:
    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        return Generated((Draft("scope", "Which?", None),), "checklist")


def asked(**changes: Any) -> dict[str, Any]:
    return {
        "topic": "data.format",
        "question": "Which format?",
        "target": "architect",
        "why": "It decides the writer.",
        "quote": "as a file",
        "options": [{"text": "CSV", "implication": "Opens anywhere."}, {"text": "JSON"}],
        "recommended": 1,
        "impact": 4,
        "uncertainty": 0.9,
        "category": "data",
        **changes,
    }


def generate(model: SaidModel, limit: int = 6) -> Generated:
    generator = ModelGenerator(model, Prompts(), Fallback(), ["architect", "product"])
    return asyncio.run(generator.generate(REQUEST, limit))


def test_questions_come_as_drafts() -> None:
    model = SaidModel({"questions": [asked()]})
    found = generate(model)
    assert (found.generator, found.note) == ("said", "")
    assert found.prompt.startswith("questions/1-")
    assert found.drafts == (
        Draft(
            topic="data.format",
            text="Which format?",
            target="architect",
            context="“as a file”",
            why="It decides the writer.",
            choices=(Choice("A", "CSV", "Opens anywhere."), Choice("B", "JSON")),
            recommended="A",
            impact=4,
            uncertainty=0.9,
            category="data",
        ),
    )
    assert "Customers want" not in model.asked[0].prompt.system
    assert "Customers want" in model.asked[0].prompt.user


def test_never_more_than_the_limit_and_never_twice() -> None:
    same = [asked(), asked(question="which FORMAT"), asked(question="How many?", depends_on=[2])]
    more = [asked(question=f"And {n}?") for n in range(20)]
    found = generate(SaidModel({"questions": [*same, *more]}), limit=4)
    assert len(found.drafts) == 4
    assert [draft.text for draft in found.drafts[:2]] == ["Which format?", "How many?"]
    assert found.drafts[1].depends_on == (1,)


def test_what_was_not_said_is_not_quoted_and_nobody_unknown_is_asked() -> None:
    one = asked(quote="as a fine PDF", target="@mara", options=[{"text": "x"}], recommended=3)
    (draft,) = generate(SaidModel({"questions": [one]})).drafts
    assert (draft.context, draft.target, draft.choices, draft.recommended) == ("", None, (), None)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"questions": "none"},
        {"questions": [asked(topic="Data Format!")]},
        {"questions": [asked(question="")]},
        {"questions": [asked(impact=9)]},
        {"questions": [asked(uncertainty=1.5)]},
        {"questions": [asked(category="fun")]},
        {"questions": [asked()] * 31},
    ],
)
def test_where_the_form_does_not_fit_the_checklist_asks(broken: dict[str, Any]) -> None:
    found = generate(SaidModel(broken))
    assert found.generator == "checklist"
    assert "the model found no questions" in found.note


def test_where_the_model_is_away_the_checklist_asks() -> None:
    found = generate(SaidModel(AgentUnavailable("no answer within 120 seconds")))
    assert found.drafts[0].text == "Which?"
    assert "no answer within 120 seconds" in found.note


def problems(text: str) -> tuple[str, ...]:
    return () if text.startswith("# Good") else ("the title is missing",)


def wanted(draft: str = "# Draft\n- **FR-001**: CSV (Q1)\n") -> WriteDocuments:
    answers = (("Q1", "Which format?", "CSV", "@duc"),)
    return WriteDocuments("k", 1, 1, (("spec.md", draft),), REQUEST, answers)


def write(model: SaidModel) -> Any:
    writer = ModelWriter(model, Prompts(), {"spec.md": Form(problems)})
    (one,) = asyncio.run(writer.write(wanted()))
    return one


def test_a_document_is_written_from_the_draft() -> None:
    model = SaidModel({"text": "```markdown\n# Good\n\nCSV it is (Q1).\n```"})
    one = write(model)
    assert (one.text, one.model, one.error) == ("# Good\n\nCSV it is (Q1).\n", "said-1", "")
    user = model.asked[0].prompt.user
    assert "FR-001" in user
    assert "FR-001" not in model.asked[0].prompt.system.replace("(FR-001, SC-001, T001 …)", "")


def test_what_lost_its_form_or_an_answer_is_asked_for_again() -> None:
    model = SaidModel({"text": "Bad (Q1)"}, {"text": "# Good, no answer"}, {"text": "# Good (Q1)"})
    assert write(model).text == "# Good (Q1)\n"
    assert "the title is missing" in model.asked[1].prompt.user
    assert "no line names (Q1) any more" in model.asked[2].prompt.user


def test_after_three_tries_the_draft_is_the_document() -> None:
    model = SaidModel({"text": "Bad"})
    one = write(model)
    assert len(model.asked) == 3
    assert one.text == wanted().drafts[0][1]
    assert (one.model, "the title is missing" in one.error) == ("", True)
    assert write(SaidModel(AgentUnavailable("down"))).error == "down"
