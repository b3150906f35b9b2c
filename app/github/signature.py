"""The signature of a webhook."""

from __future__ import annotations

import hmac


def sign(secret: str, body: bytes) -> str:
    """`sha256=…`, as GitHub sends it in `X-Hub-Signature-256`."""
    return "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()


def genuine(secret: str, body: bytes, signature: str | None) -> bool:
    """Whether the body was signed with the secret; compared in constant time."""
    if not signature:
        return False
    return hmac.compare_digest(sign(secret, body).encode(), signature.encode())
