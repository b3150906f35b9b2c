"""A provider of models as the forwarder sees it: its key, its line, its retries.

What is waited for and how long is in `Rules`, all in seconds. Keys are neither logged nor put
into the text of an error.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from pydantic import SecretStr

from app.agents.breaker import Breaker, OutOfTime, Passage, Rules, Unreached
from app.agents.protocols import AgentUnavailable
from app.agents.usage import Wire

logger = logging.getLogger(__name__)

OAUTH = "oauth-2025-04-20"
RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_VENDORS = ("anthropic.com", "openai.com", "googleapis.com")
_NEVER_REACHED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol)
Left = Callable[[], float | None]
Again = Callable[[], Awaitable[None]]


async def nothing_to_do() -> None:
    """For whoever keeps no books."""


_VERSION = re.compile(r"/v\d[a-z0-9]*$")


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models are called, and with which key."""

    name: str
    """`anthropic`, `openai`, `google`, or `role:architect` for a role's own server."""
    wire: Wire
    base_url: str
    """The request's path is appended; a version at its end (`/v1`) takes the place of the
    path's own, as is usual in `OPENAI_BASE_URL`."""
    key: SecretStr | None
    bearer: SecretStr | None = None
    """An OAuth token; only Anthropic takes one, and only where there is no key."""
    at_once: int = 100
    """Calls under way at a time; the rest wait in order."""

    def url(self, path: str, query: str) -> str:
        """Where a call of this path goes."""
        base = self.base_url.rstrip("/")
        if _VERSION.search(base):
            path = "/" + path.split("/", 2)[2]
        return f"{base}{path}?{query}" if query else f"{base}{path}"

    def lacks_key(self) -> bool:
        """Whether it has no key and needs one: the vendors' own servers do, others may not."""
        host = httpx.URL(self.base_url).host
        vendors = any(host == vendor or host.endswith(f".{vendor}") for vendor in _VENDORS)
        return vendors and self.key is None and self.bearer is None

    def signed(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers, with the key."""
        if self.key is not None:
            key = self.key.get_secret_value().strip()
            match self.wire:
                case "anthropic":
                    return {**headers, "x-api-key": key}
                case "openai":
                    return {**headers, "authorization": f"Bearer {key}"}
                case "google":
                    return {**headers, "x-goog-api-key": key}
        if self.bearer is None or self.wire != "anthropic":
            return dict(headers)
        betas = ",".join(filter(None, [headers.get("anthropic-beta"), OAUTH]))
        token = self.bearer.get_secret_value().strip()
        return {**headers, "anthropic-beta": betas, "authorization": f"Bearer {token}"}


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request on its way to the provider, still without the key."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    streams: bool = True
    """Whether the answer comes in pieces; else nothing is heard until it is whole."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A response whose body is still to be read."""

    response: httpx.Response
    passage: Passage
    refusal: AgentUnavailable | None = None
    """Why it is an error that is not tried again, though it might pass."""


class Upstream:
    """One provider at work."""

    def __init__(self, provider: Provider, rules: Rules) -> None:
        self.provider = provider
        self.line = asyncio.Semaphore(provider.at_once)
        """First come, first served."""
        self.breaker = Breaker(provider.name, rules)
        self._rules = rules
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(rules.silence, connect=rules.connect, pool=None),
            # The line limits the connections; the pool need not.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            headers={"accept-encoding": "identity", "user-agent": "knowledge-router"},
        )

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    @asynccontextmanager
    async def ask(
        self, outgoing: Outgoing, left: Left, again: Again = nothing_to_do
    ) -> AsyncIterator[Opened]:
        """Send a request, again if need be; the body is to be read inside.

        `again` is called before one is repeated that the provider may have worked on: it costs.
        `left` tells the seconds that are left for it, None without limit. Raises `Unreached` if
        no response came, or it broke off, or the breaker is open.
        """
        with self.breaker.passage() as passage:
            opened = await self._tries(outgoing, passage, left, again)
            try:
                yield opened
            except httpx.HTTPError as broken:
                raise self._unreached(broken) from None
            finally:
                await opened.response.aclose()

    async def _tries(
        self, outgoing: Outgoing, passage: Passage, left: Left, again: Again
    ) -> Opened:
        number = 0
        while True:
            number += 1
            try:
                response = await self._once(outgoing, left())
            except Unreached as fault:
                wait = self._wait(number, None, left())
                if wait is None or not fault.again:
                    raise
                if not fault.free:
                    await again()
            else:
                status = response.status_code
                passage.failed = status >= 500 or status == httpx.codes.REQUEST_TIMEOUT
                if status not in RETRIED:
                    return Opened(response, passage)
                asked = _retry_after(response.headers)
                wait = self._wait(number, asked, left())
                if wait is None or response.headers.get("x-should-retry") == "false":
                    passage.failed |= status == 429 and number == self._rules.tries
                    return Opened(response, passage, self._given_up(status, number, asked))
                await response.aclose()
                passage.failed = False
            await self._rules.sleep(wait)

    async def _once(self, outgoing: Outgoing, left: float | None) -> httpx.Response:
        provider = self.provider
        # What is not streamed is silent until it is whole: then the call's own time is the limit.
        quiet = self._rules.silence
        if not outgoing.streams and left is not None:
            quiet = max(quiet, left)
        request = self._client.build_request(
            "POST",
            provider.url(outgoing.path, outgoing.query),
            content=outgoing.body,
            headers=provider.signed(outgoing.headers),
            timeout=httpx.Timeout(quiet, connect=self._rules.connect, pool=None),
        )
        try:
            async with asyncio.timeout(left):
                return await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        except TimeoutError:
            # That somebody gave it little time says nothing of the provider.
            raise OutOfTime(
                f"{provider.name} did not answer in the time given", free=False
            ) from None

    def _wait(self, number: int, asked: float | None, left: float | None) -> float | None:
        """The pause after a failed try in seconds, None if there is not to be another."""
        rules = self._rules
        longest = min(rules.longest_pause, rules.first_pause * 2 ** (number - 1))
        wait = max(longest * rules.chance(), asked or 0.0)
        late = left is not None and wait >= left
        too_long = late or (asked or 0.0) > rules.longest_wait
        return None if too_long or number >= rules.tries else wait

    def _given_up(self, status: int, number: int, asked: float | None) -> AgentUnavailable:
        text = f"{self.provider.name} answered {status} at try {number} of {self._rules.tries}"
        if asked is not None:
            text += f" and asks for a pause of {asked:g} seconds"
        logger.warning("%s", text)
        return AgentUnavailable(text)

    def _unreached(self, error: httpx.HTTPError) -> Unreached:
        """What went wrong, without the error's own text, which may hold a header."""
        name, kind = self.provider.name, type(error).__name__
        if isinstance(error, httpx.ReadTimeout):
            fault = Unreached(
                f"{name} sent nothing for {self._rules.silence:g} seconds", free=False
            )
        elif isinstance(error, _NEVER_REACHED):
            fault = Unreached(f"{name} cannot be reached: {kind}", free=True, again=True)
        else:
            again = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
            fault = Unreached(f"the connection to {name} broke: {kind}", free=False, again=again)
        logger.warning("%s", fault)
        return fault


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds, whether the header names those or a date; None if it says neither."""
    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            date = parsedate_to_datetime(said)
        except ValueError:
            return None
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (aware - datetime.now(UTC)).total_seconds()
    return None if math.isnan(seconds) else max(0.0, seconds)
