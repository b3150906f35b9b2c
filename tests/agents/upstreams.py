"""Providers on loopback that follow a script, a meter that remembers, a forwarder between them.

`async with forwarding(says({...}), says({}, 529)) as world`: one script for each request that
reaches the provider, the last one for ever.
"""

from __future__ import annotations

import asyncio
import functools
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import uvicorn
from pydantic import SecretStr

from app.agents.forwarder import Forwarder, Lease, Provider, Rules
from app.agents.protocols import Account, OverBudget, Tokens

KEY = "sk-the-key-of-the-provider"
ME = Account(feature_id=7, repo="acme/storefront", person="mara", role="architect")
Sender = Callable[[dict[str, Any]], Awaitable[None]]
Script = Callable[[Sender], Awaitable[None]]
PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/chat/completions",
    "google": "/v1beta/models/gemini-x:generateContent",
}
TICKETS = {"anthropic": "x-api-key", "openai": "authorization", "google": "x-goog-api-key"}


def on_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on an event loop of its own."""

    @functools.wraps(test)
    def run(*args: Any, **more: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **more), 30))

    return run


async def _start(send: Sender, status: int, kind: str, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    raw.append((b"content-type", kind.encode()))
    await send({"type": "http.response.start", "status": status, "headers": raw})


def says(body: Any, status: int = 200, **headers: str) -> Script:
    """A JSON document; `retry_after` is the header `retry-after`."""

    async def script(send: Sender) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        await _start(send, status, "application/json", named)
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    return script


def streams(*pieces: bytes | asyncio.Event, breaks: bool = False) -> Script:
    """Events, piece by piece; it waits for an event of asyncio before it goes on."""

    async def script(send: Sender) -> None:
        await _start(send, 200, "text/event-stream; charset=utf-8", {})
        for piece in pieces:
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not breaks:
            await send({"type": "http.response.body", "body": b""})

    return script


def waits(gate: asyncio.Event, then: Script) -> Script:
    """Nothing at all until the gate opens."""

    async def script(send: Sender) -> None:
        await gate.wait()
        await then(send)

    return script


def sse(*events: Any) -> bytes:
    """Server-sent events; a string is sent as it is."""
    told = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "".join(f"data: {line}\n\n" for line in told).encode()


@dataclass
class Seen:
    """A request as the provider got it."""

    path: str
    query: str
    headers: dict[str, str]
    body: Any


class Scripted:
    """A provider that follows scripts."""

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self._scripts = scripts
        self.seen: list[Seen] = []
        self.arrived = asyncio.Condition()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Sender) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        script = self._scripts[min(len(self.seen), len(self._scripts) - 1)]
        query = scope["query_string"].decode()
        async with self.arrived:
            self.seen.append(Seen(scope["path"], query, headers, json.loads(body)))
            self.arrived.notify_all()
        await script(send)

    async def has_seen(self, number: int) -> None:
        """Wait for so many requests."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.seen) >= number)


class _Config(uvicorn.Config):
    def configure_logging(self) -> None:
        pass


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Any:
        yield


@asynccontextmanager
async def provider_of(*scripts: Script) -> AsyncIterator[tuple[str, Scripted]]:
    """A provider and its address."""
    scripted = Scripted(scripts)
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(
        _Config(scripted, lifespan="off", access_log=False, timeout_graceful_shutdown=0)
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", scripted
    finally:
        server.should_exit = True
        await task


def nobody_there() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


class Books:
    """A meter that remembers; a token costs a cent."""

    def __init__(self, refuses: Exception | None = None) -> None:
        self.refuses = refuses
        self.begun: list[tuple[Account, str, str, Tokens]] = []
        self.ended: list[Tokens | None] = []

    async def begin(self, account: Account, provider: str, model: str, most: Tokens) -> int:
        await asyncio.sleep(0)
        if self.refuses is not None:
            raise self.refuses
        self.begun.append((account, provider, model, most))
        return len(self.begun)

    async def end(self, call: int, tokens: Tokens | None) -> float | None:
        await asyncio.sleep(0.01)
        self.ended.append(tokens)
        return None if tokens is None else (tokens.read + tokens.written) / 100


class Patience:
    """Rules under which no test waits; it remembers the pauses and turns the clock."""

    def __init__(self, **more: Any) -> None:
        self.pauses: list[float] = []
        self.now = 0.0
        usual: dict[str, Any] = {"silence": 5.0, "connect": 2.0, "breaker_seconds": 30.0}
        self.rules = Rules(
            chance=lambda: 1.0, sleep=self._sleep, clock=lambda: self.now, **(usual | more)
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class World:
    """Everything a test looks at."""

    forwarder: Forwarder
    upstream: Scripted
    books: Books
    patience: Patience
    wire: str
    client: httpx.AsyncClient
    asked: dict[str, Any] = field(default_factory=lambda: {"model": "m-1", "max_tokens": 100})

    def lease(self, seconds: float = 60.0) -> Any:
        return self.forwarder.lease(self.wire, ME, seconds)

    def request(self, lease: Lease, **more: Any) -> httpx.Request:
        """The wire's usual request; `path`, `key`, `body` and `headers` may be others."""
        key = more.get("key", lease.key)
        ticket = f"Bearer {key}" if self.wire == "openai" else key
        headers = {TICKETS[self.wire]: ticket} | more.get("headers", {})
        url = lease.base_url + more.get("path", PATHS[self.wire])
        return self.client.build_request(
            more.get("method", "POST"), url, json=more.get("body", self.asked), headers=headers
        )

    async def call(self, lease: Lease, **more: Any) -> httpx.Response:
        return await self.client.send(self.request(lease, **more))

    async def begin(self, lease: Lease, **more: Any) -> httpx.Response:
        """The response with its body still to come; to be closed."""
        return await self.client.send(self.request(lease, **more), stream=True)


@asynccontextmanager
async def forwarding(
    *scripts: Script,
    wire: Any = "anthropic",
    books: Books | None = None,
    patience: Patience | None = None,
    **provider: Any,
) -> AsyncIterator[World]:
    """A forwarder before a scripted provider."""
    books, patience = books or Books(), patience or Patience()
    async with provider_of(*scripts) as (url, scripted):
        made = replace(Provider(wire, wire, url, SecretStr(KEY)), **provider)
        forwarder = Forwarder({wire: made}, books, rules=patience.rules)
        await forwarder.start()
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            try:
                yield World(forwarder, scripted, books, patience, wire, client)
            finally:
                await forwarder.stop()


OVER = OverBudget("the cap of this feature is reached; raise it or wait for tomorrow")
