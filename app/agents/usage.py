"""The three wire formats: their paths and errors, what a call may use, what it used.

A request tells the model and the largest output, a response (JSON or server-sent events) the
tokens as the provider counted them. `Metering` brings both to the meter.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from app.agents.protocols import Account, Meter, Tokens
from app.questions.model import Cost

logger = logging.getLogger(__name__)

Wire = Literal["anthropic", "openai", "google"]

Spent = Callable[[Cost], None]
NONE = Tokens()

USUAL_OUTPUT = 8192
"""Tokens of output, where a request names no limit."""
BYTES_PER_TOKEN = 3
"""Of a request's body; rather too few, so that the estimate is rather too high."""
LARGEST_READ = 32 * 1024 * 1024
"""Bytes of a response, or of one event, that are read for its usage; a larger one goes unread."""

_PATHS: Mapping[Wire, re.Pattern[str]] = {
    "anthropic": re.compile(r"/v1/messages(/count_tokens)?"),
    "openai": re.compile(r"/v1/(chat/completions|responses)"),
    "google": re.compile(
        r"/v1beta/models/(?P<model>[A-Za-z0-9_.-]+):(generate|streamGenerate)Content"
    ),
}
_LIMITS: Mapping[Wire, tuple[str, ...]] = {
    "anthropic": ("max_tokens",),
    "openai": ("max_completion_tokens", "max_output_tokens", "max_tokens"),
    "google": ("maxOutputTokens",),
}
_KINDS: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "UNAUTHENTICATED"),
    403: ("permission_error", "PERMISSION_DENIED"),
    404: ("not_found_error", "NOT_FOUND"),
    413: ("request_too_large", "INVALID_ARGUMENT"),
    503: ("api_error", "UNAVAILABLE"),
}
_LAST = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})


def allowed(wire: Wire, path: str) -> bool:
    """Whether a call may go to this path; it starts with the version, `/v1/messages`."""
    return _PATHS[wire].fullmatch(path) is not None


def error(wire: Wire, status: int, message: str) -> bytes:
    """An error as clients of this wire format expect it."""
    kind, code = _KINDS[status]
    shapes: Mapping[Wire, dict[str, Any]] = {
        "anthropic": {"type": "error", "error": {"type": kind, "message": message}},
        "openai": {"error": {"message": message, "type": kind, "param": None, "code": None}},
        "google": {"error": {"code": status, "message": message, "status": code}},
    }
    return orjson.dumps(shapes[wire])


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for. Its body asks for the usage, too, where that has to be asked."""

    model: str
    most: Tokens
    """What the call may use at most: an estimate of what is read, the limit of what is written."""
    body: bytes
    metered: bool = True
    """False for what is free of charge: counting tokens."""
    streams: bool = False
    """Whether the answer comes in pieces; else nothing is heard until it is whole."""


def read_request(wire: Wire, path: str, body: bytes) -> Asked:
    """What the request asks for. Raises `ValueError` if the body is not a JSON object."""
    fields = orjson.loads(body)
    if not isinstance(fields, dict):
        raise ValueError("the body has to be a JSON object")
    named = _PATHS["google"].fullmatch(path)
    model = named["model"] if named else fields.get("model")
    return Asked(
        model if isinstance(model, str) else "",
        Tokens(read=len(body) // BYTES_PER_TOKEN, written=_largest(wire, fields)),
        _with_usage(fields) or body if path == "/v1/chat/completions" else body,
        metered=not path.endswith("/count_tokens"),
        streams=bool(fields.get("stream")) or path.endswith(":streamGenerateContent"),
    )


def _largest(wire: Wire, fields: Mapping[str, Any]) -> int:
    """The largest output in tokens, of all answers if several are asked for."""
    place = _mapping(fields.get("generationConfig")) if wire == "google" else fields
    limits = [_count(place, name) for name in _LIMITS[wire]]
    answers = _count(place, "candidateCount" if wire == "google" else "n")
    return (max(limits) or USUAL_OUTPUT) * max(1, answers)


def _with_usage(fields: dict[str, Any]) -> bytes | None:
    """The body of a streaming chat completion that tells its usage at the end."""
    options = _mapping(fields.get("stream_options"))
    if not fields.get("stream") or options.get("include_usage") is True:
        return None
    return orjson.dumps(fields | {"stream_options": {**options, "include_usage": True}})


class Reading:
    """Reads along while a response is passed on: the model and the tokens."""

    def __init__(self, wire: Wire, content_type: str) -> None:
        self._wire = wire
        self._events = content_type.lower().startswith("text/event-stream")
        self._rest = bytearray()
        self._usage: dict[str, Any] = {}
        self._counted = False
        self._lost = False
        self.model = ""
        """As upstream named it; empty if it did not."""
        self.done = False
        """Whether the last event of a stream was seen, after which a client may hang up."""

    def feed(self, chunk: bytes) -> None:
        """Read the next piece of the body."""
        if self._lost:
            return
        self._rest += chunk
        if self._events and b"\n" in chunk:
            *lines, rest = self._rest.split(b"\n")
            self._rest = rest
            for line in lines:
                self._line(line)
        if len(self._rest) > LARGEST_READ:
            self._lost = True
            self._rest.clear()

    def tokens(self) -> Tokens | None:
        """What the whole response used; None if it does not tell."""
        if self._rest and not self._lost:
            rest, self._rest = self._rest, bytearray()
            self._line(rest) if self._events else self._json(rest)
        if self._lost or not self._counted:
            return None
        return _TOKENS[self._wire](self._usage)

    def _line(self, line: bytearray) -> None:
        if not line.startswith(b"data:"):
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.done = True
        else:
            self._json(data)

    def _json(self, data: bytearray) -> None:
        try:
            found = orjson.loads(data)
        except ValueError:
            return
        # Google streams an array of responses unless it is asked for events.
        for event in found if isinstance(found, list) else [found]:
            if isinstance(event, dict):
                self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        inner = _mapping(event.get("message")) or _mapping(event.get("response")) or event
        model = inner.get("modelVersion" if self._wire == "google" else "model")
        if isinstance(model, str) and model:
            self.model = model
        usage = _mapping(inner.get("usageMetadata" if self._wire == "google" else "usage"))
        self._usage.update((name, value) for name, value in usage.items() if value is not None)
        # What Anthropic tells at the start is not yet what was written.
        if usage and kind != "message_start":
            self._counted = True
        if self._events and kind in _LAST:
            self.done = True


def _anthropic(usage: Mapping[str, Any]) -> Tokens:
    return Tokens(
        read=_count(usage, "input_tokens"),
        written=_count(usage, "output_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
        cache_written=_count(usage, "cache_creation_input_tokens"),
    )


def _openai(usage: Mapping[str, Any]) -> Tokens:
    """Of a chat completion or of a response, which call the same things differently."""
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    cached = _count(_mapping(details), "cached_tokens")
    read = _count(usage, "prompt_tokens") or _count(usage, "input_tokens")
    written = _count(usage, "completion_tokens") or _count(usage, "output_tokens")
    return Tokens(read=max(0, read - cached), written=written, cache_read=cached)


def _google(usage: Mapping[str, Any]) -> Tokens:
    cached = _count(usage, "cachedContentTokenCount")
    read = _count(usage, "promptTokenCount") + _count(usage, "toolUsePromptTokenCount")
    written = _count(usage, "candidatesTokenCount") + _count(usage, "thoughtsTokenCount")
    return Tokens(read=max(0, read - cached), written=written, cache_read=cached)


_TOKENS = {"anthropic": _anthropic, "openai": _openai, "google": _google}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


class Metering:
    """One call in the books: begun when entered, ended once, whatever happens to the call.

    Raises `OverBudget` when entered. `spent` is told what the call cost.
    """

    def __init__(
        self, meter: Meter, account: Account, provider: str, asked: Asked, spent: Spent
    ) -> None:
        self._meter = meter
        self._begins = (account, provider, asked.model, asked.most)
        self._metered = asked.metered
        self._spent = spent
        self._call: int | None = None
        self.tokens: Tokens | None = NONE
        """What it used; None while that is not known."""

    async def __aenter__(self) -> Metering:
        try:
            await undisturbed(self._begin())
        except asyncio.CancelledError:
            await self.settle()
            raise
        self.tokens = None
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self.settle()

    async def settle(self) -> None:
        """End it, if that was not done yet."""
        call, self._call = self._call, None
        if call is not None:
            await undisturbed(self._end(call))

    async def again(self) -> None:
        """It may have been paid for and is made once more. Raises `OverBudget`."""
        self.tokens = None
        await self.settle()
        await undisturbed(self._begin())

    async def _begin(self) -> None:
        if self._metered:
            self._call = await self._meter.begin(*self._begins)

    async def _end(self, call: int) -> None:
        used = self.tokens or NONE
        usd: float | None = None
        try:
            usd = await self._meter.end(call, self.tokens)
        except Exception as fault:
            logger.error("a call could not be ended in the books: %s", type(fault).__name__)
        # Nothing costs nothing, whether or not the price of the model is known.
        usd = 0.0 if self.tokens == NONE else usd
        read = used.read + used.cache_read + used.cache_written
        self._spent(Cost(usd, read, used.written, 1))


async def undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """Do it to the end even if cancelled meanwhile, and only then be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # it is seen, and gives way to the cancellation
        raise
