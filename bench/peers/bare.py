"""The machine's own limit: a bare ASGI route that checks the signature, keeps nothing, answers."""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]


class Bare:
    """`POST /`: 202, or 401 for a signature that does not fit."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http":
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        given = dict(scope["headers"]).get(b"x-hub-signature-256", b"")
        expected = "sha256=" + hmac.new(self._secret, body, sha256).hexdigest()
        status = 202 if hmac.compare_digest(given, expected.encode()) else 401
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    uvicorn.run(
        Bare(os.environ["BENCH_SECRET"]),
        port=int(os.environ["BENCH_PORT"]),
        lifespan="off",
        access_log=False,
        log_level="warning",
    )
