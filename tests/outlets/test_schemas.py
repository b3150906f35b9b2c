"""The events that are told: each type fits its own schema and no other."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from app.actions import Record
from app.outlets.schemas import DATA, LONGEST, Envelope, Type, envelope, schemas
from app.outward import told

FITTING: dict[str, dict[str, Any]] = {
    "question.created": {"topic": "a", "text": "Why?", "target": None, "urgency": "normal"},
    "question.answered": {"by": "@duc", "confidence": 92, "verdict": "accepted"},
    "question.accepted": {"by": "@duc", "confidence": 92, "threshold": 80},
    "question.timeout": {"answerer": "human/ravi", "sla": None},
    "question.escalated": {"to": "mara", "because": "time"},
    "question.settled": {"state": "corrected", "source": "@mara", "answer": "Yes."},
    "notification.sent": {"channel": "slack://a", "ok": False, "reason": "away"},
    "tool.task": {"tool": "docs", "round": 1},
}
WHOLE = {
    "id": "7-1-0",
    "type": "tool.task",
    "at": "2026-11-21T09:00:00.000+00:00",
    "feature": "acme/storefront#7",
    "question": "Q1",
    "gid": "q-abc123",
    "data": FITTING["tool.task"],
}


def test_every_type_has_a_model_and_a_schema_of_its_own() -> None:
    assert set(FITTING) == set(DATA) == set(get_args(Type)) == set(schemas())
    for name, schema in schemas().items():
        assert schema["properties"]["type"] == {"const": name}
        assert set(FITTING[name]) <= set(schema["properties"]["data"]["properties"])
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", FITTING)
def test_data_fits_its_own_type_only(name: str) -> None:
    made = Envelope.model_validate({**WHOLE, "type": name, "data": FITTING[name]})
    assert type(made.data) is DATA[name]
    assert Envelope.model_validate_json(made.model_dump_json()) == made
    for other in set(FITTING) - {name}:
        with pytest.raises(ValidationError):
            Envelope.model_validate({**WHOLE, "type": other, "data": FITTING[name]})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "ü"),
        ("id", "a\r\nX-Other: b"),
        ("id", ""),
        ("type", "question.invented"),
        ("at", "2026-11-21T09:00:00"),
        ("at", "2026-11-21T09:00:00+02:00"),
        ("at", "yesterday"),
        ("feature", "storefront#7"),
        ("feature", "acme/storefront"),
        ("question", "3"),
        ("gid", "abc"),
        ("data", {"tool": "docs", "round": 1, "more": 2}),
        ("more", 1),
    ],
)
def test_what_fits_no_envelope(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Envelope.model_validate({**WHOLE, field: value})


def test_an_envelope_is_frozen_and_a_long_answer_is_cut() -> None:
    data = {**FITTING["question.settled"], "answer": "x" * 9000}
    made = envelope(
        "question.settled", id="1", at=WHOLE["at"], feature="acme/storefront#7", data=data
    )
    assert len(made.model_dump()["data"]["answer"]) == LONGEST
    with pytest.raises(ValidationError):
        made.id = "2"  # type: ignore[misc]


def test_what_the_log_tells_fits() -> None:
    records = [
        Record(7, 1, "question", "@baron", "Q1", {"topic": "a", "text": "Why?"}),
        Record(7, 2, "asked", "@baron", "Q1", {"role": "tool/docs", "round": 1}),
        Record(
            7, 3, "answer", "@duc", "Q1", {"confidence": 92, "verdict": "accepted", "threshold": 80}
        ),
        Record(7, 4, "timeout", "@baron", "Q1", {"answerer": None, "who": "mara", "sla": ""}),
        Record(7, 5, "escalation", "@baron", "Q1", {"to": "mara", "because": "time"}),
        Record(7, 6, "settled", "@mara", "Q1", {**FITTING["question.settled"]}),
        Record(7, 7, "notification", "@baron", "Q1", {"channel": "slack://a", "ok": True}),
    ]
    events = told(records, "acme/storefront#7", {"Q1": "q-abc123"}, str(WHOLE["at"]))
    assert {Envelope.model_validate(event).type for event in events} == set(DATA)
