"""The only way out of a private network: a Unix socket that leads to the forwarder, nowhere else.

Outside, in the service, `bridge` serves the socket. Inside, `listen` and `relay` make the
forwarder's own address on 127.0.0.1 lead to it; they need nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading

TYPE_CHECKING = False  # typing itself takes its time to import
if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter, Task
    from collections.abc import AsyncIterator
    from pathlib import Path

_PIECE = 1 << 16


@contextlib.asynccontextmanager
async def bridge(path: Path, forwarder: tuple[str, int]) -> AsyncIterator[None]:
    """Serve a Unix socket that leads to `forwarder` (host, port). Raises `OSError`."""
    import asyncio

    under_way: set[Task[None]] = set()

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a connection is served by a task
        under_way.add(task)
        try:
            await _joined(reader, writer, forwarder)
        finally:
            under_way.discard(task)
            writer.close()

    server = await asyncio.start_unix_server(serve, path=str(path))
    try:
        os.chmod(path, 0o600)
        yield
    finally:
        server.close()
        for task in tuple(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _joined(reader: StreamReader, writer: StreamWriter, forwarder: tuple[str, int]) -> None:
    import asyncio

    with contextlib.suppress(OSError, asyncio.CancelledError):
        there, back = await asyncio.open_connection(*forwarder)
        try:
            await asyncio.gather(_passed_on(reader, back), _passed_on(there, writer))
        finally:
            back.close()


async def _passed_on(source: StreamReader, target: StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        target.write(piece)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()


def listen(port: int) -> socket.socket:
    """Inside: take the forwarder's port. Raises `OSError`."""
    return socket.create_server(("127.0.0.1", port), backlog=128)


def relay(listener: socket.socket, path: str) -> None:
    """Inside: pass on what comes in, for ever, beside the rest of the process."""
    threading.Thread(target=_accept, args=(listener, path), daemon=True).start()


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        with contextlib.suppress(OSError, RuntimeError):  # no more threads: the next one may do
            near, _ = listener.accept()
            threading.Thread(target=_pass, args=(near, path), daemon=True).start()


def _pass(near: socket.socket, path: str) -> None:
    far = socket.socket(socket.AF_UNIX)
    with near, far, contextlib.suppress(OSError):
        far.connect(path)
        back = threading.Thread(target=_pump, args=(far, near), daemon=True)
        back.start()
        _pump(near, far)
        back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
