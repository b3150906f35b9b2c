"""Who is at work, and whose work has to be taken over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, text

from app.store.engine import connect, lives, process_name

GONE_AFTER = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A worker process; `alive` while it was seen in the last 15 seconds and its process lives."""

    name: str
    kind: str
    started_at: datetime
    seen_at: datetime
    alive: bool


def beat(connection: Connection, kind: str) -> None:
    """Say that this process lives."""
    connection.execute(
        text(
            "INSERT INTO workers (name, kind) VALUES (:name, :kind)"
            " ON CONFLICT (name) DO UPDATE SET seen_at = now()"
        ),
        {"name": process_name(), "kind": kind},
    )


def sign_off(connection: Connection) -> None:
    """Say that this process ends of its own accord."""
    connection.execute(text("DELETE FROM workers WHERE name = :name"), {"name": process_name()})


def heartbeats(connection: Connection) -> list[Heartbeat]:
    """The workers that were seen in the last hour."""
    rows = connection.execute(
        text(
            "SELECT name, kind, started_at, seen_at, seen_at > now() - :gone AS fresh FROM workers"
            " WHERE seen_at > now() - interval '1 hour' ORDER BY kind, name"
        ),
        {"gone": GONE_AFTER},
    )
    return [
        Heartbeat(row.name, row.kind, row.started_at, row.seen_at, row.fresh and lives(row.name))
        for row in rows
    ]


def counts(connection: Connection, table: Literal["deliveries", "features"]) -> dict[str, int]:
    """How many rows there are in each state."""
    rows = connection.execute(
        text(f"SELECT state, count(*) AS n FROM {table} GROUP BY state")  # noqa: S608
    )
    return {row.state: row.n for row in rows}


def alive(connection: Connection) -> dict[str, int]:
    """How many workers of each kind live."""
    kinds: dict[str, int] = {}
    for one in heartbeats(connection):
        kinds[one.kind] = kinds.get(one.kind, 0) + int(one.alive)
    return kinds


def newest_web(connection: Connection) -> datetime | None:
    """When the youngest web process started: what came before it may have found none."""
    found: datetime | None = connection.execute(
        text("SELECT max(started_at) FROM workers WHERE kind = 'web'")
    ).scalar_one()
    return found


def worker_heartbeats(database_url: str) -> list[Heartbeat]:
    """`heartbeats` over a connection of its own, for `kr doctor`."""
    engine = connect(database_url, pool=1)
    try:
        with engine.connect() as connection:
            return heartbeats(connection)
    finally:
        engine.dispose()


def failures(connection: Connection) -> list[str]:
    """What went wrong for good within a day, one line each, the newest first."""
    rows = connection.execute(
        text(
            "(SELECT at, 'told nobody: ' || (data->>'channel') || ': ' || (data->>'reason') AS what"
            "  FROM log WHERE kind = 'notification' AND data->>'ok' = 'false'"
            "  AND at > now() - interval '1 day')"
            " UNION ALL (SELECT finished_at, 'not written: ' || key || ': ' || coalesce(error, '')"
            "  FROM outbox WHERE state = 'failed' AND kind <> 'React'"
            "  AND finished_at > now() - interval '1 day')"
            " UNION ALL (SELECT received_at, 'not worked off: ' || event || ' ' || guid || ': '"
            "  || coalesce(error, '') FROM deliveries WHERE state = 'dead'"
            "  AND received_at > now() - interval '1 day')"
            " ORDER BY 1 DESC LIMIT 50"
        )
    )
    return [row.what[:300] for row in rows]


def forget_the_old(connection: Connection) -> None:
    """Drop what nobody needs any more: payloads after 30 days (GitHub keeps its own for three)."""
    connection.execute(
        text(
            "DELETE FROM deliveries WHERE state IN ('done', 'ignored')"
            " AND finished_at < now() - interval '30 days'"
        )
    )
    connection.execute(text("DELETE FROM workers WHERE seen_at < now() - interval '1 day'"))


def release_the_dead(connection: Connection) -> int:
    """End the leases of processes of this host that are no more; returns how many rows.

    Without it their work would wait for the lease to run out. The owner's name stays, so that
    whoever claims an effect next knows that it may have been done already.
    """
    released = 0
    for table in ("deliveries", "outbox"):
        owners = connection.execute(
            text(
                f"SELECT DISTINCT lease_owner FROM {table}"  # noqa: S608
                " WHERE state = 'new' AND lease_until > now()"
            )
        ).scalars()
        for owner in [owner for owner in owners if owner and not lives(owner)]:
            released += connection.execute(
                text(
                    f"UPDATE {table} SET lease_until = now(), fence = fence + 1"  # noqa: S608
                    " WHERE lease_owner = :owner AND state = 'new' AND lease_until > now()"
                ),
                {"owner": owner},
            ).rowcount
    return released
