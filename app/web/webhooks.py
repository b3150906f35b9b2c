"""`POST /webhooks/github`: verify, store, commit, ring, answer. A bare ASGI route."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson
import psycopg

from app.github.payloads import envelope
from app.github.signature import genuine
from app.store.inbox import Arrival, Inbox

logger = logging.getLogger(__name__)

PATH = "/webhooks/github"
LARGEST = 25 * 1024 * 1024
"""Bytes; GitHub sends no more."""
_LONGEST_ID = 200

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Answer(Exception):
    """An answer that ends the request: a status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class Webhooks:
    """The route. `secret` is None where none is set: then nothing is taken in."""

    def __init__(self, secret: str | None, inbox: Callable[[], Inbox]) -> None:
        self._secret = secret
        self._inbox = inbox

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            status, sentence = 202, await self._take(scope, receive)
        except Answer as answer:
            status, sentence = answer.status, answer.sentence
        body = sentence.encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
        ]
        if status == 405:
            headers.append((b"allow", b"POST"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _take(self, scope: Scope, receive: Receive) -> str:
        """The checks in the order that the documentation promises."""
        if scope["method"] != "POST":
            raise Answer(405, "Webhooks are POSTed here.")
        if not self._secret:
            raise Answer(503, "No webhook secret is set. Open /setup, or set it and start again.")
        headers = {name: value for name, value in scope["headers"] if name in _WANTED}
        body = await _body(headers, receive)
        if not _is_json(headers.get(b"content-type", b"")):
            raise Answer(415, "Set the webhook's content type to application/json.")
        signature = headers.get(b"x-hub-signature-256", b"").decode("latin-1")
        if not genuine(self._secret, body, signature):
            raise Answer(401, "The signature does not fit: the App's secret and ours differ.")
        arrival = _arrival(headers, body)
        return await self._store(arrival)

    async def _store(self, arrival: Arrival) -> str:
        try:
            await self._inbox().store(arrival)
        except (psycopg.Error, OSError) as error:
            logger.error("delivery %s was not stored: %s", arrival.guid, error)
            raise Answer(
                500, "It could not be stored; it will be asked for again when the database is back."
            ) from error
        name = f"{arrival.event}.{arrival.action}" if arrival.action else arrival.event
        if not arrival.used:
            return f"{name} is stored; nothing is to be done about it."
        return f"{name} is stored and will be worked on."


_WANTED = frozenset(
    {
        b"content-type",
        b"content-length",
        b"x-hub-signature-256",
        b"x-github-delivery",
        b"x-github-event",
    }
)


def _is_json(content_type: bytes) -> bool:
    return content_type.split(b";")[0].strip().lower() == b"application/json"


async def _body(headers: dict[bytes, bytes], receive: Receive) -> bytes:
    """The raw bytes. Raises `Answer` with 413 as soon as there are too many."""
    too_large = Answer(413, "The body is larger than the 25 MB that GitHub sends.")
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced) > LARGEST:
        raise too_large
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Answer(400, "The connection ended early.")
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > LARGEST:
            raise too_large
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def _parsed(body: bytes) -> object:
    """The payload. What the quick parser is too strict for, the slow one may take."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Answer(400, "The body is not JSON.") from error


def _arrival(headers: dict[bytes, bytes], body: bytes) -> Arrival:
    guid = headers.get(b"x-github-delivery", b"").decode("latin-1").strip()
    if not guid or len(guid) > _LONGEST_ID or not guid.isprintable() or guid.startswith("kr:"):
        raise Answer(400, "The header X-GitHub-Delivery with the delivery's id is missing.")
    payload = _parsed(body)
    event = headers.get(b"x-github-event", b"").decode("latin-1")[:100]
    read = envelope(event.replace("\x00", ""), payload)
    if read.event == "kr":  # that name is for events of our own
        raise Answer(400, "There is no such event.")
    return Arrival(
        guid, read.event, read.action[:100], read.repo_id, read.issue, body, used=read.used
    )
