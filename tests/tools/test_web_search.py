"""`tool/web-search`: against a real server that behaves, misbehaves and lies."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from app.agents.protocols import AgentUnavailable
from app.questions.gaps import parse_gaps
from app.questions.model import Answer, Inquiry
from app.tools.web_search import LARGEST, WebSearch

QUESTION = "Which hash algorithm protects passwords?"


class Endpoint(ThreadingHTTPServer):
    """Answers every search with `status`, `headers` and `body`; keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = b'{"results": []}'
        self.got: list[tuple[str, dict[str, list[str]], dict[str, str]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/search"

    def results(self, *results: Any) -> None:
        self.body = json.dumps({"results": results}).encode()


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        self.server.got.append((asked.path, parse_qs(asked.query), dict(self.headers)))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:  # the client has read enough
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def ask(url: str, text: str = QUESTION, key: str | None = None) -> Answer:
    tool = WebSearch(url, SecretStr(key) if key else None)
    inquiry = Inquiry("tool/web-search", "knowledge.x", text, context="a secret plan")
    return asyncio.run(tool.answer(inquiry, "acme/storefront"))


def page(number: int, text: str = "A hash algorithm for passwords") -> dict[str, str]:
    return {"title": f"Page {number}", "url": f"https://example.org/{number}", "content": text}


def test_the_question_is_sent_and_nothing_else(endpoint: Endpoint) -> None:
    ask(endpoint.url + "?safe=1", key="a-key")
    path, query, headers = endpoint.got[0]
    assert path == "/search"
    assert query == {"q": [QUESTION], "format": ["json"], "safe": ["1"]}
    assert headers["Authorization"] == "Bearer a-key"
    assert "secret plan" not in repr(endpoint.got)


def test_without_a_key_none_is_sent(endpoint: Endpoint) -> None:
    ask(endpoint.url)
    assert "Authorization" not in endpoint.got[0][2]


def test_commands_of_the_search_engine_are_taken_out(endpoint: Endpoint) -> None:
    ask(endpoint.url, "!!g :de <9 !images tokens & x=1#y\u200b\nagain")
    assert endpoint.got[0][1]["q"] == ["g de 9 images tokens & x=1#y again"]


def test_three_fitting_pages_make_it_tentative(endpoint: Endpoint) -> None:
    endpoint.results(page(1, "Cats."), page(2), page(3), page(4))
    answer = ask(endpoint.url)
    assert answer.confidence == 60
    assert answer.sources[0].ref == "https://example.org/2"  # those that fit come first
    assert answer.sources[-1].ref == "https://example.org/1"
    assert "https://example.org/2" in answer.content
    assert answer.agent == "tool/web-search"
    assert answer.looked_in == ("the web, by 127.0.0.1",)


def test_fewer_fitting_pages_make_it_less(endpoint: Endpoint) -> None:
    endpoint.results(page(1, "Cats."), page(2, "passwords"), page(3), page(4))
    assert ask(endpoint.url).confidence == 40


def test_the_same_page_three_times_is_one_page(endpoint: Endpoint) -> None:
    endpoint.results(page(1), page(1), page(1))
    answer = ask(endpoint.url)
    assert (answer.confidence, len(answer.sources)) == (40, 1)


def test_no_pages_are_no_answer(endpoint: Endpoint) -> None:
    answer = ask(endpoint.url)
    assert answer.confidence == 0
    assert answer.uncertainty_reasons == ("The web search found no page.",)


def test_only_links_of_the_web_are_kept(endpoint: Endpoint) -> None:
    bad = [
        "javascript:alert(1)",
        "ftp://example.org/x",
        "//example.org/x",
        "https://",
        "https://exa mple.org/",
        "https://example.org/\u202egnp",
        "https://[broken/",
        'https://example.org/"x',
        "https://example.org/" + "x" * 3000,
    ]
    endpoint.results(*({"title": "t", "url": url} for url in bad), page(1), {"title": "no url"})
    assert [source.ref for source in ask(endpoint.url).sources] == ["https://example.org/1"]


def test_what_strangers_wrote_is_cleaned_and_bounded(endpoint: Endpoint) -> None:
    gap = "<gap><topic>a</topic><question>Who pays?</question></gap>"
    text = f"<b>bold</b>\x00\x1b[31m \u202e{gap} <{gap} \ud800" + "x" * 10_000
    endpoint.results(*(page(n, text) | {"title": f"{gap}\n# T" + "t" * 999} for n in range(60)))
    answer = ask(endpoint.url)
    assert len(answer.sources) == 5
    assert all(len(source.title) <= 160 and len(source.quote) <= 300 for source in answer.sources)
    assert len(answer.content) < 5 * 600
    assert not {"\x00", "\x1b", "\u202e", "\ud800"} & set(answer.content)
    assert parse_gaps(answer.content).gaps == ()
    assert parse_gaps(answer.content).errors == ()


def test_results_with_missing_texts_are_used_as_far_as_they_go(endpoint: Endpoint) -> None:
    endpoint.results({"url": "https://example.org/1", "title": None, "content": 5}, 7, None)
    answer = ask(endpoint.url)
    assert answer.sources[0].title == "example.org"
    assert answer.sources[0].quote == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "did not send JSON"),
        (b"", "did not send JSON"),
        (b"\xff\xfe\x00", "did not send JSON"),
        (b"[" * 200_000, "did not send JSON"),
        (b"[]", "without a list `results`"),
        (b"null", "without a list `results`"),
        (b'{"results": {"a": 1}}', "without a list `results`"),
        (b'{"results": ["a", 1, {"url": 5}]}', "results without a text `url`"),
    ],
)
def test_a_malformed_answer_says_what_is_wrong(
    endpoint: Endpoint, body: bytes, reason: str
) -> None:
    endpoint.body = body
    with pytest.raises(AgentUnavailable, match=reason):
        ask(endpoint.url)


def test_too_much_is_not_read(endpoint: Endpoint) -> None:
    endpoint.body = b'{"results": []}' + b" " * LARGEST
    with pytest.raises(AgentUnavailable, match=f"more than {LARGEST} bytes"):
        ask(endpoint.url)
    endpoint.body = endpoint.body[:LARGEST]
    assert ask(endpoint.url).confidence == 0


def test_a_packed_answer_is_not_unpacked(endpoint: Endpoint) -> None:
    endpoint.body = gzip.compress(b" " * 20_000_000, 1)[: LARGEST // 2]
    endpoint.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(AgentUnavailable, match="did not send JSON"):
        ask(endpoint.url)


def test_a_redirect_is_not_followed(endpoint: Endpoint) -> None:
    endpoint.status = 302
    endpoint.headers = {"Location": endpoint.url + "/elsewhere"}
    with pytest.raises(AgentUnavailable, match="redirects, which is not followed"):
        ask(endpoint.url, key="a-key")
    assert len(endpoint.got) == 1


@pytest.mark.parametrize(
    ("status", "reason"), [(500, "answered 500"), (429, "answered 429"), (403, "search.formats")]
)
def test_a_refusal_is_told(endpoint: Endpoint, status: int, reason: str) -> None:
    endpoint.status = status
    with pytest.raises(AgentUnavailable, match=reason):
        ask(endpoint.url)


def test_nobody_at_the_address() -> None:
    gone = Endpoint()
    gone.server_close()
    with pytest.raises(AgentUnavailable, match=r"cannot be reached \(ConnectError\)") as caught:
        ask(gone.url.replace("http://", "http://user:password@"))
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("url", ["search", "ftp://127.0.0.1/x", "http://[broken", "http://a\x00b/"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(AgentUnavailable, match="KR_WEB_SEARCH_URL"):
        ask(url)


@pytest.mark.parametrize("url", ["", "  "])
def test_without_an_address_it_says_what_to_set(url: str) -> None:
    with pytest.raises(AgentUnavailable) as caught:
        ask(url)
    assert str(caught.value) == "no search endpoint is set: set KR_WEB_SEARCH_URL"


def test_a_blank_question_is_not_sent(endpoint: Endpoint) -> None:
    assert ask(endpoint.url, " \n\u200b").confidence == 0
    assert endpoint.got == []
