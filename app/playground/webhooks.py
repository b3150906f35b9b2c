"""Webhooks: signed, sent at once, tried once, remembered; again only when somebody asks."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

import httpx

from app.playground.config import PlaygroundConfig
from app.playground.state import Json, now

TIMEOUT = 10.0
KEPT = 5000


@dataclass
class Delivery:
    """One attempt to deliver."""

    id: int
    guid: str
    event: str
    action: str | None
    body: bytes
    installation: int | None
    repository: int | None
    redelivery: bool = False
    delivered: datetime = field(default_factory=now)
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    url: str = ""
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    response: str = ""


def signatures(secret: str, body: bytes) -> dict[str, str]:
    """Both of GitHub's signature headers."""
    key = secret.encode()
    return {
        "X-Hub-Signature-256": "sha256=" + hmac.digest(key, body, "sha256").hex(),
        "X-Hub-Signature": "sha1=" + hmac.new(key, body, hashlib.sha1).hexdigest(),
    }


class Hooks:
    """The App's webhook and the log of its deliveries, the newest last."""

    def __init__(self, config: PlaygroundConfig, new_id: Callable[[], int]) -> None:
        self._config = config
        self._tasks: set[asyncio.Task[None]] = set()
        self._client: httpx.AsyncClient | None = None
        self.reset(new_id)

    def reset(self, new_id: Callable[[], int]) -> None:
        """Back to the configured address, with an empty log."""
        self.url = self._config.webhook_url
        self.secret = self._config.webhook_secret
        self.hook_id = 1
        self.log: list[Delivery] = []
        self._new_id = new_id

    def send(self, event: str, payload: Json) -> None:
        """Deliver an event, in the background."""
        if not self.url:
            return
        delivery = Delivery(
            self._new_id(),
            str(uuid.uuid4()),
            event,
            payload.get("action"),
            json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(),
            (payload.get("installation") or {}).get("id"),
            (payload.get("repository") or {}).get("id"),
        )
        self._begin(delivery)

    def again(self, old: Delivery) -> Delivery:
        """Deliver once more, with the same GUID and body."""
        fresh = Delivery(
            self._new_id(),
            old.guid,
            old.event,
            old.action,
            old.body,
            old.installation,
            old.repository,
            redelivery=True,
        )
        self._begin(fresh)
        return fresh

    def find(self, delivery_id: int) -> Delivery | None:
        """A delivery by its id."""
        return next((d for d in self.log if d.id == delivery_id), None)

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Stop what is under way."""
        for task in list(self._tasks):
            task.cancel()
        if self._client is not None:
            await self._client.aclose()

    def _begin(self, delivery: Delivery) -> None:
        self.log.append(delivery)
        del self.log[:-KEPT]
        task = asyncio.get_running_loop().create_task(self._attempt(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _headers(self, delivery: Delivery) -> dict[str, str]:
        return {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/playground",
            "X-GitHub-Delivery": delivery.guid,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(self.hook_id),
            "X-GitHub-Hook-Installation-Target-ID": self._config.app_id,
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            **signatures(self.secret, delivery.body),
        }

    async def _attempt(self, delivery: Delivery) -> None:
        delivery.url = self.url or ""
        delivery.request_headers = self._headers(delivery)
        begun = time.monotonic()
        try:
            async with asyncio.timeout(TIMEOUT):
                answer = await self._post(delivery)
        except (TimeoutError, httpx.TimeoutException):
            delivery.status, delivery.status_code = "timed out", 504
        except (httpx.HTTPError, httpx.InvalidURL, OSError):
            delivery.status, delivery.status_code = "failed to connect to host", 502
        else:
            delivery.status_code = answer.status_code
            delivery.response_headers = dict(answer.headers)
            delivery.response = answer.text[:65536]
            delivery.status = _phrase(answer)
        delivery.duration = round(time.monotonic() - begun, 3)

    async def _post(self, delivery: Delivery) -> httpx.Response:
        if self._client is None:
            limits = httpx.Limits(max_connections=50, max_keepalive_connections=10)
            self._client = httpx.AsyncClient(timeout=TIMEOUT, limits=limits, trust_env=False)
        headers = delivery.request_headers
        return await self._client.post(delivery.url, content=delivery.body, headers=headers)


def _phrase(answer: httpx.Response) -> str:
    if answer.is_success:
        return "OK"
    try:
        return f"Invalid HTTP Response: {HTTPStatus(answer.status_code).value}"
    except ValueError:
        return "Invalid HTTP Response"
