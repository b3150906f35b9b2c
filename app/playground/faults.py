"""Faults on demand, and the log of all writes; as ASGI middleware around the API."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.playground.state import Json, hide_seconds

KINDS = ("reset", "timeout", "500", "502", "403", "403-secondary", "404", "404-for-a-while", "slow")
API = "/api/v3"
GRAPHQL = ("/api/graphql", "/graphql")
"""Besides `/api/v3/graphql`: where Enterprise and github.com have it."""
_MAY_NOT = "Resource not accessible by integration"
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


@dataclass
class Fault:
    """What goes wrong with the next `times` requests that match."""

    kind: str
    method: str = ""
    path: str = ""
    when: str = "before"
    times: int = 1
    seconds: float = 0.0
    until: float = 0.0

    def matches(self, method: str, path: str) -> bool:
        """Whether it strikes this request."""
        if self.method and self.method.upper() != method:
            return False
        return re.search(self.path, path) is not None


@dataclass
class Entry:
    """A write, with what it did (`status`) and what the caller saw (`answered`)."""

    at: float
    method: str
    path: str
    body: Any
    who: str = "anonymous"
    status: int = 0
    answered: str = ""
    fault: str | None = None


@dataclass
class Faults:
    """Those that wait to happen, and what was asked so far."""

    pending: list[Fault] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)

    def add(self, data: Json) -> Fault:
        """Plan one. Raises `ValueError` with the reason."""
        match = data.get("match") or {}
        fault = Fault(
            str(data.get("kind")),
            str(match.get("method") or ""),
            str(match.get("path") or ""),
            str(data.get("when") or "before"),
            int(data.get("times") or 1),
            float(data.get("seconds") or 0),
        )
        if fault.kind not in KINDS or fault.when not in ("before", "after"):
            raise ValueError(f"kind is one of {', '.join(KINDS)}; when is before or after")
        try:
            re.compile(fault.path)
        except re.error as error:
            raise ValueError(f"path: {error}") from error
        self.pending.append(fault)
        return fault

    def clear(self) -> None:
        """No more faults."""
        self.pending.clear()

    def strike(self, method: str, path: str) -> list[Fault]:
        """The faults of this request; each is used up by one."""
        moment = time.monotonic()
        struck = []
        for fault in [f for f in self.pending if f.matches(method, path)]:
            lasting = fault.kind == "404-for-a-while" and fault.when == "before"
            if lasting:
                fault.until = fault.until or moment + fault.seconds
            else:
                fault.times -= 1
            if (lasting and moment >= fault.until) or fault.times <= 0:
                self.pending.remove(fault)
            if not lasting or moment < fault.until:
                struck.append(fault)
        return struck

    def entries(self) -> list[Json]:
        """The log as JSON."""
        return [asdict(entry) for entry in self.log]


class FaultMiddleware:
    """Logs the API's writes and makes planned faults happen."""

    def __init__(self, app: ASGIApp, faults: Faults) -> None:
        self.app = app
        self.faults = faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        path = _api_path(scope["path"]) if scope["type"] == "http" else None
        if path is None:
            await self.app(scope, receive, send)
            return
        method = scope["method"]
        struck = self.faults.strike(method, path)
        if method in ("GET", "HEAD") and not struck:
            await self.app(scope, receive, send)
            return
        body = await _read(receive)
        entry = Entry(time.time(), method, path, _json(body))
        if method not in ("GET", "HEAD"):
            self.faults.log.append(entry)
        scope.setdefault("state", {})["entry"] = entry
        await _Exchange(self.app, scope, receive, send, entry).run(body, struck)


class _Exchange:
    """One request and its answer, with faults before and after."""

    def __init__(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, entry: Entry
    ) -> None:
        self._app, self._scope, self._receive, self._send = app, scope, receive, send
        self._entry = entry

    async def run(self, body: bytes, faults: list[Fault]) -> None:
        hidden = [f for f in faults if f.kind == "404-for-a-while" and f.when == "after"]
        loud = [f for f in faults if f not in hidden]
        self._entry.fault = ", ".join(f"{f.kind} {f.when}" for f in faults) or None
        for fault in loud:
            if fault.when == "before" and await self._fail(fault):
                return
        answer = await self._perform(body, sum(f.seconds for f in hidden))
        for fault in loud:
            if fault.when == "after" and await self._fail(fault):
                return
        self._entry.answered = str(self._entry.status)
        for message in answer:
            await self._send(message)

    async def _perform(self, body: bytes, hidden: float) -> list[Message]:
        """Let the application do it; keep its answer back."""
        answer: list[Message] = []
        given = False

        async def receive() -> Message:
            nonlocal given
            if given:
                return await self._receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._entry.status = message["status"]
            answer.append(message)

        token = hide_seconds.set(hidden)
        try:
            await self._app(self._scope, receive, keep)
        finally:
            hide_seconds.reset(token)
        return answer

    async def _fail(self, fault: Fault) -> bool:
        """Do the fault. True if that was the answer."""
        self._entry.answered = fault.kind
        match fault.kind:
            case "slow":
                await asyncio.sleep(fault.seconds)
                return False
            case "reset":
                await self._drop()
            case "timeout":
                await asyncio.sleep(fault.seconds or 60)
                await self._drop()
            case "403":
                await self._answer(403, {"message": _MAY_NOT}, [])
            case "403-secondary":
                headers = [(b"retry-after", str(round(fault.seconds) or 60).encode())]
                await self._answer(403, {"message": _SECONDARY}, headers)
            case "404" | "404-for-a-while":
                await self._answer(404, {"message": "Not Found"}, [])
            case status:
                await self._answer(int(status), {"message": "Server Error"}, [])
        return True

    async def _answer(self, status: int, data: Json, headers: list[tuple[bytes, bytes]]) -> None:
        kind = (b"content-type", b"application/json; charset=utf-8")
        start = {"type": "http.response.start", "status": status, "headers": [kind, *headers]}
        await self._send(start)
        await self._send({"type": "http.response.body", "body": json.dumps(data).encode()})

    async def _drop(self) -> None:
        """Break the connection. Without one (in-process tests) the caller gets the exception."""
        transport = getattr(getattr(self._receive, "__self__", None), "transport", None)
        if transport is None:
            raise ConnectionResetError("a fault of the playground")
        peer = transport.get_extra_info("socket")
        if peer is not None:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
        await asyncio.sleep(0.05)


def _api_path(path: str) -> str | None:
    """A path of the API without what is before it; None for a page."""
    if path in GRAPHQL:
        return "/graphql"
    return path.removeprefix(API) if path.startswith(API + "/") else None


async def _read(receive: Receive) -> bytes:
    body: bytes = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")[:1000]
