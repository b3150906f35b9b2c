"""How git names the content of a file."""

from __future__ import annotations

import hashlib


def blob_sha(content: str) -> str:
    """The name that git gives a file's content: SHA-1, hex."""
    data = content.encode()
    return hashlib.sha1(b"blob %d\x00" % len(data) + data, usedforsecurity=False).hexdigest()
