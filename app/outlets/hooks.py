"""Webhooks of ours: signed, bounded in time, tried again, never to addresses inside."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from dataclasses import dataclass

import httpx

from app.outlets.addresses import Refused, Target, public_address
from app.outlets.schemas import Envelope

SECONDS = 5.0
"""For one try as a whole, from the look-up of the name to the status."""
_LONGEST_WAIT = 3600.0
"""Seconds that a receiver may hold a message up."""
_PASSING = frozenset({408, 409, 425, 429})
"""Refusals that may be gone next time; so may all from 500 on."""


@dataclass(frozen=True, slots=True)
class Hook:
    """Where to, and what it is signed with; without a secret there is no signature."""

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
    """POST an event once. Raises nothing that a receiver can cause; no reason holds the URL."""
    try:
        async with asyncio.timeout(SECONDS):
            return await _try(client, hook, event, allow)
    except Refused as error:
        return Delivered(False, True, str(error))
    except TimeoutError:
        return Delivered(False, False, f"no answer within {SECONDS:g} seconds")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return Delivered(False, False, f"no answer: {type(error).__name__}")


async def _try(
    client: httpx.AsyncClient, hook: Hook, event: Envelope, allow: frozenset[str]
) -> Delivered:
    target = await public_address(hook.url, allow=allow)
    request = _request(target, hook, event)
    response = await client.send(request, stream=True, auth=None, follow_redirects=False)
    try:
        return _judge(response)
    finally:
        await response.aclose()


def _request(target: Target, hook: Hook, event: Envelope) -> httpx.Request:
    """Not made by the client, which would add cookies that an earlier receiver set."""
    body = event.model_dump_json().encode()
    headers = {
        "Host": target.host,
        "Content-Type": "application/json",
        "User-Agent": "knowledge-router",
        # The pool knows connections by their address: kept open, one whose certificate was
        # checked for a name would serve another name at the same address unchecked.
        "Connection": "close",
        "X-KR-Event": event.type,
        "X-KR-Delivery": event.id,
    }
    if hook.secret:
        headers["X-KR-Signature-256"] = signature(hook.secret, body)
    extensions: dict[str, object] = {"timeout": httpx.Timeout(SECONDS).as_dict()}
    if target.url.scheme == "https":
        extensions["sni_hostname"] = target.name
    return httpx.Request("POST", target.url, headers=headers, content=body, extensions=extensions)


def _judge(response: httpx.Response) -> Delivered:
    """By the status alone: what a receiver writes is not read."""
    code = response.status_code
    if 200 <= code < 300:
        return Delivered(True, True)
    if code < 500 and code not in _PASSING:
        hint = ": enter the address that it leads to" if 300 <= code < 400 else ""
        return Delivered(False, True, f"answered {code}{hint}")
    after = response.headers.get("retry-after", "")
    # `float`, because `int` refuses thousands of digits.
    wait = min(float(after), _LONGEST_WAIT) if after.isascii() and after.isdecimal() else None
    return Delivered(False, False, f"answered {code}", wait)
