"""What is told to others, from what is written in the log (specs/2, Subjects). Pure.

The log is the truth; this is best effort, for others to build on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.actions import Record

LONGEST = 4000
"""Characters of an answer; the log has all of it."""

Event = dict[str, Any]


def told(records: Iterable[Record], feature: str, gids: Mapping[str, str], at: str) -> list[Event]:
    """The envelopes of some log entries, in their order.

    `gids` maps `Q3` to its global name, `at` is the moment of the decision (ISO 8601, UTC).
    """
    events: list[Event] = []
    for record in records:
        for number, (kind, data) in enumerate(_of(record)):
            events.append(
                {
                    "id": f"{record.feature_id}-{record.seq}-{number}",
                    "type": kind,
                    "at": at,
                    "feature": feature,
                    "question": record.question,
                    "gid": gids.get(record.question or ""),
                    "data": data,
                }
            )
    return events


def _of(record: Record) -> list[tuple[str, dict[str, Any]]]:
    data = record.data
    match record.kind:
        case "question":
            fields = {"topic": data["topic"], "text": data["text"], "target": data.get("target")}
            return [("question.created", {**fields, "urgency": data.get("urgency", "normal")})]
        case "asked" if str(data["role"]).startswith("tool/"):
            tool = str(data["role"]).removeprefix("tool/")
            return [("tool.task", {"tool": tool, "round": data["round"]})]
        case "answer":
            return _answer(record.actor, data)
        case "timeout":
            found = {"answerer": data.get("answerer") or data.get("who"), "sla": data.get("sla")}
            return [("question.timeout", found)]
        case "escalation":
            return [("question.escalated", {"to": data["to"], "because": data["because"]})]
        case "settled":
            fields = {name: data.get(name) for name in ("state", "source", "validated_by")}
            return [("question.settled", {**fields, "answer": str(data["answer"])[:LONGEST]})]
        case "notification":
            fields = {name: data.get(name) for name in ("channel", "ok", "reason")}
            return [("notification.sent", fields)]
        case _:
            return []


def _answer(actor: str, data: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    confidence, verdict = data["confidence"], data["verdict"]
    told = {"by": actor, "confidence": confidence, "verdict": verdict}
    events: list[tuple[str, dict[str, Any]]] = [("question.answered", told)]
    if verdict == "accepted":
        more = {"by": actor, "confidence": confidence, "threshold": data["threshold"]}
        events.append(("question.accepted", more))
    return events
