"""What is told to others, from what is written in the log."""

from __future__ import annotations

import pytest

from app.actions import Record
from app.outlets.schemas import DATA, Envelope, schemas
from app.outward import told

RECORDS = [
    Record(7, 1, "question", "@baron", "Q1", {"topic": "a", "text": "Why?", "target": None}),
    Record(7, 2, "routing", "@baron", "Q1", {"answerer": "tool/docs"}),
    Record(7, 3, "asked", "@baron", "Q1", {"role": "tool/docs", "round": 1}),
    Record(7, 4, "asked", "@baron", "Q1", {"role": "architect", "round": 2}),
    Record(
        7,
        5,
        "answer",
        "@duc",
        "Q1",
        {"confidence": 92, "verdict": "accepted", "threshold": 80},
    ),
    Record(7, 6, "timeout", "@baron", "Q1", {"answerer": "team/core", "sla": "1h"}),
    Record(7, 7, "escalation", "@baron", "Q1", {"to": "mara", "because": "time"}),
    Record(
        7,
        8,
        "settled",
        "@mara",
        "Q1",
        {"state": "corrected", "source": "@mara", "validated_by": "human", "answer": "x" * 9000},
    ),
    Record(7, 9, "notification", "@baron", "Q1", {"channel": "slack://a", "ok": True}),
]


def events() -> list[dict]:
    return told(RECORDS, "acme/storefront#7", {"Q1": "q-abc123"}, "2026-11-21T09:00:00.000+00:00")


def test_every_type_is_told_in_order_and_fits_its_schema() -> None:
    found = events()
    assert [event["type"] for event in found] == [
        "question.created",
        "tool.task",
        "question.answered",
        "question.accepted",
        "question.timeout",
        "question.escalated",
        "question.settled",
        "notification.sent",
    ]
    assert {event["type"] for event in found} == set(DATA) == set(schemas())
    assert len({event["id"] for event in found}) == len(found)
    for event in found:
        assert Envelope.model_validate(event).gid == "q-abc123"


def test_a_schema_refuses_what_does_not_fit() -> None:
    event = events()[0]
    with pytest.raises(ValueError, match="text"):
        Envelope.model_validate({**event, "data": {"topic": "a"}})
    with pytest.raises(ValueError):
        Envelope.model_validate({**event, "type": "question.invented"})
