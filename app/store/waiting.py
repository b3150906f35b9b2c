"""What waits for people, over all features: whose time is up, and how much each was asked."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

from app.features.model import Feature, Place
from app.store.engine import from_json


@dataclass(frozen=True, slots=True)
class Overdue:
    """A question whose clock has struck, and the moment it was set to."""

    feature_id: int
    repo_id: int
    issue: int
    question: int
    at: str


def overdue(connection: Connection, limit: int = 500) -> list[Overdue]:
    """Questions whose moment has come, the oldest first; a paused feature's clocks stand still."""
    rows = connection.execute(
        text(
            "SELECT q.feature_id, f.repo_id, f.number AS issue, q.number AS question,"
            " CASE WHEN q.data->'clock'->>'remind_at' <> ''"
            " AND NOT (q.data->'clock'->>'reminded')::boolean"
            " THEN q.data->'clock'->>'remind_at' ELSE q.data->'clock'->>'deadline' END AS at"
            " FROM questions AS q JOIN features AS f ON f.id = q.feature_id"
            " WHERE q.due_at <= now() AND f.state NOT IN ('stopped', 'gone')"
            " ORDER BY q.due_at LIMIT :limit"
        ),
        {"limit": limit},
    )
    return [Overdue(**row._mapping) for row in rows]


def load(connection: Connection, feature_id: int | None) -> dict[str, tuple[int, int]]:
    """Who was asked → open questions in all, and how many were put to them since midnight UTC.

    Of the feature's own installation, so that one organisation's questions do not hold up another.
    """
    rows = connection.execute(
        text(
            "SELECT q.asked, count(*) FILTER (WHERE q.state = 'escalated') AS open,"
            " count(*) FILTER (WHERE q.asked_at >= date_trunc('day', now(), 'UTC')) AS today"
            " FROM questions AS q JOIN features AS f ON f.id = q.feature_id"
            " WHERE q.asked IS NOT NULL AND (q.state = 'escalated' OR q.asked_at >="
            " date_trunc('day', now(), 'UTC')) AND f.installation ="
            " (SELECT installation FROM features WHERE id = :feature) GROUP BY q.asked"
        ),
        {"feature": feature_id},
    )
    return {row.asked: (row.open, row.today) for row in rows}


def open_for(connection: Connection, repo_id: int, number: int) -> list[str]:
    """Whom the open questions of an issue were put to; empty if nobody is waited for."""
    rows = connection.execute(
        text(
            "SELECT DISTINCT q.asked FROM questions AS q JOIN features AS f"
            " ON f.id = q.feature_id WHERE f.repo_id = :repo AND f.number = :number"
            " AND q.asked IS NOT NULL"
            " AND q.state IN ('escalated', 'timeout', 'asking', 'deferred')"
        ),
        {"repo": repo_id, "number": number},
    )
    return list(rows.scalars())


def feature_of(connection: Connection, place: Place, pull: bool) -> Feature | None:
    """The feature of an issue, or of a pull request, as it stands; None if there is none."""
    column = "pull" if pull else "number"
    data = connection.execute(
        text(
            f"SELECT data FROM features WHERE repo_id = :repo AND {column} = :number"  # noqa: S608 - one of two names
            " ORDER BY id DESC LIMIT 1"
        ),
        {"repo": place.repo_id, "number": place.number},
    ).scalar_one_or_none()
    return from_json(Feature, data) if data else None
