"""Migrations: run by `kr migrate` and before the processes start."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from app.store.engine import connect

_LOCK = 7_305_412  # one migration at a time, whoever starts it


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def migrate(database_url: str) -> None:
    """Bring the database to this version's schema. Waits for a migration that runs elsewhere."""
    engine = connect(database_url, pool=1)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def pending(database_url: str) -> bool:
    """Whether the database lacks a migration of this version. Raises if it cannot be reached."""
    engine = connect(database_url, pool=1)
    try:
        with engine.connect() as connection:
            return not at_head(connection)
    finally:
        engine.dispose()


def at_head(connection: Connection) -> bool:
    """Whether the schema is this version's."""
    current = MigrationContext.configure(connection).get_current_revision()
    return current == ScriptDirectory.from_config(_config()).get_current_head()
