"""The forwarder: every call of a model passes through it, so that no agent holds a key.

A server on the loopback address, inside the process of the agents. An agent is given a lease: an
address and a ticket that is good for one provider and for as long as the lease lasts. Calls are
metered, limited, tried again and counted here. Neither keys nor tickets nor bodies are logged.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode

import uvicorn

from app.agents.breaker import Rules, Unreached
from app.agents.leases import Lease, Leases, new_ticket
from app.agents.protocols import Account, AgentUnavailable, Meter, OverBudget
from app.agents.upstream import Opened, Outgoing, Provider, Upstream
from app.agents.usage import NONE, Asked, Metering, Reading, Wire, allowed, error, read_request

__all__ = ["Forwarder", "Lease", "Provider", "Rules"]

logger = logging.getLogger(__name__)

LARGEST_BODY = 20 * 1024 * 1024
"""Bytes of a request."""
_PASSED_ON = ("content-type", "accept", "anthropic-version", "anthropic-beta")
_PASSED_BACK = ("content-type", "retry-after")
USUAL = Rules()
_QUERY = frozenset({"alt", "beta"})

Message = dict[str, Any]
Receive = Callable[[], Coroutine[Any, Any, Message]]
Send = Callable[[Message], Coroutine[Any, Any, None]]


class _Refused(Exception):
    """A request that is not let through; the text is for whoever sent it."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Reply:
    """The response to one request, as far as it is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.wire: Wire = "anthropic"
        self.begun = False

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status line and the headers, never a length: its end is sent by itself."""
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        self.begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def piece(self, body: bytes) -> None:
        """Send a piece of the body."""
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        """Say that it is whole. Without it the client sees a broken body."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def error(self, status: int, text: str) -> None:
        """Send an error that is not worth another try; too late within a body, which breaks."""
        if self.begun:
            return
        headers = {"content-type": "application/json", "x-should-retry": "false"}
        await self.begin(status, headers)
        await self.piece(error(self.wire, status, text))
        await self.end()


class _Config(uvicorn.Config):
    """Leaves the logging of the process as it is."""

    def configure_logging(self) -> None:
        """Nothing to be done."""


class _Server(uvicorn.Server):
    """Leaves the signals of the process to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing to be captured."""
        yield


class Forwarder:
    """Lends providers to agents. Everything runs on the event loop that calls `start`."""

    def __init__(
        self, providers: Mapping[str, Provider], meter: Meter, *, rules: Rules = USUAL
    ) -> None:
        self._providers = dict(providers)
        self._meter = meter
        self._rules = rules
        # Names that look alike in an address are told apart by their number.
        self._places = {
            f"{re.sub('[^A-Za-z0-9_-]', '-', name)}-{number}": name
            for number, name in enumerate(self._providers, 1)
        }
        self._upstreams: dict[str, Upstream] = {}
        self._leases = Leases()
        self._running: tuple[_Server, asyncio.Task[None], str] | None = None

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1. Raises `OSError`."""
        self._upstreams = {
            name: Upstream(provider, self._rules) for name, provider in self._providers.items()
        }
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        config = _Config(
            self._app,
            interface="asgi3",
            lifespan="off",
            ws="none",
            access_log=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=1,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        self._running = server, serving, f"http://127.0.0.1:{listener.getsockname()[1]}"

    async def stop(self) -> None:
        """Give up what is under way, end it in the books, and close."""
        if self._running is None:
            return
        server, serving, _ = self._running
        self._running = None
        server.should_exit = True
        await self._leases.end()
        await serving
        for upstream in self._upstreams.values():
            await upstream.close()

    def state(self) -> Mapping[str, str]:
        """How each provider's breaker stands: `closed`, or `open until` when."""
        return {name: upstream.breaker.state() for name, upstream in self._upstreams.items()}

    def lease(
        self, provider: str, account: Account, seconds: float
    ) -> AbstractContextManager[Lease]:
        """Lend a provider; what is under way when the lease ends is given up.

        `seconds` is how long it may work, without waits in line; 0 is without limit. Raises
        `AgentUnavailable` if there is no such provider, or it has no key and needs one.
        """
        known = self._providers.get(provider)
        if known is None:
            raise AgentUnavailable(f"no model provider {provider} is set up on this server")
        if known.lacks_key():
            raise AgentUnavailable(f"{provider} has no key; set its API key on the server")
        if self._running is None:
            raise AgentUnavailable("the forwarder is not running")
        place = next(place for place, name in self._places.items() if name == provider)
        url = f"{self._running[2]}/{place}" + ("/v1" if known.wire == "openai" else "")
        clock = self._rules.clock
        return self._leases.lend(Lease(url, new_ticket(), provider, account, seconds, clock=clock))

    async def _app(self, scope: Message, receive: Receive, send: Send) -> None:
        reply = _Reply(send)
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            upstream, path = self._place(scope, reply)
            lease = self._ticket(headers, upstream.provider.name)
            body = await _body(headers, receive)
            if body is None:
                return
            try:
                asked = read_request(reply.wire, path, body)
            except ValueError:
                raise _Refused(400, "the body has to be a JSON object") from None
            passed = {name: headers[name] for name in _PASSED_ON if name in headers}
            outgoing = Outgoing(path, _query(scope), passed, asked.body, asked.streams)
            work = self._call(lease, upstream, outgoing, asked, reply)
            if not await lease.watch(work, gone=receive()):
                raise _Refused(503, "the lease has ended")
        except _Refused as refused:
            await reply.error(refused.status, str(refused))

    def _place(self, scope: Message, reply: _Reply) -> tuple[Upstream, str]:
        """Which provider is meant, and the path there. Raises `_Refused`."""
        place, _, path = scope["path"].removeprefix("/").partition("/")
        upstream = self._upstreams.get(self._places.get(place, ""))
        if upstream is not None:
            reply.wire = upstream.provider.wire
            if scope["method"] == "POST" and allowed(reply.wire, f"/{path}"):
                return upstream, f"/{path}"
        raise _Refused(404, "the forwarder lets only calls of models through")

    def _ticket(self, headers: Mapping[str, str], provider: str) -> Lease:
        """The lease that a request came with. Raises `_Refused`."""
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        ticket = headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer
        lease = self._leases.find(ticket, provider)
        if lease is None:
            raise _Refused(401, "this ticket is not, or no longer, good for this provider")
        return lease

    async def _call(
        self, lease: Lease, upstream: Upstream, outgoing: Outgoing, asked: Asked, reply: _Reply
    ) -> None:
        """Forward one call when its turn has come, and say why if that does not succeed."""
        lease.refusal = None
        try:
            upstream.breaker.check()
            with lease.waiting():
                await upstream.line.acquire()
            try:
                await self._metered(lease, upstream, outgoing, asked, reply)
            finally:
                upstream.line.release()
            await reply.end()
        except AgentUnavailable as refusal:
            lease.refusal = refusal
        except TimeoutError:
            lease.refusal = AgentUnavailable(f"no answer within {lease.seconds:g} seconds")
        except Exception as fault:
            # Its text may hold a header or a piece of a body; where it happened does not.
            where = "".join(traceback.format_tb(fault.__traceback__))
            logger.error("a call failed: %s\n%s", type(fault).__name__, where)
            lease.refusal = AgentUnavailable(f"the forwarder failed: {type(fault).__name__}")
        if lease.refusal is not None:
            status = 403 if isinstance(lease.refusal, OverBudget) else 503
            await reply.error(status, str(lease.refusal))

    async def _metered(
        self, lease: Lease, upstream: Upstream, outgoing: Outgoing, asked: Asked, reply: _Reply
    ) -> None:
        async with Metering(
            self._meter, lease.account, lease.provider, asked, lease.spent
        ) as metering:
            try:
                async with upstream.ask(outgoing, lease.left, metering.again) as opened:
                    lease.model = asked.model
                    lease.refusal = opened.refusal
                    async with asyncio.timeout(lease.left()):
                        await _relay(opened, lease, metering, reply)
            except Unreached as fault:
                metering.tokens = NONE if fault.free else metering.tokens
                raise


async def _relay(opened: Opened, lease: Lease, metering: Metering, reply: _Reply) -> None:
    """Pass a response on as it comes, and read along."""
    response = opened.response
    reading = Reading(reply.wire, response.headers.get("content-type", ""))
    headers = {name: response.headers[name] for name in _PASSED_BACK if name in response.headers}
    if opened.refusal is not None:
        headers["x-should-retry"] = "false"
    if response.is_error:
        metering.tokens = NONE
    await reply.begin(min(response.status_code, 599), headers)
    async for chunk in response.aiter_bytes():
        if not response.is_error:
            reading.feed(chunk)
            lease.model = reading.model or lease.model
        if reading.done:
            # The client may hang up at once, and then wants to know the cost.
            opened.passage.whole = True
            metering.tokens = reading.tokens()
            await metering.settle()
        await reply.piece(chunk)
    if not response.is_error:
        metering.tokens = reading.tokens()
        lease.model = reading.model or lease.model


async def _body(headers: Mapping[str, str], receive: Receive) -> bytes | None:
    """All of a request's body, None if the client hung up. Raises `_Refused`."""
    body, more = bytearray(), True
    while more:
        if max(len(body), int(headers.get("content-length", 0))) > LARGEST_BODY:
            raise _Refused(413, f"a request may have {LARGEST_BODY // 2**20} MB, not more")
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


def _query(scope: Message) -> str:
    """What of the query is passed on: never a key."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"))
    return urlencode([(name, value) for name, value in pairs if name in _QUERY])
