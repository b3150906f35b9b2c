"""What owners allowed outside of scopes: for one commit of a pull request, and for a time."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection, text

from app.actions import SaveAllowance
from app.features.model import Place
from app.scopes.pulls import Allowance
from app.store.engine import from_json, to_json


def save(connection: Connection, action: SaveAllowance) -> None:
    """Keep it; said again, the newest word counts."""
    one = action.allowance
    connection.execute(
        text(
            "INSERT INTO allowances (repo_id, pull, head, path, by, reason, until, place)"
            " VALUES (:repo, :pull, :head, :path, :by, :reason, CAST(:until AS timestamptz),"
            " CAST(:place AS jsonb)) ON CONFLICT (repo_id, pull, head, path) DO UPDATE SET"
            " by = excluded.by, reason = excluded.reason, until = excluded.until, ended = false"
        ),
        {
            "repo": action.place.repo_id,
            "pull": action.place.number,
            "head": action.head,
            "path": one.path,
            "by": one.by,
            "reason": one.reason,
            "until": one.until,
            "place": json.dumps(to_json(action.place)),
        },
    )


def standing(connection: Connection, repo_id: int, pull: int, head: str) -> tuple[Allowance, ...]:
    """Those that hold now for a commit."""
    rows = connection.execute(
        text(
            "SELECT path, by, reason, until FROM allowances WHERE repo_id = :repo AND pull = :pull"
            " AND head = :head AND until > now() ORDER BY at, path"
        ),
        {"repo": repo_id, "pull": pull, "head": head},
    )
    return tuple(
        Allowance(row.path, row.by, row.reason, row.until.isoformat(timespec="seconds"))
        for row in rows
    )


@dataclass(frozen=True, slots=True)
class Ended:
    """A commit for which an allowance has run out."""

    place: Place
    head: str


def ended(connection: Connection) -> list[Ended]:
    """The commits for which one has run out since this was asked last."""
    rows = connection.execute(
        text(
            "UPDATE allowances SET ended = true WHERE NOT ended AND until <= now()"
            " RETURNING head, place"
        )
    )
    found = {(row.head, json.dumps(row.place, sort_keys=True)): row for row in rows}
    return [Ended(from_json(Place, row.place), row.head) for row in found.values()]
