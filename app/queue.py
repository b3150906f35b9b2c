"""The bell: RQ jobs that carry nothing but the news that there is work in the database.

Everything in Redis may be lost at any moment. A ring that is lost is found by the timer's sweep,
a double one finds nothing to do.
"""

from __future__ import annotations

import logging

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue
from rq.serializers import JSONSerializer

logger = logging.getLogger(__name__)

EVENTS = "events"
OUTBOX = "outbox"
AGENTS = "agents"
QUEUES = (EVENTS, OUTBOX, AGENTS)
JOB = "workers.jobs.drain"
"""Dotted, because `app` imports nothing of `workers`."""
_ENOUGH = 16
"""Rings that wait already: more of them would tell the worker nothing new."""


def connect_redis(url: str) -> Redis:
    """A connection that fails at once instead of waiting for a server that is away."""
    return Redis.from_url(
        url,
        socket_connect_timeout=1.0,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 1),
        health_check_interval=0,
    )


class Bell:
    """Rings the workers of a queue."""

    def __init__(self, redis_url: str) -> None:
        redis = connect_redis(redis_url)
        self._queues = {
            name: Queue(name, connection=redis, serializer=JSONSerializer) for name in QUEUES
        }

    def ring(self, name: str, times: int = 1) -> bool:
        """Tell `times` workers of a queue that there is work. False if Redis is away: no harm."""
        queue = self._queues[name]
        try:
            for _ in range(min(times, _ENOUGH - queue.count)):
                queue.enqueue(JOB, name, job_timeout=120, result_ttl=0, failure_ttl=60)
        except (RedisError, OSError) as error:
            logger.warning("the bell is away, the sweep will ring: %s", error)
            return False
        return True
