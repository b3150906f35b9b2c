"""A process's sign of life, and the renewal of what it has in hand."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from app.store import health

logger = logging.getLogger(__name__)

EVERY = 3.0
"""Seconds between two beats; leases last ten."""


class Beat:
    """Beats in a thread of its own while the process lives, also while a job is long."""

    def __init__(
        self,
        engine: Engine,
        kind: str,
        renew: Callable[[Connection], None] = lambda connection: None,
    ) -> None:
        self._engine = engine
        self._kind = kind
        self._renew = renew
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="beat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        try:
            with self._engine.begin() as connection:
                health.sign_off(connection)
        except SQLAlchemyError:
            logger.info("could not sign off; the row will age")

    def _run(self) -> None:
        while True:
            try:
                with self._engine.begin() as connection:
                    health.beat(connection, self._kind)
                    self._renew(connection)
            except SQLAlchemyError as error:
                logger.warning("no beat: %s", str(error).splitlines()[0])
            if self._stop.wait(EVERY):
                return
