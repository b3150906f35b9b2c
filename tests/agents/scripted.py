"""A model server on loopback that says what a test wants: the Anthropic messages API, in short.

`ScriptedModel` serves `/v1/messages`, streamed or not, and `/v1/messages/count_tokens`.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import uvicorn

Block = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Seen:
    """A request as it came in; names of headers are in small letters."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        """Names of the tools that were offered."""
        return [tool["name"] for tool in self.body.get("tools") or []]

    @property
    def system(self) -> str:
        """The whole system prompt as text."""
        return _text(self.body.get("system") or "")

    @property
    def said(self) -> str:
        """The text of all messages."""
        return "\n".join(_text(message["content"]) for message in self.body["messages"])


@dataclass(frozen=True)
class Scene:
    """One reply. See the functions below for the usual ones."""

    blocks: tuple[Block, ...] = ()
    stop_reason: str = "end_turn"
    answer: Any = None
    """Given in the form that the request asks for, whatever that is; not used if None."""
    status: int = 200
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    wait: float = 0.0
    """Seconds before the reply begins."""
    pause: float = 0.0
    """Seconds between the pieces of a streamed reply."""
    ends: Literal["well", "broken", "hanging"] = "well"
    usage: dict[str, int] = field(default_factory=lambda: {"input_tokens": 25, "output_tokens": 7})


Script = Callable[[Seen], Scene]


def says(text: str) -> Scene:
    """Plain text."""
    return Scene(({"type": "text", "text": text},))


def gives(answer: Any) -> Scene:
    """The structured answer: through the tool that is offered for it, or as JSON text."""
    return Scene(answer=answer)


def uses(tool: str, given: Any) -> Scene:
    """A call of a tool."""
    block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": given}
    return Scene((block,), stop_reason="tool_use")


def refuses(text: str = "") -> Scene:
    """The model declines."""
    return replace(says(text), stop_reason="refusal")


def fails(status: int, message: str = "no luck", **headers: str) -> Scene:
    """An error of the API, for example 429, 500 or 529."""
    return Scene(status=status, error=message, headers=headers)


def babbles(raw: bytes = b"this is no JSON") -> Scene:
    """Status 200, and a body that nobody understands."""
    return Scene(raw=raw)


def slowly(scene: Scene, pause: float = 0.05) -> Scene:
    """The same, piece by piece."""
    return replace(scene, pause=pause)


def breaks(scene: Scene) -> Scene:
    """The connection is cut in the middle of the reply."""
    return replace(scene, ends="broken")


def hangs() -> Scene:
    """Takes the request, and never answers."""
    return Scene(ends="hanging")


class ScriptedModel:
    """The server: `with ScriptedModel(gives({...}), fails(529)) as model: model.url`.

    The last scene is repeated for ever. A function in the place of scenes decides by the request.
    """

    def __init__(self, *scenes: Scene, script: Script | None = None) -> None:
        self.requests: list[Seen] = []
        """Every call of `/v1/messages`, in the order they came."""
        self.others: list[Seen] = []
        """Everything else that was asked of the server."""
        self.url = ""
        self.waiting = threading.Event()
        """Set as soon as a request hangs."""
        self._scenes = list(scenes)
        self._script = script
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    async def _serve(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        seen = Seen(
            scope["path"],
            {name.decode(): value.decode() for name, value in scope["headers"]},
            json.loads(await _body(receive) or b"{}"),
        )
        if seen.path.endswith("/count_tokens"):
            self.others.append(seen)
            await _respond(send, 200, {"input_tokens": 25})
        elif seen.path.endswith("/v1/messages"):
            self.requests.append(seen)
            await self._perform(self._next(seen), seen, send)
        else:
            self.others.append(seen)
            await _respond(send, 404, _error(404, "no such path"))

    def _next(self, seen: Seen) -> Scene:
        if self._script is not None:
            return self._script(seen)
        return self._scenes.pop(0) if len(self._scenes) > 1 else self._scenes[0]

    async def _perform(self, scene: Scene, seen: Seen, send: Send) -> None:
        await asyncio.sleep(scene.wait)
        if scene.ends == "hanging":
            self.waiting.set()
            await asyncio.to_thread(self._stop.wait, 60)
        elif scene.raw is not None:
            await _respond(send, 200, scene.raw)
        elif scene.status != 200:
            await _respond(send, scene.status, _error(scene.status, scene.error), scene.headers)
        else:
            message = _message(_directed(scene, seen), seen)
            if seen.body.get("stream"):
                await _stream(send, message, scene)
            elif scene.ends == "broken":
                await _cut(send, json.dumps(message).encode()[:40])
            else:
                await _respond(send, 200, message)


def _directed(scene: Scene, seen: Seen) -> Scene:
    """A structured answer takes the form that the request offers."""
    if scene.answer is None:
        return scene
    form = uses(seen.tools[-1], scene.answer) if seen.tools else says(json.dumps(scene.answer))
    return replace(scene, blocks=form.blocks, stop_reason=form.stop_reason)


def _message(scene: Scene, seen: Seen) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": seen.body.get("model", "claude"),
        "content": list(scene.blocks),
        "stop_reason": scene.stop_reason,
        "stop_sequence": None,
        "usage": scene.usage,
    }


async def _stream(send: Send, message: dict[str, Any], scene: Scene) -> None:
    await _begin(send, 200, {"content-type": "text/event-stream"})
    events = list(_events(message))
    for number, event in enumerate(events):
        if scene.ends == "broken" and number > len(events) // 2:
            raise ConnectionResetError("as the script wants")
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        await send({"type": "http.response.body", "body": data, "more_body": True})
        await asyncio.sleep(scene.pause)
    await send({"type": "http.response.body", "body": b""})


def _events(message: dict[str, Any]) -> Sequence[dict[str, Any]]:
    start = {**message, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        events += _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": message["usage"]})
    events.append({"type": "message_stop"})
    return events


def _block_events(index: int, block: Block) -> list[dict[str, Any]]:
    if block["type"] == "tool_use":
        whole, empty = json.dumps(block["input"]), {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in _parts(whole)]
    else:
        whole, empty = block["text"], {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in _parts(whole)]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _parts(whole: str) -> list[str]:
    size = max(1, -(-len(whole) // 4))
    return [whole[at : at + size] for at in range(0, len(whole), size)]


async def _cut(send: Send, beginning: bytes) -> None:
    await _begin(send, 200, {"content-type": "application/json"})
    await send({"type": "http.response.body", "body": beginning, "more_body": True})
    raise ConnectionResetError("as the script wants")


async def _begin(send: Send, status: int, headers: dict[str, str]) -> None:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _respond(
    send: Send, status: int, body: Any, headers: dict[str, str] | None = None
) -> None:
    await _begin(send, status, {"content-type": "application/json"} | (headers or {}))
    data: bytes = body if isinstance(body, bytes) else json.dumps(body).encode()
    await send({"type": "http.response.body", "body": data})


def _error(status: int, message: str) -> dict[str, Any]:
    kinds = {404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


async def _body(receive: Receive) -> bytes:
    pieces = bytearray()
    while True:
        event = await receive()
        pieces += event.get("body", b"")
        if event["type"] == "http.disconnect" or not event.get("more_body"):
            return bytes(pieces)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", block.get("content", ""))) for block in content)
