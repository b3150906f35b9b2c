"""Webhooks of ours: signed, bounded, tried again, never to addresses inside."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

import httpx

from app.outlets.addresses import Refused, public_address
from app.outlets.schemas import Envelope

SECONDS = 5.0
_FINAL = frozenset({400, 401, 403, 404, 405, 410, 413, 422})


@dataclass(frozen=True, slots=True)
class Hook:
    """Where to, and what it is signed with."""

    url: str
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What came of one try. `wait` is how many seconds the receiver asks for."""

    ok: bool
    final: bool
    reason: str = ""
    wait: float | None = None


def signature(secret: str, body: bytes) -> str:
    """`sha256=…`: HMAC-SHA-256 in hex over the raw body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


async def deliver(
    client: httpx.AsyncClient, hook: Hook, event: Envelope, *, allow: frozenset[str] = frozenset()
) -> Delivered:
    """POST an event once. Raises nothing that a receiver can cause."""
    try:
        target = await public_address(hook.url, allow=allow)
    except Refused as error:
        return Delivered(False, True, str(error))
    body = event.model_dump_json().encode()
    headers = {
        "Host": target.host,
        "Content-Type": "application/json",
        "User-Agent": "knowledge-router",
        "X-KR-Event": event.type,
        "X-KR-Delivery": event.id,
    }
    if hook.secret:
        headers["X-KR-Signature-256"] = signature(hook.secret, body)
    try:
        async with client.stream(
            "POST",
            target.url,
            content=body,
            headers=headers,
            timeout=SECONDS,
            follow_redirects=False,
            extensions={"sni_hostname": target.name},
        ) as response:
            return _judge(response)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Delivered(False, False, f"no answer: {type(error).__name__}")


def _judge(response: httpx.Response) -> Delivered:
    """By the status alone: what a receiver writes is not read."""
    code = response.status_code
    if 200 <= code < 300:
        return Delivered(True, True)
    after = response.headers.get("retry-after", "")
    wait = float(min(int(after), 3600)) if after.isascii() and after.isdecimal() else None
    final = code in _FINAL or 300 <= code < 400
    return Delivered(False, final, f"answered {code}", None if final else wait)
