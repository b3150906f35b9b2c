"""Payloads are kept compressed: a tenth of the bytes to send, to write and to log.

PostgreSQL would compress them itself, but one after another and five times as slowly, on the core
that commits.
"""

from __future__ import annotations

import threading

import zstandard

_MAGIC = b"\x28\xb5\x2f\xfd"
"""How every zstd frame begins (RFC 8878, section 3.1.1), and no JSON."""
_WORTH_IT = 500
"""Bytes under which there is nothing to gain."""
_LEVEL = 1
_own = threading.local()


def pack(payload: bytes) -> bytes:
    """The bytes to store. May be called from any thread."""
    if len(payload) < _WORTH_IT:
        return payload
    compressor = getattr(_own, "compressor", None)
    if compressor is None:
        compressor = _own.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    packed: bytes = compressor.compress(payload)
    return packed


def unpack(stored: bytes) -> bytes:
    """The payload, however it was stored."""
    if not stored.startswith(_MAGIC):
        return stored
    return zstandard.ZstdDecompressor().decompress(stored)
