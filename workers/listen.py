"""An RQ worker on one queue, in this process, that outlives its Redis."""

from __future__ import annotations

import logging
import time

from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer

from app.queue import connect_redis
from app.settings import Settings

logger = logging.getLogger(__name__)


class _Worker(SimpleWorker):
    """Notices a stop between two jobs, and a Redis that came back, without long sleeps."""

    max_connection_wait_time = 1


def listen(queue: str, settings: Settings) -> None:
    """Take jobs until SIGTERM or SIGINT. When Redis goes away, wait for it."""
    while True:
        redis = connect_redis(settings.redis_url or "")
        try:
            worker = _Worker(
                [Queue(queue, connection=redis, serializer=JSONSerializer)],
                connection=redis,
                serializer=JSONSerializer,
            )
            worker.work(logging_level="WARNING", with_scheduler=False)
        except (RedisError, OSError) as error:
            logger.warning("the bell is away: %s", error)
            time.sleep(0.3)
        else:
            return
