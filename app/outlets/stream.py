"""Events on a Redis stream, for others to build on (specs/2, Subjects)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from redis.exceptions import RedisError

from app.queue import connect_redis

logger = logging.getLogger(__name__)

NAME = "kr:events"


class Stream:
    """`XADD kr:events type … event {JSON}`; the oldest are forgotten beyond `maxlen`."""

    def __init__(self, redis_url: str, maxlen: int = 10_000) -> None:
        self._redis = connect_redis(redis_url)
        self._maxlen = maxlen

    def publish(self, events: Sequence[Mapping[str, Any]]) -> bool:
        """Add them in one round trip. False if Redis is away: the log has them all."""
        if not events:
            return True
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                for event in events:
                    fields = {"type": str(event["type"]), "event": json.dumps(event)}
                    pipe.xadd(NAME, fields, maxlen=self._maxlen, approximate=True)  # type: ignore[arg-type]
                pipe.execute()
        except (RedisError, OSError) as error:
            logger.warning("the stream is away: %s", error)
            return False
        return True
