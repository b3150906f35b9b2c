"""A receiver of webhooks on this machine, for the tests of this room."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from app.outlets.schemas import Envelope, envelope


def event(**other: str) -> Envelope:
    return envelope(
        "question.escalated",
        id=other.get("id", "7-3-0"),
        at="2026-11-21T09:00:00.000+00:00",
        feature="acme/storefront#7",
        question="Q1",
        gid="q-abc123",
        data={"to": "mara", "because": other.get("because", "nobody answered")},
    )


class Receiver(ThreadingHTTPServer):
    """Keeps what it gets; answers with `status` and `more` headers."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.status = 204
        self.more: dict[str, str] = {}
        self.endless = False
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.callers: list[int] = []
        """The port of the connection that each request came on."""

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """A caller that hangs up is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.got.append((dict(self.headers), body))
        self.server.callers.append(self.client_address[1])
        self.send_response(self.server.status)
        for name, value in self.server.more.items():
            self.send_header(name, value)
        if not self.server.endless:
            self.send_header("Content-Length", "0")
        self.end_headers()
        while self.server.endless:
            self.wfile.write(b"x" * 4096)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    server = Receiver(context)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
