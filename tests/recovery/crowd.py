"""Many features at once in a town: opened together, shot at while they run, then counted."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from app.config.shipped import shipped_folder
from app.embedded.servers import Servers
from app.features.model import Feature, Question
from app.store import log
from app.store.engine import connect, from_json
from tests.recovery.town import Town

QUESTIONS = 15
VICTIMS = ("web", "events-1", "events-2", "outbox", "agents", "timer")
TITLE = "Let customers download their invoices"
BODY = """Customers sign in to their account to look at orders and invoices. They want to upload
files, search the list, export a report as CSV, get a notification by email, and pay with a form.
An admin imports customers, changes roles, and calls our API. A job runs every night.
"""
"""Brings up so much that the shipped bank has more than `QUESTIONS` questions about it."""
STALLED = 90.0
"""Seconds without any progress after which it stands still; lost webhooks are fetched each 60."""

_PROGRESS = text(
    """
    SELECT (SELECT count(*) FROM features WHERE state IN ('waiting', 'done')),
           (SELECT count(*) FROM deliveries WHERE state = 'new'),
           (SELECT count(*) FROM outbox WHERE state = 'new'),
           (SELECT coalesce(sum(log_seq), 0) FROM features),
           (SELECT count(*) FROM outbox WHERE state = 'done')
    """
)
_LOST = text(
    """
    SELECT 'delivery ' || guid || ': ' || coalesce(error, '') FROM deliveries WHERE state = 'dead'
    UNION ALL
    SELECT 'effect ' || key || ': ' || coalesce(error, '') FROM outbox WHERE state = 'failed'
    """
)


def configuration(folder: Path, limit: int = QUESTIONS) -> Path:
    """The shipped configuration with another limit of questions, in `folder`."""
    shutil.copytree(shipped_folder(), folder)
    (folder / "baron.yaml").write_text(f"questions:\n  limit: {limit}\n")
    return folder


@contextmanager
def database(town: Town) -> Iterator[Engine]:
    """The database of a town that runs."""
    url, _ = Servers(town.folder).find()
    assert url, "the town has no database"
    engine = connect(url, pool=1)
    try:
        yield engine
    finally:
        engine.dispose()


def open_all(town: Town, count: int) -> list[int]:
    """That many labelled issues, as many at once as eight people can open. Their numbers."""
    with ThreadPoolExecutor(8) as people:
        return list(people.map(lambda n: town.open(f"{TITLE} {n}", BODY), range(count)))


def wait_for_rest(engine: Engine, count: int) -> None:
    """Until `count` features wait for people or are done, and nothing else is to be done.

    Fails with the counts when nothing has moved for `STALLED` seconds.
    """
    before: tuple[int, ...] = ()
    since = time.monotonic()
    while True:
        with engine.connect() as connection:
            now = tuple(connection.execute(_PROGRESS).one())
        if now[:3] == (count, 0, 0):
            return
        if now != before:
            before, since = now, time.monotonic()
        names = ("features at rest", "deliveries", "effects", "log entries", "effects done")
        state = dict(zip(names, now, strict=True))
        assert time.monotonic() - since < STALLED, f"{count} features stand still: {state}"
        time.sleep(0.5)


@dataclass
class Killer:
    """Kills one of `VICTIMS` every few seconds, with SIGKILL, within the `with` block."""

    town: Town
    chance: random.Random
    pause: tuple[float, float] = (2.0, 8.0)
    """Seconds between two kills, from and to; a process needs two of a core to start."""
    killed: Counter[str] = field(default_factory=Counter)

    def __enter__(self) -> Killer:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self.chance.uniform(*self.pause)):
            victim = self.chance.choice(VICTIMS)
            if victim in self.town.pids():
                self.town.kill(victim)
                self.killed[victim] += 1


@dataclass(frozen=True, slots=True)
class Kept:
    """A feature as the database keeps it."""

    feature: Feature
    questions: tuple[Question, ...]
    log: tuple[log.Entry, ...]

    @property
    def with_people(self) -> set[str]:
        """The names of the questions that wait for a person."""
        return {one.name for one in self.questions if one.waits_for_a_person}


def kept(connection: Connection) -> list[Kept]:
    """Every feature, with its questions and its log."""
    rows = connection.execute(text("SELECT id, data FROM features ORDER BY id")).all()
    return [
        Kept(from_json(Feature, row.data), _questions(connection, row.id), _log(connection, row.id))
        for row in rows
    ]


def given_up(connection: Connection) -> list[str]:
    """What the service has stopped trying to do, each with its error."""
    return list(connection.execute(_LOST).scalars())


def _questions(connection: Connection, feature_id: int) -> tuple[Question, ...]:
    found = connection.execute(
        text("SELECT data FROM questions WHERE feature_id = :id ORDER BY number"),
        {"id": feature_id},
    ).scalars()
    return tuple(from_json(Question, data) for data in found)


def _log(connection: Connection, feature_id: int) -> tuple[log.Entry, ...]:
    return tuple(log.entries(connection, feature_id))
