"""`tool/web-search`: asks the operator's search endpoint, SearXNG or one like it (specs/2).

`GET {url}?q=…&format=json` → `{"results": [{"title", "url", "content"}]}`. Only the question's
text leaves the house, none of its context. What comes back is data of strangers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from app.agents.protocols import AgentUnavailable
from app.agents.retrieval import words
from app.questions.model import Answer, Inquiry, Source
from app.texts.safe import one_line, visible
from app.tools.protocols import foreign, nothing

TIMEOUT = 5.0
"""Seconds to connect, and for each piece of the answer."""
LARGEST = 1_000_000
"""Bytes of an answer that are read."""

_QUERY = 300
_READ = 50
_SHOWN = 5
_URL = re.compile(r"https?://[^\s<>\"'`\\^{|}]{1,2000}", re.IGNORECASE)
_BANG = re.compile(r"(?<!\S)[!:<]+(?=\S)")
_HTML = re.compile(r"<[^<>]{0,500}>")


@dataclass(frozen=True, slots=True)
class Result:
    """A page that was found, its text cleaned and bounded."""

    title: str
    url: str
    content: str


class WebSearch:
    """Answers with the pages found. An empty `url` means that nothing is set up."""

    name = "web-search"

    def __init__(self, url: str, key: SecretStr | None = None) -> None:
        self._url = url.strip()
        self._key = key

    async def answer(self, inquiry: Inquiry, repo: str) -> Answer:
        """Search for the question's text. Raises `AgentUnavailable`."""
        if not self._url:
            raise AgentUnavailable("no search endpoint is set: set KR_WEB_SEARCH_URL")
        query = query_of(inquiry.text)
        results = results_of(await self._fetch(query)) if query else []
        looked_in = (f"the web, by {_host(self._url) or 'the search endpoint'}",)
        if not results:
            return nothing(self.name, "The web search found no page.", looked_in)
        return _answer(inquiry.text, results, looked_in)

    async def _fetch(self, query: str) -> bytes:
        # Unpacked, a small answer could be a thousand times as large: we ask for it as it is.
        headers = httpx.Headers(
            {"Accept": "application/json", "Accept-Encoding": "identity"}, encoding="utf-8"
        )
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        try:
            url = httpx.URL(self._url).copy_merge_params({"q": query, "format": "json"})
            async with (
                httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as client,
                client.stream("GET", url, headers=headers) as response,
            ):
                _check(response)
                return await _read(response)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise AgentUnavailable(
                "the search endpoint has no address that can be asked: set KR_WEB_SEARCH_URL to"
                " one that begins with https://"
            ) from None
        except httpx.TimeoutException:
            raise AgentUnavailable(
                f"the search endpoint did not answer within {TIMEOUT:g} seconds"
            ) from None
        except httpx.HTTPError as error:
            raise AgentUnavailable(
                f"the search endpoint cannot be reached ({type(error).__name__}): check"
                " KR_WEB_SEARCH_URL"
            ) from None


def query_of(text: str) -> str:
    """The question on one line, without the `!engine` and `:language` commands of SearXNG."""
    return _BANG.sub("", one_line(text, _QUERY)).strip()


def _check(response: httpx.Response) -> None:
    if response.is_redirect:
        raise AgentUnavailable(
            "the search endpoint redirects, which is not followed: set KR_WEB_SEARCH_URL to where"
            " it leads"
        )
    if response.status_code in {401, 403}:
        raise AgentUnavailable(
            f"the search endpoint answered {response.status_code}: check its key; SearXNG also"
            " needs `json` among its search.formats"
        )
    if response.status_code != 200:
        raise AgentUnavailable(f"the search endpoint answered {response.status_code}, not 200")


async def _read(response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > LARGEST:
            raise AgentUnavailable(f"the search endpoint sent more than {LARGEST} bytes")
    return bytes(body)


def results_of(body: bytes) -> list[Result]:
    """The pages of an answer, each once. Raises `AgentUnavailable` saying what is malformed."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise AgentUnavailable("the search endpoint did not send JSON") from None
    found = data.get("results") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise AgentUnavailable("the search endpoint sent JSON without a list `results`")
    entries = [one for one in found[:_READ] if _is_entry(one)]
    if found and not entries:
        raise AgentUnavailable("the search endpoint sent results without a text `url`")
    pages: dict[str, Result] = {}
    for one in entries:
        if _is_link(one["url"]):
            pages.setdefault(one["url"], _result(one))
    return list(pages.values())


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("url"), str)


def _is_link(url: str) -> bool:
    return bool(_URL.fullmatch(url)) and visible(url) == url and bool(_host(url))


def _host(url: str) -> str:
    """The host of an address, never the name and password before it; empty if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _result(entry: dict[str, Any]) -> Result:
    title, content = (
        _clean(entry.get(name), most) for name, most in (("title", 160), ("content", 300))
    )
    return Result(title or _host(entry["url"]), entry["url"], content)


def _clean(value: Any, limit: int) -> str:
    if not isinstance(value, str):
        return ""
    return foreign(one_line(_HTML.sub("", value[:20_000]), limit), limit)


def _share(wanted: frozenset[str], result: Result) -> float:
    """Which part of the question's words a page's title and text have, 0 to 1."""
    have = frozenset(words(f"{result.title} {result.content}"))
    return len(wanted & have) / len(wanted) if wanted else 0.0


def _answer(question: str, results: Sequence[Result], looked_in: tuple[str, ...]) -> Answer:
    wanted = frozenset(words(question))
    share = {result.url: _share(wanted, result) for result in results}
    fitting = sum(value >= 0.5 for value in share.values())
    shown = sorted(results, key=lambda result: -share[result.url])[:_SHOWN]
    lines = [f"- {one.title}: {one.content or '(no text)'} ({one.url})" for one in shown]
    doubts = ["Pages of the web know nothing of this repository, and anybody may write them."]
    if fitting < 3:
        doubts.append("Fewer than three of them have half of the question's words.")
    return Answer(
        content="\n".join(("These pages of the web speak of it:", "", *lines)),
        rationale=f"The web search found {len(results)} pages; {fitting} fit the question's words.",
        # Strangers wrote it: below 80, the usual threshold, so that somebody reads it first.
        confidence=60 if fitting >= 3 else 40,
        uncertainty_reasons=tuple(doubts),
        sources=tuple(Source(one.title, one.url, one.content) for one in shown),
        agent=f"tool/{WebSearch.name}",
        backend=WebSearch.name,
        looked_in=looked_in,
    )
