"""The Q&A log: append-only, chained by hash, exportable (specs/1, FR-013 to FR-016)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, text

from app.actions import Record


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log. `hash` covers every other field, `prev` is the hash before it."""

    seq: int
    at: str
    kind: str
    question: str | None
    actor: str
    data: dict[str, Any]
    links: list[int]
    prev: str
    hash: str = ""

    def sealed(self) -> str:
        """Hex SHA-256 over the entry in canonical JSON (sorted keys, no spaces, UTF-8)."""
        fields = [self.seq, self.at, self.kind, self.question, self.actor, self.data, self.links]
        text = json.dumps(
            [*fields, self.prev], sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class OutOfTurn(Exception):
    """The entry's number is not the next one: it was decided on facts that have changed."""


def append(connection: Connection, record: Record, at: datetime) -> None:
    """Add an entry; the feature's row is locked by the caller. Raises `OutOfTurn`."""
    head = connection.execute(
        text("SELECT log_seq, log_hash FROM features WHERE id = :id FOR UPDATE"),
        {"id": record.feature_id},
    ).one()
    if record.seq != head.log_seq + 1:
        raise OutOfTurn(f"entry {record.seq} after {head.log_seq}")
    data = json.loads(json.dumps(dict(record.data)))
    entry = Entry(
        record.seq,
        _moment(at),
        record.kind,
        record.question,
        record.actor,
        data,
        list(record.links),
        head.log_hash,
    )
    sealed = entry.sealed()
    connection.execute(
        text(
            "INSERT INTO log (feature_id, seq, at, kind, question, actor, data, links, prev, hash)"
            " VALUES (:feature, :seq, :at, :kind, :question, :actor, CAST(:data AS jsonb),"
            " CAST(:links AS jsonb), :prev, :hash)"
        ),
        {
            "feature": record.feature_id,
            "seq": record.seq,
            "at": entry.at,
            "kind": record.kind,
            "question": record.question,
            "actor": record.actor,
            "data": json.dumps(data),
            "links": json.dumps(entry.links),
            "prev": head.log_hash,
            "hash": sealed,
        },
    )
    connection.execute(
        text("UPDATE features SET log_seq = :seq, log_hash = :hash WHERE id = :id"),
        {"seq": record.seq, "hash": sealed, "id": record.feature_id},
    )


def entries(connection: Connection, feature_id: int) -> list[Entry]:
    """The whole log of a feature, in order."""
    rows = connection.execute(
        text(
            "SELECT seq, at, kind, question, actor, data, links, prev, hash FROM log"
            " WHERE feature_id = :feature ORDER BY seq"
        ),
        {"feature": feature_id},
    )
    return [Entry(**{**row._mapping, "at": _moment(row.at)}) for row in rows]


def broken_at(chain: Sequence[Entry]) -> int | None:
    """The number of the first entry that does not fit the chain, or None if all do."""
    before = ""
    for number, entry in enumerate(chain, start=1):
        if entry.seq != number or entry.prev != before or entry.hash != entry.sealed():
            return entry.seq
        before = entry.hash
    return None
