"""The ASGI application of the web process."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from app import __version__
from app.queue import EVENTS, Bell
from app.settings import Settings
from app.store.beat import Beat
from app.store.engine import connect
from app.store.inbox import Inbox
from app.web import api, health, pages, questions_api
from app.web.webhooks import PATH, Receive, Scope, Send, Webhooks

logger = logging.getLogger(__name__)


PAUSE = 0.1
"""Seconds between two rings of a busy web process; the first one goes out at once."""


class Ringer:
    """Rings in the background: the request does not wait, and rings that pile up become one."""

    def __init__(self, bell: Bell, workers: int) -> None:
        self._bell = bell
        self._workers = workers
        self._due = 0
        self._task: asyncio.Task[None] | None = None

    def __call__(self, work: int) -> None:
        self._due += work
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._ring())

    async def _ring(self) -> None:
        while self._due:
            times, self._due = min(self._due, self._workers), 0
            await asyncio.to_thread(self._bell.ring, EVENTS, times)
            await asyncio.sleep(PAUSE)


LARGEST = 1024 * 1024
"""Bytes of a request's body, but for webhooks; it is read before anybody looks at its token."""


class Application:
    """The webhook route stands before everything else: no middleware, no validation framework."""

    def __init__(self, webhooks: Webhooks, rest: FastAPI) -> None:
        self._webhooks = webhooks
        self.rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            await self._webhooks(scope, receive, send)
        elif scope["type"] == "http" and (refusal := _too_much(scope)) is not None:
            await refusal(scope, receive, send)
        else:
            await self.rest(scope, receive, send)


def _too_much(scope: Scope) -> JSONResponse | None:
    """The refusal of a body that is too large, or does not say how large it is."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return JSONResponse({"detail": "Send the body with its Content-Length."}, 411)
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 12 or int(length) > LARGEST:
        return JSONResponse({"detail": "The body is larger than 1 MB."}, 413)
    return None


def create_app(
    settings: Settings, crash: Callable[[str], None] = lambda point: None
) -> Application:
    """The application; tests stop the process at the points that `crash` is told.

    Raises `ValueError` without the URLs of the database and of Redis.
    """
    if not settings.database_url or not settings.redis_url:
        raise ValueError("KR_DATABASE_URL and KR_REDIS_URL are needed; `kr up` sets them.")
    ringer = Ringer(Bell(settings.redis_url), settings.workers)
    inbox = Inbox(settings.database_url, ringer, crash)
    rest = FastAPI(
        title="Knowledge Router",
        version=__version__,
        lifespan=_lifespan(inbox, Beat(connect(settings.database_url, pool=1), "web")),
        openapi_url=None,  # the description is for those who may read
    )
    pages.add_description(rest, settings)
    questions_api.explain_errors(rest)
    for part in (health, api, questions_api, pages):
        rest.include_router(part.router(settings))
    secret = settings.github_webhook_secret
    return Application(Webhooks(secret.get_secret_value() if secret else None, lambda: inbox), rest)


def _lifespan(inbox: Inbox, beat: Beat) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        beat.start()
        # What was made so far stays; to look through it again and again would stop all requests
        # for tens of milliseconds each time.
        gc.collect()
        gc.freeze()
        yield
        await inbox.close()
        await asyncio.to_thread(beat.stop)

    return lifespan
