"""What calls may use and did use, in the three wire formats, and how it gets to the meter."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agents.protocols import NOBODY, Account, OverBudget, Tokens
from app.agents.usage import Asked, Metering, Reading, Wire, allowed, error, read_request
from app.questions.model import Cost
from tests.agents.upstreams import OVER, Books, on_loop, sse

ANTHROPIC = {"input_tokens": 20, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}
OPENAI = {
    "prompt_tokens": 25,
    "completion_tokens": 9,
    "prompt_tokens_details": {"cached_tokens": 5},
}
RESPONSES = {
    "input_tokens": 25,
    "output_tokens": 9,
    "input_tokens_details": {"cached_tokens": 5},
}
GOOGLE = {
    "promptTokenCount": 25,
    "cachedContentTokenCount": 5,
    "candidatesTokenCount": 6,
    "thoughtsTokenCount": 3,
}
STREAMS: dict[str, tuple[Wire, bytes, Tokens]] = {
    "anthropic": (
        "anthropic",
        b"event: message_start\n"
        + sse(
            {
                "type": "message_start",
                "message": {"model": "m-2", "usage": {**ANTHROPIC, "output_tokens": 1}},
            },
            {"type": "content_block_delta", "delta": {"text": "Grüße, \u2028"}},
            {"type": "message_delta", "usage": {"output_tokens": 9, "input_tokens": None}},
            {"type": "message_stop"},
        ),
        Tokens(20, 9, 5, 3),
    ),
    "chat": (
        "openai",
        sse(
            {"model": "m-2", "choices": [{"delta": {"content": "Hi"}}], "usage": None},
            {"model": "m-2", "choices": [], "usage": OPENAI},
            "[DONE]",
        ),
        Tokens(20, 9, 5),
    ),
    "responses": (
        "openai",
        sse(
            {"type": "response.created", "response": {"model": "m-2", "usage": None}},
            {"type": "response.completed", "response": {"model": "m-2", "usage": RESPONSES}},
        ),
        Tokens(20, 9, 5),
    ),
    "google": (
        "google",
        sse(
            {"modelVersion": "m-2", "usageMetadata": {"promptTokenCount": 25}},
            {"modelVersion": "m-2", "usageMetadata": GOOGLE},
        ).replace(b"\n", b"\r\n"),
        Tokens(20, 9, 5),
    ),
}
DOCUMENTS: list[tuple[Wire, Any, Tokens]] = [
    (
        "anthropic",
        {"type": "message", "model": "m-2", "usage": {**ANTHROPIC, "output_tokens": 9}},
        Tokens(20, 9, 5, 3),
    ),
    ("openai", {"model": "m-2", "usage": OPENAI}, Tokens(20, 9, 5)),
    ("openai", {"object": "response", "model": "m-2", "usage": RESPONSES}, Tokens(20, 9, 5)),
    ("google", {"modelVersion": "m-2", "usageMetadata": GOOGLE}, Tokens(20, 9, 5)),
    (
        "google",
        [
            {"usageMetadata": {"promptTokenCount": 1}},
            {"modelVersion": "m-2", "usageMetadata": GOOGLE},
        ],
        Tokens(20, 9, 5),
    ),
]


@pytest.mark.parametrize("name", STREAMS)
@given(data=st.data())
def test_a_stream_is_read_however_it_is_cut(name: str, data: st.DataObject) -> None:
    wire, body, expected = STREAMS[name]
    reading = Reading(wire, "text/event-stream; charset=utf-8")
    while body:
        size = data.draw(st.integers(1, len(body)))
        reading.feed(body[:size])
        body = body[size:]
    assert (reading.tokens(), reading.model) == (expected, "m-2")
    assert reading.done is (name != "google")


@pytest.mark.parametrize(("wire", "document", "expected"), DOCUMENTS)
def test_a_document_is_read_at_its_end(wire: Wire, document: Any, expected: Tokens) -> None:
    body = json.dumps(document, indent=1).encode()
    reading = Reading(wire, "application/json")
    reading.feed(body[:30])
    reading.feed(body[30:])
    assert (reading.tokens(), reading.model, reading.done) == (expected, "m-2", False)


@pytest.mark.parametrize(
    ("wire", "kind", "body"),
    [
        ("anthropic", "application/json", b"<html>no JSON</html>"),
        ("anthropic", "application/json", b'{"type": "message", "model": "m"}'),
        ("openai", "application/json", b'{"usage": [1, 2]}'),
        ("openai", "application/json", b'"text"'),
        ("google", "text/event-stream", sse({"candidates": []})),
        # It broke off before it was said how much was written.
        ("anthropic", "text/event-stream", STREAMS["anthropic"][1][:250]),
    ],
)
def test_what_does_not_tell_its_usage_has_none(wire: Wire, kind: str, body: bytes) -> None:
    reading = Reading(wire, kind)
    reading.feed(body)
    assert reading.tokens() is None


def test_counts_that_are_no_numbers_count_nothing() -> None:
    reading = Reading("openai", "application/json")
    reading.feed(b'{"usage": {"prompt_tokens": true, "completion_tokens": -4, "total": "x"}}')
    assert reading.tokens() == Tokens()


def test_a_response_beyond_all_measure_goes_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.agents.usage.LARGEST_READ", 100)
    reading = Reading("openai", "application/json")
    reading.feed(b'{"usage": {"prompt_tokens": 5}, "filler": "' + b"x" * 100)
    reading.feed(b'"}')
    assert reading.tokens() is None


@pytest.mark.parametrize(
    ("wire", "path", "fields", "model", "written"),
    [
        ("anthropic", "/v1/messages", {"model": "m-1", "max_tokens": 50}, "m-1", 50),
        ("anthropic", "/v1/messages", {"model": "m-1"}, "m-1", 8192),
        ("anthropic", "/v1/messages", {"model": 4, "max_tokens": "many"}, "", 8192),
        ("openai", "/v1/chat/completions", {"model": "m", "max_completion_tokens": 7}, "m", 7),
        ("openai", "/v1/chat/completions", {"model": "m", "max_tokens": 7, "n": 3}, "m", 21),
        ("openai", "/v1/responses", {"model": "m", "max_output_tokens": 70}, "m", 70),
        (
            "google",
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            {"generationConfig": {"maxOutputTokens": 5, "candidateCount": 2}, "model": "other"},
            "gemini-2.5-pro",
            10,
        ),
        ("google", "/v1beta/models/g:generateContent", {}, "g", 8192),
    ],
)
def test_what_a_request_may_use_at_most(
    wire: Wire, path: str, fields: dict[str, Any], model: str, written: int
) -> None:
    body = orjson.dumps(fields)
    asked = read_request(wire, path, body)
    assert (asked.model, asked.body, asked.metered) == (model, body, True)
    assert asked.most == Tokens(read=len(body) // 3, written=written)


def test_counting_tokens_is_free() -> None:
    assert not read_request("anthropic", "/v1/messages/count_tokens", b"{}").metered


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": False, "x": 1}}])
def test_a_streaming_chat_is_asked_for_its_usage(options: dict[str, Any]) -> None:
    body = orjson.dumps({"model": "m", "stream": True, **options})
    sent = orjson.loads(read_request("openai", "/v1/chat/completions", body).body)
    given_options = options.get("stream_options", {})
    assert sent["stream_options"] == {**given_options, "include_usage": True}
    assert read_request("openai", "/v1/responses", body).body == body


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"x"', b"\xff"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        read_request("openai", "/v1/responses", body)


@pytest.mark.parametrize(
    ("wire", "path", "expected"),
    [
        ("anthropic", "/v1/messages", True),
        ("anthropic", "/v1/messages/count_tokens", True),
        ("anthropic", "/v1/messages/batches", False),
        ("anthropic", "/v1/messages/", False),
        ("anthropic", "/v1/chat/completions", False),
        ("openai", "/v1/chat/completions", True),
        ("openai", "/v1/responses", True),
        ("openai", "/v1/responses/resp_1", False),
        ("openai", "/v1/files", False),
        ("google", "/v1beta/models/gemini-2.5-pro:generateContent", True),
        ("google", "/v1beta/models/gemini-2.5-pro:streamGenerateContent", True),
        ("google", "/v1beta/models/gemini-2.5-pro:batchEmbedContents", False),
        ("google", "/v1beta/models/a/../b:generateContent", False),
        ("google", "/v1beta/models/a?x=1:generateContent\n", False),
    ],
)
def test_only_calls_of_models_are_allowed(wire: Wire, path: str, expected: bool) -> None:
    assert allowed(wire, path) is expected


def test_errors_have_the_shape_of_the_wire() -> None:
    assert orjson.loads(error("anthropic", 403, "no")) == {
        "type": "error",
        "error": {"type": "permission_error", "message": "no"},
    }
    assert orjson.loads(error("openai", 401, "no"))["error"]["type"] == "authentication_error"
    assert orjson.loads(error("google", 503, "no"))["error"] == {
        "code": 503,
        "message": "no",
        "status": "UNAVAILABLE",
    }


ASKED = Asked("m-1", Tokens(10, 20), b"{}")


@on_loop
async def test_a_call_is_ended_once_and_its_cost_told() -> None:
    books, spent = Books(), list[Cost]()
    async with Metering(books, NOBODY, "openai", ASKED, spent.append) as metering:
        metering.tokens = Tokens(100, 20, 3, 4)
        await metering.settle()
        metering.tokens = None
    assert books.begun == [(NOBODY, "openai", "m-1", Tokens(10, 20))]
    assert books.ended == [Tokens(100, 20, 3, 4)]
    assert spent == [Cost(1.2, 107, 20, 1)]


@on_loop
async def test_what_failed_is_ended_with_tokens_unknown() -> None:
    books, spent = Books(), list[Cost]()
    with pytest.raises(RuntimeError):
        async with Metering(books, NOBODY, "openai", ASKED, spent.append):
            raise RuntimeError
    assert (books.ended, spent) == ([None], [Cost(None, 0, 0, 1)])


@on_loop
async def test_what_is_free_is_not_in_the_books() -> None:
    books, spent = Books(), list[Cost]()
    free = Asked("m-1", Tokens(10, 20), b"{}", metered=False)
    async with Metering(books, NOBODY, "anthropic", free, spent.append):
        pass
    assert (books.begun, books.ended, spent) == ([], [], [])


@on_loop
async def test_over_budget_is_raised_and_nothing_ended() -> None:
    books = Books(OVER)
    with pytest.raises(OverBudget):
        await Metering(books, NOBODY, "openai", ASKED, lambda cost: None).__aenter__()
    assert books.ended == []


class Slow(Books):
    """Begins only when it is let, and cannot end."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.gate = asyncio.Event(), asyncio.Event()

    async def begin(self, account: Account, provider: str, model: str, most: Tokens) -> int:
        self.reached.set()
        await self.gate.wait()
        return await super().begin(account, provider, model, most)


@on_loop
async def test_who_is_cancelled_while_it_begins_ends_it_free_of_charge() -> None:
    books = Slow()

    async def work() -> None:
        async with Metering(books, NOBODY, "openai", ASKED, lambda cost: None):
            raise AssertionError("it was cancelled before")

    task = asyncio.create_task(work())
    await books.reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # twice is no way around it, either
    books.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert books.ended == [Tokens()]


class Broken(Books):
    async def end(self, call: int, tokens: Tokens | None) -> float | None:
        raise OSError("the database is gone")


@on_loop
async def test_books_that_fail_do_not_fail_the_call() -> None:
    spent = list[Cost]()
    async with Metering(Broken(), NOBODY, "openai", ASKED, spent.append) as metering:
        metering.tokens = Tokens(1, 2)
    assert spent == [Cost(None, 1, 2, 1)]
