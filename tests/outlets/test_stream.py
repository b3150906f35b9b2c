"""The stream: whole, in order, bounded, and no harm when Redis is away or hangs."""

from __future__ import annotations

import json
import socket

import pytest
from redis import Redis

from app.outlets.stream import NAME, Stream
from tests.outlets.receiver import event
from tests.servers import Backing


def test_events_stand_on_the_stream_in_their_order(backing: Backing) -> None:
    one, two = event(id="7-1-0"), event(id="7-2-0")
    assert Stream(backing.redis_url).publish([one, two.model_dump()])
    with Redis.from_url(backing.redis_url, decode_responses=True) as redis:
        fields = [fields for _, fields in redis.xrange(NAME)]
    assert [json.loads(found["event"])["id"] for found in fields] == ["7-1-0", "7-2-0"]
    assert fields[0] == {"type": "question.escalated", "event": one.model_dump_json()}


def test_the_oldest_are_forgotten(backing: Backing) -> None:
    stream = Stream(backing.redis_url, maxlen=10)
    for number in range(30):
        assert stream.publish([event(id=f"{number}-{more}") for more in range(10)])
    with Redis.from_url(backing.redis_url) as redis:
        assert 10 <= redis.xlen(NAME) < 300


def test_a_connection_that_was_cut_is_made_anew(backing: Backing) -> None:
    stream = Stream(backing.redis_url)
    assert stream.publish([event()])
    with Redis.from_url(backing.redis_url) as redis:
        redis.client_kill_filter(_type="normal", skipme=True)
    assert stream.publish([event()])


def test_redis_away_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    stream = Stream("redis://:s3cr3t@127.0.0.1:9/0")
    assert not stream.publish([event()])
    assert "untold" in caplog.text
    assert "s3cr3t" not in caplog.text
    assert stream.publish([])


def test_a_redis_that_hangs_holds_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not Stream(f"redis://127.0.0.1:{silent.getsockname()[1]}/0").publish([event()])


def test_what_fits_no_schema_is_left_out(
    backing: Backing, caplog: pytest.LogCaptureFixture
) -> None:
    assert not Stream(backing.redis_url).publish([{"type": "nonsense"}, event()])
    assert "fits no schema" in caplog.text
    with Redis.from_url(backing.redis_url) as redis:
        assert redis.xlen(NAME) == 1
