"""The plain figures of a feature (specs/1, US7.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from app.features.model import Question
from app.questions.model import QuestionState
from app.service_types import RetroReport


class EntryLike(Protocol):
    """An entry of the log."""

    @property
    def kind(self) -> str: ...
    @property
    def question(self) -> str | None: ...
    @property
    def actor(self) -> str: ...
    @property
    def data(self) -> Any: ...


def figures(feature: str, questions: Sequence[Question], log: Sequence[EntryLike]) -> RetroReport:
    """How many questions were accepted as answered, and what people had to do."""
    answers = [entry for entry in log if entry.kind == "answer"]
    escalated = {entry.question for entry in log if entry.kind == "escalation"}
    accepted = [
        question
        for question in questions
        if question.state is QuestionState.ACCEPTED
        and not question.warning
        and question.name not in escalated
    ]
    sure = [int(entry.data["confidence"]) for entry in answers]
    asked = len(questions)
    return RetroReport(
        feature=feature,
        questions=asked,
        accepted=len(accepted),
        escalated=len(escalated),
        open=sum(not question.ended for question in questions),
        acceptance_rate=round(100 * len(accepted) / asked) if asked else None,
        average_confidence=round(sum(sure) / len(sure), 1) if sure else None,
        escalated_topics=tuple(
            dict.fromkeys(question.topic for question in questions if question.name in escalated)
        ),
        human_actions=dict(Counter(e.data["action"] for e in log if e.kind == "human")),
        by_agent=_by_agent(answers),
    )


def _by_agent(answers: Sequence[EntryLike]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for handle in dict.fromkeys(entry.actor for entry in answers):
        theirs = [entry.data for entry in answers if entry.actor == handle]
        found[handle] = {
            "answers": len(theirs),
            "accepted": sum(data["verdict"] == "accepted" for data in theirs),
            "average_confidence": round(
                sum(data["confidence"] for data in theirs) / len(theirs), 1
            ),
        }
    return found
