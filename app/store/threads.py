"""Features and their questions: loaded whole under a row lock, saved record by record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, text

from app.features.dispatch import ExecutionTask
from app.features.model import Feature, Place, Question
from app.store.engine import from_json, to_json


@dataclass(frozen=True, slots=True)
class Thread:
    """A feature with its questions and tasks, and the number that its next log entry will have."""

    feature: Feature
    questions: tuple[Question, ...]
    next_seq: int
    tasks: tuple[ExecutionTask, ...] = ()


def _thread(
    connection: Connection, where: str, values: dict[str, Any], lock: bool
) -> Thread | None:
    suffix = " FOR UPDATE" if lock else ""
    row = connection.execute(
        # of two repositories that had the name, the newer one is meant
        text(
            f"SELECT id, data, log_seq FROM features WHERE {where}"  # noqa: S608
            f" ORDER BY id DESC LIMIT 1{suffix}"
        ),
        values,
    ).one_or_none()
    if row is None:
        return None
    questions = connection.execute(
        text("SELECT data FROM questions WHERE feature_id = :id ORDER BY number"), {"id": row.id}
    ).scalars()
    feature = replace(from_json(Feature, row.data), id=row.id)
    every = tuple(from_json(Question, data) for data in questions)
    return Thread(feature, every, row.log_seq + 1, _tasks(connection, row.id))


def _tasks(connection: Connection, feature_id: int) -> tuple[ExecutionTask, ...]:
    rows = connection.execute(
        text("SELECT data FROM tasks WHERE feature_id = :id"), {"id": feature_id}
    ).scalars()
    found = (from_json(ExecutionTask, data) for data in rows)
    return tuple(sorted(found, key=lambda task: task.place))


def lock(connection: Connection, repo_id: int, number: int) -> Thread | None:
    """The feature of an issue, locked until the transaction ends; None if there is none."""
    return _thread(
        connection,
        "repo_id = :repo AND number = :number",
        {"repo": repo_id, "number": number},
        True,
    )


def lock_by_pull(connection: Connection, repo_id: int, pull: int) -> Thread | None:
    """The feature whose pull request it is, locked until the transaction ends."""
    where = "repo_id = :repo AND pull = :pull"
    return _thread(connection, where, {"repo": repo_id, "pull": pull}, True)


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


def read_by_id(connection: Connection, feature_id: int) -> Thread:
    """The feature with that id, as it stands. Raises `LookupError`."""
    thread = _thread(connection, "id = :id", {"id": feature_id}, False)
    if thread is None:
        raise LookupError(f"there is no feature {feature_id}")
    return thread


def place_of(connection: Connection, feature_id: int) -> tuple[int, int]:
    """A feature's repository id and issue number. Raises `NoResultFound`."""
    row = connection.execute(
        text("SELECT repo_id, number FROM features WHERE id = :id"), {"id": feature_id}
    ).one()
    return row.repo_id, row.number


def where(connection: Connection, feature_id: int) -> Place | None:
    """The issue of a feature, or None if there is no such feature."""
    data = connection.execute(
        text("SELECT data->'place' FROM features WHERE id = :id"), {"id": feature_id}
    ).scalar_one_or_none()
    return from_json(Place, data) if data else None


def is_known(connection: Connection, repo_id: int, number: int) -> bool:
    """Whether anything was ever started or asked on an issue."""
    query = text("SELECT 1 FROM features WHERE repo_id = :repo AND number = :number")
    found = connection.execute(query, {"repo": repo_id, "number": number})
    return found.scalar_one_or_none() is not None


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
            " installation = :installation, pull = :pull, updated_at = now() WHERE id = :id"
        ),
        {
            "state": feature.state.value,
            "data": json.dumps(to_json(feature)),
            "repo": feature.place.repo,
            "installation": feature.place.installation,
            "pull": feature.pull or None,
            "id": feature.id,
        },
    )


def save_task(connection: Connection, feature_id: int, task: ExecutionTask) -> None:
    connection.execute(
        text(
            "INSERT INTO tasks (feature_id, name, state, data)"
            " VALUES (:feature, :name, :state, CAST(:data AS jsonb))"
            " ON CONFLICT (feature_id, name) DO UPDATE SET state = excluded.state,"
            " data = excluded.data, updated_at = now()"
        ),
        {
            "feature": feature_id,
            "name": task.name,
            "state": task.state.value,
            "data": json.dumps(to_json(task)),
        },
    )


def save_question(connection: Connection, feature_id: int, question: Question) -> None:
    connection.execute(
        text(
            "INSERT INTO questions (feature_id, number, gid, state, topic, data, due_at, asked,"
            " asked_at) VALUES (:feature, :number, :gid, :state, :topic, CAST(:data AS jsonb),"
            " CAST(:due AS timestamptz), :asked, CAST(:since AS timestamptz))"
            " ON CONFLICT (feature_id, number) DO UPDATE SET state = excluded.state,"
            " topic = excluded.topic, data = excluded.data, due_at = excluded.due_at,"
            " asked = excluded.asked, asked_at = excluded.asked_at, updated_at = now()"
        ),
        {
            "feature": feature_id,
            "number": question.number,
            "gid": question.gid,
            "state": question.state.value,
            "topic": question.topic,
            "data": json.dumps(to_json(question)),
            "due": question.clock.next_at or None,
            "asked": (question.asked or "").lower() or None,
            "since": question.clock.since or None,
        },
    )


def settled_in(connection: Connection, repo: str, limit: int = 500) -> list[tuple[str, Question]]:
    """The settled questions of a repository, newest first, each with its feature's name."""
    rows = connection.execute(
        text(
            "SELECT f.repo || '#' || f.number AS feature, q.data FROM questions AS q"
            " JOIN features AS f ON f.id = q.feature_id WHERE lower(f.repo) = lower(:repo)"
            " AND q.state IN ('accepted', 'confirmed', 'corrected')"
            " ORDER BY q.updated_at DESC LIMIT :limit"
        ),
        {"repo": repo, "limit": limit},
    )
    return [(row.feature, from_json(Question, row.data)) for row in rows]


def feature_of(connection: Connection, gid: str) -> tuple[int, int] | None:
    """The feature and number of the question with that global name, or None."""
    row = connection.execute(
        text("SELECT feature_id, number FROM questions WHERE gid = :gid"), {"gid": gid}
    ).one_or_none()
    return (row.feature_id, row.number) if row else None


def listing(connection: Connection, limit: int = 100) -> Sequence[Feature]:
    """The features, newest first."""
    rows = connection.execute(
        text("SELECT id, data FROM features ORDER BY updated_at DESC LIMIT :limit"),
        {"limit": limit},
    )
    return [replace(from_json(Feature, row.data), id=row.id) for row in rows]
