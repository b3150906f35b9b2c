"""The outbox: what was decided and is still to be done, once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, get_args

from sqlalchemy import Connection, text

from app.actions import AgentEffect, Effect, JudgePull, LandTask, OutletEffect, RunTask
from app.store.deliveries import LEASE, FenceLost
from app.store.engine import from_json, process_name, to_json

_KINDS: dict[str, type[Effect]] = {kind.__name__: kind for kind in get_args(Effect)}
_PRIORITY = {"React": 1, "ShowComment": 3, "ShowLabel": 6}
AGENTS = "agents"
OUTLETS = "outlets"
TASKS = "tasks"

_PUT = text(
    """
    INSERT INTO outbox (key, lane, kind, payload, feature_id, priority)
    VALUES (:key, :lane, :kind, CAST(:payload AS jsonb), :feature, :priority)
    ON CONFLICT (key) DO UPDATE
       SET payload = excluded.payload, state = 'new', attempts = 0, looks = 0,
           wanted = outbox.wanted
                  + CAST(outbox.payload IS DISTINCT FROM excluded.payload AS integer),
           due_at = now(), finished_at = NULL, error = NULL
     WHERE outbox.payload IS DISTINCT FROM excluded.payload
        OR outbox.state IN ('failed', 'dropped')
    """
)

_CLAIM = text(
    """
    UPDATE outbox SET lease_until = now() + :lease, lease_owner = :owner,
           fence = fence + 1, attempts = attempts + 1,
           doubtful = doubtful OR lease_owner IS NOT NULL,
           looks = CASE WHEN lease_owner IS NULL THEN looks ELSE 0 END
     WHERE id = (
        SELECT id FROM outbox AS o
         WHERE state = 'new' AND due_at <= now() AND lane = :lane
           AND (lease_until IS NULL OR lease_until < now())
           AND NOT (kind = 'RunTask' AND EXISTS (
               SELECT 1 FROM features AS f WHERE f.id = o.feature_id AND f.state = 'stopped'))
         ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, key, lane, kind, payload, feature_id, wanted, doubtful, looks, attempts, fence,
              result
    """
)

_DUE_LANES = text(
    """
    SELECT DISTINCT o.lane FROM outbox AS o LEFT JOIN lanes USING (lane)
     WHERE state = 'new' AND due_at <= now() AND (lease_until IS NULL OR lease_until < now())
       AND (blocked_until IS NULL OR blocked_until <= now())
    """
)


@dataclass(frozen=True, slots=True)
class Due:
    """An effect in hand.

    `doubtful` means that an earlier try may have had its effect: look before doing it again.
    `wanted` is the revision of the picture that this try shows.
    """

    id: int
    key: str
    lane: str
    kind: str
    payload: dict[str, Any]
    feature_id: int | None
    wanted: int
    doubtful: bool
    looks: int
    attempts: int
    fence: int
    result: dict[str, Any]

    @property
    def effect(self) -> Effect:
        effect: Effect = from_json(_KINDS[self.kind], self.payload)
        return effect


def lane_of(effect: Effect) -> str:
    """Writes queue per installation, merges per repository; the rest has lanes of its own."""
    if isinstance(effect, AgentEffect):
        return AGENTS
    if isinstance(effect, RunTask):
        return TASKS
    if isinstance(effect, LandTask | JudgePull):
        return f"git:{effect.place.repo_id}"
    if isinstance(effect, OutletEffect):
        return OUTLETS
    return f"github:{effect.place.installation}"


def put(connection: Connection, effect: Effect) -> None:
    """Store an effect to be performed after the commit; the same key again replaces it.

    The same picture again changes nothing, unless it failed or was dropped: then it is tried anew.
    """
    kind = type(effect).__name__
    connection.execute(
        _PUT,
        {
            "key": effect.key,
            "lane": lane_of(effect),
            "kind": kind,
            "payload": json.dumps(to_json(effect)),
            "feature": effect.feature_id,
            "priority": _PRIORITY.get(kind, 5),
        },
    )


def drop(connection: Connection, feature_id: int, lanes: Sequence[str] = (), key: str = "") -> None:
    """Forget everything that waits for a feature, or what waits in some lanes, or one effect."""
    connection.execute(
        text(
            "UPDATE outbox SET state = 'dropped', finished_at = now(), fence = fence + 1"
            " WHERE feature_id = :feature AND state = 'new'"
            " AND (CAST(:lanes AS text[]) = '{}' OR lane = ANY(CAST(:lanes AS text[])))"
            " AND (CAST(:key AS text) = '' OR key = :key)"
        ),
        {"feature": feature_id, "lanes": list(lanes), "key": key},
    )


def due_lanes(connection: Connection) -> list[str]:
    """The lanes in which something is due and that are not held up."""
    return list(connection.execute(_DUE_LANES).scalars())


def claim(connection: Connection, lane: str) -> Due | None:
    """Take the next effect of a lane: reactions before comments, else in order."""
    row = connection.execute(
        _CLAIM, {"lease": LEASE, "owner": process_name(), "lane": lane}
    ).one_or_none()
    return Due(**row._mapping) if row else None


def is_held(connection: Connection, key: str) -> bool:
    """Whether somebody is at work on an effect just now."""
    found = connection.execute(
        text("SELECT lease_until > now() FROM outbox WHERE key = :key AND state = 'new'"),
        {"key": key},
    ).scalar_one_or_none()
    return bool(found)


_HOLD = text(
    """
    UPDATE outbox SET lease_until = now() + :lease
      FROM unnest(CAST(:ids AS bigint[]), CAST(:fences AS integer[])) AS held (id, fence)
     WHERE outbox.id = held.id AND outbox.fence = held.fence AND state = 'new'
    RETURNING outbox.id
    """
)


def hold(connection: Connection, held: Sequence[Due]) -> frozenset[int]:
    """Renew the leases of what is in hand. Returns the ids of what is still ours."""
    if not held:
        return frozenset()
    values = {
        "lease": LEASE,
        "ids": [due.id for due in held],
        "fences": [due.fence for due in held],
    }
    return frozenset(connection.execute(_HOLD, values).scalars())


def done(connection: Connection, due: Due, result: dict[str, Any] | None = None) -> None:
    """It stands. If a newer picture was asked for meanwhile, the row stays due.

    Raises `FenceLost`.
    """
    updated = connection.execute(
        text(
            "UPDATE outbox SET state = CASE WHEN wanted = :wanted THEN 'done' ELSE 'new' END,"
            " result = result || CAST(:result AS jsonb), doubtful = false, looks = 0,"
            " attempts = 0, lease_until = NULL, lease_owner = NULL, error = NULL,"
            " finished_at = now(), due_at = now()"
            " WHERE id = :id AND fence = :fence AND state = 'new'"
        ),
        {
            "wanted": due.wanted,
            "result": json.dumps(result or {}),
            "id": due.id,
            "fence": due.fence,
        },
    )
    if updated.rowcount != 1:
        raise FenceLost(due.key)


@dataclass(frozen=True, slots=True)
class Later:
    """Try again in `wait` seconds; `looked` counts a vain look, `counted` is false for no try.

    A try that counts may have written: whatever was looked for before it, the looks begin anew.
    `forget` drops the kept result: what it names is there no more.
    """

    wait: float
    doubtful: bool
    looked: bool = False
    counted: bool = True
    error: str = ""
    forget: bool = False


def again(connection: Connection, due: Due, later: Later) -> None:
    """Put an effect back."""
    connection.execute(
        text(
            "UPDATE outbox SET due_at = now() + :wait, doubtful = :doubtful,"
            " looks = CASE WHEN :looked THEN looks + 1 WHEN :counted THEN 0 ELSE looks END,"
            # A newer picture may have set the attempts to 0 while this one was in hand.
            " attempts = CASE WHEN :counted THEN attempts ELSE greatest(attempts - 1, 0) END,"
            " result = CASE WHEN :forget THEN CAST('{}' AS jsonb) ELSE result END,"
            " lease_until = NULL, lease_owner = NULL, error = :error"
            " WHERE id = :id AND fence = :fence AND state = 'new'"
        ),
        {
            "wait": timedelta(seconds=later.wait),
            "doubtful": later.doubtful,
            "looked": later.looked,
            "counted": later.counted,
            "forget": later.forget,
            "error": later.error[:2000] or None,
            "id": due.id,
            "fence": due.fence,
        },
    )


def failed(connection: Connection, due: Due, error: str) -> bool:
    """It cannot be done; the reason is kept for the operator.

    If a newer picture was asked for meanwhile, the row stays due and the answer is False.
    Raises `FenceLost`.
    """
    state = connection.execute(
        text(
            "UPDATE outbox SET state = CASE WHEN wanted = :wanted THEN 'failed' ELSE 'new' END,"
            " attempts = CASE WHEN wanted = :wanted THEN attempts ELSE 0 END, looks = 0,"
            " doubtful = true, error = :error, lease_until = NULL, lease_owner = NULL,"
            " finished_at = now(), due_at = now()"
            " WHERE id = :id AND fence = :fence AND state = 'new' RETURNING state"
        ),
        {"wanted": due.wanted, "error": error[:2000], "id": due.id, "fence": due.fence},
    ).scalar_one_or_none()
    if state is None:
        raise FenceLost(due.key)
    return bool(state == "failed")


def waiting(connection: Connection) -> dict[str, int]:
    """How many effects are open, by lane kind (`github`, `agents`)."""
    rows = connection.execute(
        text(
            "SELECT split_part(lane, ':', 1) AS kind, count(*) FROM outbox"
            " WHERE state = 'new' GROUP BY 1"
        )
    )
    return {row.kind: row.count for row in rows}  # type: ignore[misc]
