"""What children print, line by line on our stderr, with their names before it."""

from __future__ import annotations

import contextlib
import os
import selectors

_LONGEST_LINE = 64_000


class Forwarder:
    """Copies pipes to stderr while the supervisor waits."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._rest: dict[int, bytes] = {}

    def add(self, descriptor: int, name: str) -> None:
        """Begin to copy this pipe, until it ends."""
        self._selector.register(descriptor, selectors.EVENT_READ, name)
        self._rest[descriptor] = b""

    def watch(self, descriptor: int) -> None:
        """Wake up when something arrives here, and drop it."""
        self._selector.register(descriptor, selectors.EVENT_READ, None)

    def copy(self, seconds: float) -> None:
        """Copy what is there, waiting at most so long for the first of it."""
        for key, _ in self._selector.select(seconds):
            try:
                data = os.read(key.fd, 65536)
            except (BlockingIOError, InterruptedError):
                continue
            if key.data is not None:
                self._take(key.fd, str(key.data), data)

    def close(self) -> None:
        """Copy what is still there and let go of all pipes."""
        self.copy(0)
        for descriptor in list(self._rest):
            self._drop(descriptor)
        self._selector.close()

    def _take(self, descriptor: int, name: str, data: bytes) -> None:
        *lines, rest = (self._rest[descriptor] + data).split(b"\n")
        if rest and (not data or len(rest) > _LONGEST_LINE):
            lines, rest = [*lines, rest], b""
        self._rest[descriptor] = rest
        if lines:
            _print(b"".join(b"[%s] %s\n" % (name.encode(), line) for line in lines))
        if not data:
            self._drop(descriptor)

    def _drop(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        self._rest.pop(descriptor)
        os.close(descriptor)


def _print(text: bytes) -> None:
    with contextlib.suppress(OSError):  # a closed terminal must not end the service
        while text:
            text = text[os.write(2, text) :]


def say(text: str) -> None:
    """A line of the supervisor's own on stderr."""
    _print(f"[kr] {text}\n".encode())
