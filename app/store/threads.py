"""Features and their questions: loaded whole under a row lock, saved record by record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, text

from app.features.model import Feature, Place, Question
from app.store.engine import from_json, to_json


@dataclass(frozen=True, slots=True)
class Thread:
    """A feature with its questions, and the number that its next log entry will have."""

    feature: Feature
    questions: tuple[Question, ...]
    next_seq: int


def _thread(
    connection: Connection, where: str, values: dict[str, Any], lock: bool
) -> Thread | None:
    suffix = " FOR UPDATE" if lock else ""
    row = connection.execute(
        text(f"SELECT id, data, log_seq FROM features WHERE {where}{suffix}"),  # noqa: S608
        values,
    ).one_or_none()
    if row is None:
        return None
    questions = connection.execute(
        text("SELECT data FROM questions WHERE feature_id = :id ORDER BY number"), {"id": row.id}
    ).scalars()
    feature = replace(from_json(Feature, row.data), id=row.id)
    return Thread(feature, tuple(from_json(Question, data) for data in questions), row.log_seq + 1)


def lock(connection: Connection, repo_id: int, number: int) -> Thread | None:
    """The feature of an issue, locked until the transaction ends; None if there is none."""
    return _thread(
        connection,
        "repo_id = :repo AND number = :number",
        {"repo": repo_id, "number": number},
        True,
    )


def lock_by_id(connection: Connection, feature_id: int) -> Thread | None:
    """The feature with that id, locked until the transaction ends."""
    return _thread(connection, "id = :id", {"id": feature_id}, True)


def read(connection: Connection, repo: str, number: int) -> Thread | None:
    """The feature `repo#number`, as it stands; names are compared without case, as GitHub does."""
    return _thread(
        connection,
        "lower(repo) = lower(:repo) AND number = :number",
        {"repo": repo, "number": number},
        False,
    )


def place_of(connection: Connection, feature_id: int) -> tuple[int, int]:
    """A feature's repository id and issue number. Raises `NoResultFound`."""
    row = connection.execute(
        text("SELECT repo_id, number FROM features WHERE id = :id"), {"id": feature_id}
    ).one()
    return row.repo_id, row.number


def ensure(connection: Connection, place: Place) -> Thread:
    """The feature of an issue, made if it is new, locked until the transaction ends."""
    blank = Feature(id=0, place=place)
    connection.execute(
        text(
            "INSERT INTO features (repo_id, number, repo, installation, state, data)"
            " VALUES (:repo_id, :number, :repo, :installation, :state, CAST(:data AS jsonb))"
            " ON CONFLICT (repo_id, number) DO NOTHING"
        ),
        {
            "repo_id": place.repo_id,
            "number": place.number,
            "repo": place.repo,
            "installation": place.installation,
            "state": blank.state.value,
            "data": json.dumps(to_json(blank)),
        },
    )
    thread = lock(connection, place.repo_id, place.number)
    if thread is None:
        raise LookupError(f"the feature {place} was not stored")
    return thread


def save_feature(connection: Connection, feature: Feature) -> None:
    connection.execute(
        text(
            "UPDATE features SET state = :state, data = CAST(:data AS jsonb), repo = :repo,"
            " installation = :installation, updated_at = now() WHERE id = :id"
        ),
        {
            "state": feature.state.value,
            "data": json.dumps(to_json(feature)),
            "repo": feature.place.repo,
            "installation": feature.place.installation,
            "id": feature.id,
        },
    )


def save_question(connection: Connection, feature_id: int, question: Question) -> None:
    connection.execute(
        text(
            "INSERT INTO questions (feature_id, number, gid, state, topic, data)"
            " VALUES (:feature, :number, :gid, :state, :topic, CAST(:data AS jsonb))"
            " ON CONFLICT (feature_id, number) DO UPDATE SET state = excluded.state,"
            " topic = excluded.topic, data = excluded.data, updated_at = now()"
        ),
        {
            "feature": feature_id,
            "number": question.number,
            "gid": question.gid,
            "state": question.state.value,
            "topic": question.topic,
            "data": json.dumps(to_json(question)),
        },
    )


def listing(connection: Connection, limit: int = 100) -> Sequence[Feature]:
    """The features, newest first."""
    rows = connection.execute(
        text("SELECT id, data FROM features ORDER BY updated_at DESC LIMIT :limit"),
        {"limit": limit},
    )
    return [replace(from_json(Feature, row.data), id=row.id) for row in rows]
