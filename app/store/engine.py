"""The engine, and how JSON of our records looks."""

from __future__ import annotations

import os
import socket
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError

__all__ = [
    "Connection",
    "DatabaseError",
    "Engine",
    "OperationalError",
    "ProgrammingError",
    "connect",
    "from_json",
    "lives",
    "only_one",
    "process_name",
    "to_json",
]

DatabaseError = SQLAlchemyError
"""Whatever the database may raise."""


def normal_url(url: str) -> str:
    """The URL with our driver; `postgres://` and `postgresql://` mean it too."""
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url


def connect(url: str, *, pool: int = 5) -> Engine:
    """An engine that survives a restart of its server: connections are checked before use."""
    return create_engine(
        normal_url(url),
        pool_size=pool,
        max_overflow=pool,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 5, "application_name": "knowledge-router"},
    )


@cache
def _adapter(record: Any) -> TypeAdapter[Any]:
    """The pydantic adapter of a record's type, made once."""
    return TypeAdapter(record)


@contextmanager
def only_one(engine: Engine, lock: int) -> Iterator[bool]:
    """Whether this process is the one that has the lock of that number, for as long as it lasts."""
    with engine.connect() as connection:
        mine = bool(
            connection.execute(text("SELECT pg_try_advisory_lock(:n)"), {"n": lock}).scalar_one()
        )
        try:
            yield mine
        finally:
            if mine:
                connection.execute(text("SELECT pg_advisory_unlock(:n)"), {"n": lock})


def to_json(record: Any) -> Any:
    """A frozen record as plain JSON values."""
    return _adapter(cast(Hashable, type(record))).dump_python(record, mode="json")


def from_json(kind: Any, data: Any) -> Any:
    """The record of type `kind` that `to_json` made this of. Raises `ValidationError`."""
    return _adapter(cast(Hashable, kind)).validate_python(data)


@cache
def process_name() -> str:
    """Names this process so that others on the same host can tell whether it still lives.

    Host, process namespace, id and start time: an id that was given out again is another process.
    """
    return f"{host_name()}/{os.getpid()}/{start_time(os.getpid())}"


@cache
def host_name() -> str:
    """This host and its process namespace."""
    try:
        namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        namespace = "-"
    return f"{socket.gethostname()}/{namespace}"


def start_time(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]


def lives(name: str) -> bool:
    """Whether the process of that name may still live; one of another host always may."""
    host, _, rest = name.rpartition("/")
    host, _, pid = host.rpartition("/")
    if host != host_name() or not pid.isdigit():
        return True
    return start_time(int(pid)) == rest
