"""Model servers on loopback that say what a test wants, in each of the three wire formats.

`with Wire("openai", gives({...}), fails(429)) as server`: one reply for each request, the last one
for ever. `Leasing(server)` lends it out as the forwarder would.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import uvicorn

from app.agents.llm import Wire as Format
from app.agents.protocols import Account, AgentUnavailable
from app.questions.model import Cost

Json = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """A request as it came in, its parts read alike for all formats."""

    path: str
    headers: dict[str, str]
    body: Json

    @property
    def model(self) -> str:
        """From the body, or from the path as Google has it."""
        named: str = self.body.get("model") or self.path.split("/models/")[-1].split(":")[0]
        return named

    @property
    def tools(self) -> list[str]:
        """Names of all tools that are offered."""
        names = []
        for tool in self.body.get("tools") or []:
            for function in tool.get("functionDeclarations") or [tool.get("function", tool)]:
                names.append(function["name"])
        return names

    @property
    def limit(self) -> int:
        """How many tokens may be written."""
        body = {**self.body, **self.body.get("generationConfig", {})}
        names = ("max_tokens", "max_completion_tokens", "maxOutputTokens")
        return next(int(body[name]) for name in names if name in body)

    @property
    def system(self) -> str:
        """The text that comes from the system."""
        if "messages" not in self.body:
            return _text(self.body["systemInstruction"])
        told = [m["content"] for m in self.body["messages"] if m["role"] == "system"]
        return "\n".join(map(_text, [self.body.get("system", ""), *told]))

    @property
    def user(self) -> str:
        """The first text that comes from the user."""
        messages = self.body.get("messages") or self.body["contents"]
        return next(_text(m) for m in messages if m["role"] == "user")


def _text(value: Any) -> str:
    """All text in a message, a part or a list of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_text, value))
    return _text(value.get("content") or value.get("parts") or value.get("text") or "")


@dataclass(frozen=True)
class Reply:
    """One reply; see the functions below."""

    given: Json | None = None
    text: str = ""
    refused: bool = False
    status: int = 200
    raw: bytes | None = None
    after: float = 0.0
    """Seconds until it comes."""
    stopped: bool = False
    """Cut off at the limit of tokens."""


def gives(after: float = 0.0, **given: Any) -> Reply:
    """The structured answer by the tool that is offered."""
    return Reply(given=given, after=after)


def says(text: str) -> Reply:
    """Plain text."""
    return Reply(text=text)


def refuses(text: str = "") -> Reply:
    """The model declines, perhaps in some words."""
    return Reply(text=text, refused=True)


def fails(status: int, message: str = "no luck") -> Reply:
    """An error of the server, in a form that all clients understand."""
    error = {"message": message, "type": "error", "code": status, "status": "ERROR"}
    return Reply(status=status, raw=json.dumps({"type": "error", "error": error}).encode())


def babbles() -> Reply:
    """Status 200, and a body that nobody understands."""
    return Reply(raw=b'{"id": "this is no J')


def hangs() -> Reply:
    """Takes the request, and never answers."""
    return Reply(after=3600)


Script = Callable[[Seen], Reply]


class Wire:
    """The server of one wire format. A function in the place of replies decides by the request."""

    def __init__(self, wire: Format, *replies: Reply, script: Script | None = None) -> None:
        self.wire = wire
        self.requests: list[Seen] = []
        self.connections: set[tuple[str, int]] = set()
        self._replies = list(replies)
        self._script = script
        self._stop = asyncio.Event()

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        run = {"target": self._server.run, "kwargs": {"sockets": [self._socket]}, "daemon": True}
        self._thread = threading.Thread(**run)  # type: ignore[arg-type]  # a dict has no types
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)
        self._socket.close()

    async def _serve(self, scope: Json, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        seen = Seen(scope["path"], headers, json.loads(body))
        self.requests.append(seen)
        self.connections.add(tuple(scope["client"]))
        reply = self._next(seen)
        await asyncio.sleep(reply.after)
        content = reply.raw
        if content is None:
            content = json.dumps(_FORMS[self.wire](reply, seen)).encode()
        kind = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": reply.status, "headers": kind})
        await send({"type": "http.response.body", "body": content})

    def _next(self, seen: Seen) -> Reply:
        if self._script is not None:
            return self._script(seen)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


def _anthropic(reply: Reply, seen: Seen) -> Json:
    blocks: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    stop = "refusal" if reply.refused else "max_tokens" if reply.stopped else "end_turn"
    if reply.given is not None:
        name = seen.tools[0]
        blocks.append({"type": "tool_use", "id": "t1", "name": name, "input": reply.given})
        stop = "tool_use"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 25, "output_tokens": 7},
    }


def _openai(reply: Reply, seen: Seen) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    stop = "length" if reply.stopped else "stop"
    if reply.refused:
        message = {"role": "assistant", "content": None, "refusal": reply.text or "No."}
    if reply.given is not None:
        call = {"name": seen.tools[0], "arguments": json.dumps(reply.given)}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": call}]
        stop = "tool_calls"
    return {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 1,
        "model": seen.model,
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        "usage": {"prompt_tokens": 25, "completion_tokens": 7, "total_tokens": 32},
    }


def _google(reply: Reply, seen: Seen) -> Json:
    parts: list[Json] = [{"text": reply.text}] if reply.text else []
    if reply.given is not None:
        parts.append({"functionCall": {"name": seen.tools[0], "args": reply.given}})
    stop = "SAFETY" if reply.refused else "MAX_TOKENS" if reply.stopped else "STOP"
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop}],
        "usageMetadata": {"promptTokenCount": 25, "candidatesTokenCount": 7},
        "modelVersion": seen.model,
    }


_FORMS: dict[Format, Callable[[Reply, Seen], Json]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "google": _google,
}


@dataclass
class Lease:
    """The use of a server, as the forwarder lends it."""

    base_url: str
    key: str
    cost: Cost = field(default_factory=Cost)
    refusal: AgentUnavailable | None = None
    model: str = ""


class Leasing:
    """Lends a scripted server. What is in `refusal` is what its leases refuse with."""

    def __init__(self, server: Wire, refusal: AgentUnavailable | None = None) -> None:
        self.server = server
        self.refusal = refusal
        self.asked: list[tuple[str, Account, float]] = []
        self.open = 0
        self._numbers = 0

    @contextmanager
    def lease(self, provider: str, account: Account, seconds: float) -> Iterator[Lease]:
        """A lease with a key of its own; when it ends, what it cost is known."""
        self.asked.append((provider, account, seconds))
        self._numbers += 1
        path = "/v1" if self.server.wire == "openai" else ""
        lease = Lease(self.server.url + path, f"ticket-{self._numbers}", refusal=self.refusal)
        self.open += 1
        try:
            yield lease
        finally:
            self.open -= 1
            lease.cost = Cost(0.5, 25, 7, 1)
