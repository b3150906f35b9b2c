"""What is told to others: where it may go, how it is signed, and that no secret leaks."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from redis import Redis

from app.actions import Record
from app.outlets import addresses
from app.outlets.addresses import Refused, public_address
from app.outlets.hooks import Delivered, Hook, deliver
from app.outlets.notify import send
from app.outlets.schemas import DATA, Envelope, check, schemas
from app.outlets.stream import NAME, Stream
from app.outward import told
from tests.servers import Backing

RECORDS = [
    Record(7, 1, "question", "@baron", "Q1", {"topic": "a", "text": "Why?", "target": None}),
    Record(7, 2, "routing", "@baron", "Q1", {"answerer": "tool/docs"}),
    Record(7, 3, "asked", "@baron", "Q1", {"role": "tool/docs", "round": 1}),
    Record(7, 4, "asked", "@baron", "Q1", {"role": "architect", "round": 2}),
    Record(
        7,
        5,
        "answer",
        "@duc",
        "Q1",
        {"confidence": 92, "verdict": "accepted", "threshold": 80},
    ),
    Record(7, 6, "timeout", "@baron", "Q1", {"answerer": "team/core", "sla": "1h"}),
    Record(7, 7, "escalation", "@baron", "Q1", {"to": "mara", "because": "time"}),
    Record(
        7,
        8,
        "settled",
        "@mara",
        "Q1",
        {"state": "corrected", "source": "@mara", "validated_by": "human", "answer": "x" * 9000},
    ),
    Record(7, 9, "notification", "@baron", "Q1", {"channel": "slack://a", "ok": True}),
]


def events() -> list[dict]:
    return told(RECORDS, "acme/storefront#7", {"Q1": "q-abc123"}, "2026-11-21T09:00:00.000+00:00")


def test_every_type_is_told_in_order_and_fits_its_schema() -> None:
    found = events()
    assert [event["type"] for event in found] == [
        "question.created",
        "tool.task",
        "question.answered",
        "question.accepted",
        "question.timeout",
        "question.escalated",
        "question.settled",
        "notification.sent",
    ]
    assert {event["type"] for event in found} == set(DATA) == set(schemas())
    assert len({event["id"] for event in found}) == len(found)
    for event in found:
        assert check(event).gid == "q-abc123"


def test_a_schema_refuses_what_does_not_fit() -> None:
    event = events()[0]
    with pytest.raises(ValueError, match="text"):
        check({**event, "data": {"topic": "a"}})
    with pytest.raises(KeyError):
        check({**event, "type": "question.invented"})


def test_the_stream_holds_them_and_its_absence_is_no_harm(backing: Backing) -> None:
    assert Stream(backing.redis_url).publish(events())
    with Redis.from_url(backing.redis_url, decode_responses=True) as redis:
        entries = redis.xrevrange(NAME, count=8)
    assert json.loads(entries[-1][1]["event"]) == events()[0]
    assert not Stream("redis://127.0.0.1:9/0").publish(events())
    assert Stream("redis://127.0.0.1:9/0").publish([])


# --- where it may go

INSIDE = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://10.0.0.8/",
    "http://172.16.3.4/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://user:word@93.184.216.34/",
    "file:///etc/passwd",
    "gopher://93.184.216.34/",
    "redis://127.0.0.1:6379/",
    "http:///nothing",
    "nonsense",
    "",
]


@pytest.mark.parametrize("url", INSIDE)
def test_nothing_inside_is_spoken_to(url: str) -> None:
    with pytest.raises(Refused):
        asyncio.run(public_address(url))


def names(monkeypatch: pytest.MonkeyPatch, *found: str) -> None:
    async def resolve(host: str, port: int) -> list:
        return [addresses.ipaddress.ip_address(one) for one in found]

    monkeypatch.setattr(addresses, "_resolve", resolve)


def test_a_name_outside_is_pinned_to_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, "93.184.216.34")
    target = asyncio.run(public_address("https://board.example/kr?x=1"))
    assert str(target.url) == "https://93.184.216.34/kr?x=1"
    assert (target.host, target.name) == ("board.example", "board.example")


def test_one_address_inside_among_others_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names(monkeypatch, "93.184.216.34", "10.0.0.1")
    with pytest.raises(Refused, match="allow_hosts"):
        asyncio.run(public_address("https://board.example/"))


# --- webhooks


class Receiver(ThreadingHTTPServer):
    """Keeps what it gets; answers with `status`."""

    daemon_threads = True
    status = 204

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.more: dict[str, str] = {}
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.port = self.server_port


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.got.append((dict(self.headers), body))
        self.send_response(self.server.status)
        for name, value in self.server.more.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def post(receiver: Receiver, allow: bool = True) -> Delivered:
    async def go() -> Delivered:
        allowed = frozenset({f"127.0.0.1:{receiver.port}"}) if allow else frozenset[str]()
        hook = Hook(f"http://127.0.0.1:{receiver.port}/kr", "a secret")
        async with httpx.AsyncClient() as client:
            return await deliver(client, hook, Envelope(**events()[0]), allow=allowed)

    return asyncio.run(go())


def test_a_webhook_is_signed_over_its_raw_body(receiver: Receiver) -> None:
    assert post(receiver) == Delivered(True, True)
    headers, body = receiver.got[0]
    expected = hmac.new(b"a secret", body, hashlib.sha256).hexdigest()
    assert headers["X-KR-Signature-256"] == f"sha256={expected}"
    assert headers["X-KR-Event"] == "question.created"
    assert json.loads(body)["id"] == headers["X-KR-Delivery"]


@pytest.mark.parametrize(
    ("status", "more", "final", "wait"),
    [
        (410, {}, True, None),
        (404, {}, True, None),
        (302, {"Location": "http://127.0.0.1:9/"}, True, None),
        (500, {}, False, None),
        (503, {"Retry-After": "7"}, False, 7.0),
        (429, {"Retry-After": "soon"}, False, None),
    ],
)
def test_which_refusals_are_final(
    receiver: Receiver, status: int, more: dict, final: bool, wait: float | None
) -> None:
    receiver.status, receiver.more = status, more
    outcome = post(receiver)
    assert (outcome.ok, outcome.final, outcome.wait) == (False, final, wait)
    assert str(status) in outcome.reason
    assert len(receiver.got) == 1


def test_an_internal_receiver_must_be_named(receiver: Receiver) -> None:
    outcome = post(receiver, allow=False)
    assert (outcome.ok, outcome.final) == (False, True)
    assert receiver.got == []


def test_nobody_there_is_tried_again(receiver: Receiver) -> None:
    receiver.shutdown()
    receiver.server_close()
    outcome = post(receiver)
    assert (outcome.ok, outcome.final) == (False, False)
    receiver.__init__()  # so that the fixture has something to close
    threading.Thread(target=receiver.serve_forever, args=(0.02,), daemon=True).start()


# --- channels


def test_a_channel_is_told(receiver: Receiver) -> None:
    receiver.status = 200
    url = f"json://127.0.0.1:{receiver.port}/topic"
    assert asyncio.run(send(url, "A question", "Why?")) is None
    assert b"Why?" in receiver.got[0][1]


@pytest.mark.parametrize(
    "url", ["json://user:s3cr3t@127.0.0.1:9/", "nonsense://s3cr3t", "", "slack://s3cr3t"]
)
def test_a_failing_channel_tells_why_and_no_secret(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    reason = asyncio.run(send(url, "A question", "Why?"))
    assert reason
    assert "s3cr3t" not in reason + caplog.text
