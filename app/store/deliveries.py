"""Deliveries: what GitHub sent us, and our own events, in the order they came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, text

from app.store.engine import process_name, to_json
from app.store.packing import unpack

LEASE = timedelta(seconds=10)
_GIVE_UP = 8

_CLAIM = text(
    """
    UPDATE deliveries SET lease_until = now() + :lease, lease_owner = :owner,
           fence = fence + 1, attempts = attempts + 1
     WHERE seq = (
        SELECT seq FROM deliveries AS d
         WHERE state = 'new' AND due_at <= now()
           AND (lease_until IS NULL OR lease_until < now())
           AND NOT EXISTS (SELECT 1 FROM deliveries AS earlier
                            WHERE earlier.state = 'new' AND earlier.repo_id = d.repo_id
                              AND earlier.issue = d.issue AND earlier.seq < d.seq)
         ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING seq, guid, event, action, payload, attempts, fence
    """
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery in hand; `fence` proves that it is still ours when its work is stored."""

    seq: int
    guid: str
    event: str
    action: str
    payload: bytes
    attempts: int
    fence: int


class FenceLost(Exception):
    """Somebody else has taken the row over: nothing of ours may be stored."""


def claim(connection: Connection) -> Claimed | None:
    """Take the oldest delivery that is due, one issue's in order; None if there is none."""
    row = connection.execute(_CLAIM, {"lease": LEASE, "owner": process_name()}).one_or_none()
    return Claimed(**{**row._mapping, "payload": unpack(row.payload)}) if row else None


def finish(connection: Connection, claimed: Claimed, *, state: str = "done") -> None:
    """Mark it as worked off, within the transaction of its work. Raises `FenceLost`."""
    done = connection.execute(
        text(
            "UPDATE deliveries SET state = :state, finished_at = now(), lease_until = NULL,"
            " error = NULL WHERE seq = :seq AND fence = :fence AND state = 'new'"
        ),
        {"state": state, "seq": claimed.seq, "fence": claimed.fence},
    )
    if done.rowcount != 1:
        raise FenceLost(claimed.guid)


def hold(connection: Connection, claimed: Claimed) -> None:
    """Renew the lease while the work goes on."""
    connection.execute(
        text("UPDATE deliveries SET lease_until = now() + :lease WHERE seq = :seq AND fence = :f"),
        {"lease": LEASE, "seq": claimed.seq, "f": claimed.fence},
    )


def put_back(connection: Connection, claimed: Claimed, error: str, *, passing: bool) -> bool:
    """Try again later: a passing fault for ever, one of ours a few times, then it is `dead`.

    Whether it is dead now.
    """
    dead = not passing and claimed.attempts >= _GIVE_UP
    updated = connection.execute(
        text(
            "UPDATE deliveries SET state = :state, lease_until = NULL, error = :error,"
            " due_at = now() + :wait WHERE seq = :seq AND fence = :fence AND state = 'new'"
        ),
        {
            "state": "dead" if dead else "new",
            "error": error[:2000],
            "wait": timedelta(seconds=min(0.25 * 2 ** min(claimed.attempts, 10), 60)),
            "seq": claimed.seq,
            "fence": claimed.fence,
        },
    )
    return dead and updated.rowcount == 1


def _without_nul(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\x00", "")
        case dict():
            return {key: _without_nul(one) for key, one in value.items()}
        case list() | tuple():
            return [_without_nul(one) for one in value]
        case _:
            return value


def add_own(connection: Connection, guid: str, event: Any, feature: tuple[int, int]) -> None:
    """Store an event of our own under a name that makes it happen once.

    `feature` is its repository's id and issue number: it takes its turn among GitHub's.
    """
    connection.execute(
        text(
            "INSERT INTO deliveries (guid, event, action, repo_id, issue, payload)"
            " VALUES (:guid, 'kr', :action, :repo, :issue, :payload) ON CONFLICT DO NOTHING"
        ),
        {
            "guid": guid,
            "action": type(event).__name__,
            "repo": feature[0],
            "issue": feature[1],
            # no column of text or JSON takes the character NUL
            "payload": json.dumps(_without_nul(to_json(event))).encode(),
        },
    )


def waiting(connection: Connection) -> int:
    """How many are due and in nobody's hand."""
    return int(
        connection.execute(
            text(
                "SELECT count(*) FROM deliveries WHERE state = 'new' AND due_at <= now()"
                " AND (lease_until IS NULL OR lease_until < now())"
            )
        ).scalar_one()
    )


def finished(connection: Connection, guid: str) -> bool:
    """Whether the delivery is here and needs nothing more."""
    state = connection.execute(
        text("SELECT state FROM deliveries WHERE guid = :guid"), {"guid": guid}
    ).scalar_one_or_none()
    return state in {"done", "ignored"}


def newest(connection: Connection) -> dict[str, Any] | None:
    """The last delivery from GitHub: guid, event, state, received_at, error."""
    row = connection.execute(
        text(
            "SELECT guid, event, action, state, received_at, error FROM deliveries"
            " WHERE event <> 'kr' ORDER BY seq DESC LIMIT 1"
        )
    ).one_or_none()
    return dict(row._mapping) if row else None
