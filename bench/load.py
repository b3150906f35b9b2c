"""A load generator: HTTP/1.1 on raw sockets, a request at a time on each connection.

Bodies and signatures are made before; every request has a delivery id of its own. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

from bench.payload import labeled, signature

BODIES = 256


@dataclass(frozen=True)
class Figures:
    """What one run came to; times in milliseconds."""

    requests: int
    refused: int
    seconds: float
    per_second: float
    p50: float
    p99: float
    slowest: float
    generator_cpu: float
    """Share of a core that the generator itself used: near 1 it is what is measured."""


class Requests:
    """Endless requests, ready to send."""

    def __init__(self, port: int, path: str, secret: str, run: str) -> None:
        self._ready: list[tuple[bytes, bytes]] = []
        for number in range(1, BODIES + 1):
            body = labeled(number)
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                "User-Agent: GitHub-Hookshot/bench\r\nAccept: */*\r\n"
                "Content-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nX-GitHub-Event: issues\r\n"
                f"X-Hub-Signature-256: {signature(secret, body)}\r\nX-GitHub-Delivery: {run}-"
            )
            self._ready.append((head.encode(), b"\r\n\r\n" + body))
        self._sent = 0

    def next(self) -> bytes:
        head, rest = self._ready[self._sent % BODIES]
        self._sent += 1
        return b"%s%012x%s" % (head, self._sent, rest)


class Tally:
    """Counts what was answered between warm-up and end."""

    def __init__(self) -> None:
        self.counting = False
        self.over = False
        self.times: list[float] = []
        self.refused: dict[int, int] = {}
        self.lost = 0

    def add(self, seconds: float, status: int) -> None:
        if self.counting:
            self.times.append(seconds)
            if not 200 <= status < 300:
                self.refused[status] = self.refused.get(status, 0) + 1


class Connection(asyncio.Protocol):
    """One keep-alive connection that always has a request under way."""

    def __init__(self, requests: Requests, tally: Tally, ended: asyncio.Event) -> None:
        self._requests = requests
        self._tally = tally
        self._ended = ended
        self._buffer = b""
        self._began = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is of its own family
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or not _whole(self._buffer, end):
            return
        status = int(self._buffer[9:12])
        self._buffer = b""
        self._tally.add(time.perf_counter() - self._began, status)
        if not self._tally.over:
            self._send()
        elif self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._tally.over:
            self._tally.lost += 1
        self._ended.set()

    def _send(self) -> None:
        if self._transport is not None:
            self._began = time.perf_counter()
            self._transport.write(self._requests.next())


def _whole(answer: bytes, end: int) -> bool:
    head = answer[:end].lower()
    at = head.find(b"content-length:")
    if at < 0:
        return b"chunked" not in head or answer.endswith(b"0\r\n\r\n")
    length = int(head[at + 15 :].split(b"\r\n", 1)[0])
    return len(answer) >= end + 4 + length


async def run(
    port: int, requests: Requests, connections: int, warm_up: float, seconds: float
) -> Figures:
    """Load the server. Raises `SystemExit` if it closes a connection."""
    loop = asyncio.get_running_loop()
    tally = Tally()
    ends = [asyncio.Event() for _ in range(connections)]
    for end in ends:
        await loop.create_connection(
            lambda end=end: Connection(requests, tally, end),  # type: ignore[misc]
            "127.0.0.1",
            port,
        )
    await asyncio.sleep(warm_up)
    tally.counting = True
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    tally.counting, tally.over = False, True
    took, used = time.perf_counter() - began, time.process_time() - cpu
    async with asyncio.timeout(30):
        for end in ends:
            await end.wait()
    if tally.lost:
        sys.exit(f"the server closed {tally.lost} connections")
    if tally.refused:
        print(f"answers that are no success: {tally.refused}", file=sys.stderr)
    return _figures(tally, took, used)


def _figures(tally: Tally, took: float, used: float) -> Figures:
    times = sorted(tally.times) or [0.0]
    return Figures(
        requests=len(tally.times),
        refused=sum(tally.refused.values()),
        seconds=round(took, 3),
        per_second=round((len(tally.times) - sum(tally.refused.values())) / took, 1),
        p50=round(times[len(times) // 2] * 1000, 2),
        p99=round(times[min(len(times) - 1, int(len(times) * 0.99))] * 1000, 2),
        slowest=round(times[-1] * 1000, 2),
        generator_cpu=round(used / took, 2),
    )


def _arguments() -> Iterator[tuple[str, type, str | int | float]]:
    yield "--port", int, 8000
    yield "--path", str, "/"
    yield "--run", str, "00000000-0000-4000-8000"
    yield "--connections", int, 64
    yield "--warm-up", float, 1.0
    yield "--seconds", float, 5.0


def main() -> None:
    """`python -m bench.load --port N`; the webhook secret in `BENCH_SECRET`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, kind, default in _arguments():
        parser.add_argument(name, type=kind, default=default)
    args = parser.parse_args()
    requests = Requests(args.port, args.path, os.environ["BENCH_SECRET"], args.run)
    load = run(args.port, requests, args.connections, args.warm_up, args.seconds)
    print(json.dumps(asdict(uvloop.run(load))))


if __name__ == "__main__":
    main()
