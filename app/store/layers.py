"""The last good text of every layer of the configuration, and the rules set while running."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.store.engine import Engine


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Routing rules that an administrator set, by whom and when (ISO 8601, UTC)."""

    revision: int
    rules: tuple[Mapping[str, Any], ...]
    set_by: str
    set_at: str


class Layers:
    """Satisfies `app.config.inforce.Kept`. Without a database nothing is remembered."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def last_good(self, repo: str, path: str) -> str | None:
        """The text that was last remembered."""
        try:
            with self._engine.connect() as connection:
                found: str | None = connection.execute(
                    text("SELECT text FROM layers WHERE repo = :repo AND path = :path"),
                    {"repo": repo.lower(), "path": path},
                ).scalar_one_or_none()
        except SQLAlchemyError:
            return None
        return found

    def remember(self, repo: str, path: str, content: str | None) -> None:
        """Keep a text that has come into force."""
        with self._engine.begin() as connection:
            connection.execute(
                text(
                    "INSERT INTO layers (repo, path, text) VALUES (:repo, :path, :text)"
                    " ON CONFLICT (repo, path) DO UPDATE SET text = excluded.text,"
                    " updated_at = now()"
                ),
                {"repo": repo.lower(), "path": path, "text": content},
            )

    def newest_rules(self) -> RuleSet | None:
        """The rules that were set last; None if none ever were. Raises `SQLAlchemyError`."""
        found = self.history(1)
        return found[0] if found else None

    def history(self, limit: int = 100) -> list[RuleSet]:
        """Every set of rules, the newest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                text(
                    "SELECT revision, text, set_by, set_at FROM rules"
                    " ORDER BY revision DESC LIMIT :limit"
                ),
                {"limit": limit},
            ).all()
        return [
            RuleSet(row.revision, tuple(json.loads(row.text)), row.set_by, row.set_at.isoformat())
            for row in rows
        ]

    def set_rules(self, rules: Sequence[Mapping[str, Any]], by: str) -> int:
        """Put new rules before the server's. Returns their revision; none is ever changed."""
        with self._engine.begin() as connection:
            revision = connection.execute(
                text("INSERT INTO rules (text, set_by) VALUES (:text, :by) RETURNING revision"),
                {"text": json.dumps(list(rules)), "by": by},
            ).scalar_one()
        return int(revision)
