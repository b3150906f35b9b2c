"""Events on a Redis stream, for others to build on (specs/2, Subjects)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from app.outlets.schemas import Envelope

logger = logging.getLogger(__name__)

NAME = "kr:events"
_SECONDS = 0.5
"""For each step, connecting and answering: a Redis that hangs must not hold a worker."""


class Stream:
    """`XADD kr:events type … event {JSON}`; the oldest are forgotten beyond about `maxlen`."""

    def __init__(self, redis_url: str, maxlen: int = 10_000) -> None:
        """Connects lazily. Raises `ValueError` for what is no Redis URL."""
        self._redis = Redis.from_url(
            redis_url,
            socket_connect_timeout=_SECONDS,
            socket_timeout=_SECONDS,
            # The pool notices a connection that was cut; a second try would wait as long again.
            retry=Retry(NoBackoff(), 0),
        )
        self._maxlen = maxlen

    def publish(self, events: Sequence[Envelope | Mapping[str, Any]]) -> bool:
        """Add them together in one round trip, in their order.

        False, and a warning, if Redis is away or an event fits no schema: the log has them all.
        """
        fitting = list(_fitting(events))
        try:
            if fitting:
                self._add(fitting)
        except (RedisError, OSError) as error:
            logger.warning("the stream is away, %d events are untold: %s", len(fitting), error)
            return False
        return len(fitting) == len(events)

    def _add(self, events: Sequence[Envelope]) -> None:
        with self._redis.pipeline(transaction=True) as pipe:
            for event in events:
                fields: dict[Any, Any] = {"type": event.type, "event": event.model_dump_json()}
                pipe.xadd(NAME, fields, maxlen=self._maxlen, approximate=True)
            pipe.execute()


def _fitting(events: Sequence[Envelope | Mapping[str, Any]]) -> Iterator[Envelope]:
    for event in events:
        try:
            yield event if isinstance(event, Envelope) else Envelope.model_validate(dict(event))
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            logger.warning("an event fits no schema and is untold: %s", found)
