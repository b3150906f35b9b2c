"""The forwarder between agents and providers, over real connections on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.agents.forwarder import LARGEST_BODY, Forwarder, Lease, Provider
from app.agents.protocols import NOBODY, AgentUnavailable, OverBudget, Tokens
from app.agents.usage import Asked, Metering
from app.questions.model import Cost
from tests.agents.upstreams import (
    KEY,
    ME,
    OVER,
    PATHS,
    TICKETS,
    Books,
    Patience,
    Script,
    forwarding,
    nobody_there,
    on_loop,
    says,
    sse,
    streams,
    waits,
)

USED = {"input_tokens": 30, "output_tokens": 20}
MESSAGE = {"type": "message", "model": "m-1-2026", "usage": USED}
CHAT = {"model": "m-1-2026", "usage": {"prompt_tokens": 30, "completion_tokens": 20}}
CONTENT = {
    "modelVersion": "m-1-2026",
    "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 20},
}
DOCUMENTS = {"anthropic": MESSAGE, "openai": CHAT, "google": CONTENT}
START = sse({"type": "message_start", "message": MESSAGE})
END = sse({"type": "message_delta", "usage": {"output_tokens": 20}}, {"type": "message_stop"})
STREAMS = {
    "anthropic": (START, END),
    "openai": (sse({"model": "m-1-2026", "choices": [1]}), sse(CHAT, "[DONE]")),
    "google": (sse({"modelVersion": "m-1-2026"}), sse(CONTENT)),
}
FINE = says(MESSAGE)


@pytest.mark.parametrize("wire", DOCUMENTS)
@on_loop
async def test_a_call_is_passed_on_with_the_key_and_without_the_ticket(wire: str) -> None:
    async with forwarding(says(DOCUMENTS[wire]), wire=wire) as world:
        with world.lease() as lease:
            sent = {"cookie": "a=b", "x-stainless-lang": "js", "anthropic-version": "2023-06-01"}
            response = await world.call(lease, headers=sent)
            assert lease.cost == Cost(0.5, 30, 20, 1)
    assert response.json() == DOCUMENTS[wire]
    [seen] = world.upstream.seen
    assert seen.body == world.asked
    assert seen.path.endswith(PATHS[wire])
    assert seen.headers[TICKETS[wire]].removeprefix("Bearer ") == KEY
    assert lease.key not in json.dumps(seen.headers)
    assert not {"cookie", "x-stainless-lang"} & set(seen.headers)
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert seen.headers["accept-encoding"] == "identity"
    assert (lease.model, lease.refusal) == ("m-1-2026", None)
    [(account, name, model, most)] = world.books.begun
    assert (account, name) == (ME, wire)
    assert model == ("gemini-x" if wire == "google" else "m-1")
    assert most.read == len(json.dumps(world.asked, separators=(",", ":"))) // 3
    assert world.books.ended == [Tokens(30, 20)]


@pytest.mark.parametrize("header", ["x-api-key", "x-goog-api-key", "authorization"])
@on_loop
async def test_the_ticket_may_come_as_any_kind_of_key(header: str) -> None:
    async with forwarding(FINE) as world:
        with world.lease() as lease:
            ticket = f"Bearer {lease.key}" if header == "authorization" else lease.key
            response = await world.call(lease, key="", headers={header: ticket})
    assert response.status_code == 200


@pytest.mark.parametrize("wire", STREAMS)
@on_loop
async def test_pieces_are_passed_on_as_they_come(wire: str) -> None:
    gate = asyncio.Event()
    first, last = STREAMS[wire]
    async with forwarding(streams(first, gate, last), wire=wire) as world:
        with world.lease() as lease:
            response = await world.begin(lease, body={**world.asked, "stream": True})
            pieces = response.aiter_raw()
            assert await anext(pieces) == first
            assert world.books.ended == []
            gate.set()
            assert await anext(pieces) == last
            if wire != "google":  # here a client may hang up without waiting for the end
                assert lease.cost.calls == 1
            assert [piece async for piece in pieces] == []
            assert lease.cost == Cost(0.5, 30, 20, 1)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert lease.model == "m-1-2026"
    asks = wire == "openai"
    assert ("stream_options" in world.upstream.seen[0].body) is asks


@on_loop
async def test_the_query_is_passed_on_but_for_keys() -> None:
    path = "/v1beta/models/g:streamGenerateContent?alt=sse&key=secret"
    async with forwarding(says(CONTENT), wire="google") as world:
        with world.lease() as lease:
            await world.call(lease, path=path)
    assert world.upstream.seen[0].query == "alt=sse"


@on_loop
async def test_counting_tokens_is_not_metered() -> None:
    async with forwarding(says({"input_tokens": 5})) as world:
        with world.lease() as lease:
            response = await world.call(lease, path="/v1/messages/count_tokens")
    assert response.json() == {"input_tokens": 5}
    assert (world.books.begun, lease.cost) == ([], Cost())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/files"),
        ("POST", "/"),
        ("GET", "/v1/messages"),
        ("DELETE", "/v1/messages"),
    ],
)
@on_loop
async def test_every_other_path_is_not_found(method: str, path: str) -> None:
    async with forwarding(FINE) as world:
        with world.lease() as lease:
            response = await world.call(lease, method=method, path=path)
    assert response.status_code == 404
    assert response.json()["error"]["type"] == "not_found_error"
    assert world.upstream.seen == []


@on_loop
async def test_only_the_ticket_of_a_living_lease_for_this_provider_is_good() -> None:
    books = Books()
    url = nobody_there()
    both = {
        name: Provider(name, "openai", url, SecretStr(KEY)) for name in ("openai", "role:architect")
    }
    forwarder = Forwarder(both, books)
    await forwarder.start()
    async with httpx.AsyncClient(trust_env=False) as client:

        async def status(lease: Lease, ticket: str) -> int:
            headers = {"authorization": f"Bearer {ticket}"}
            url = f"{lease.base_url}/responses"
            return (await client.post(url, json=[], headers=headers)).status_code

        with forwarder.lease("openai", ME, 9) as one:
            with forwarder.lease("role:architect", ME, 9) as other:
                assert one.base_url != other.base_url
                assert await status(one, one.key) == 400  # let in, and found to be no object
                assert await status(one, other.key) == 401
                assert await status(one, one.key[:-1]) == 401
                assert await status(one, "x") == 401
                assert await status(one, KEY) == 401
            assert await status(other, other.key) == 401
    await forwarder.stop()
    assert books.begun == []


@on_loop
async def test_a_lease_needs_a_provider_with_a_key_and_a_running_forwarder() -> None:
    vendor = Provider("openai", "openai", "https://api.openai.com/v1", None)
    forwarder = Forwarder(
        {"openai": vendor, "local": Provider("l", "openai", "http://h", None)}, Books()
    )
    for name, problem in (
        ("anthropic", "no model provider anthropic"),
        ("openai", "openai has no key"),
        ("local", "not running"),
    ):
        with pytest.raises(AgentUnavailable, match=problem), forwarder.lease(name, ME, 1):
            pass
    await forwarder.stop()


@on_loop
async def test_a_body_that_is_too_large_is_refused() -> None:
    async with forwarding(FINE) as world:
        with world.lease() as lease:
            large = {"model": "m", "text": "x" * LARGEST_BODY}
            response = await world.call(lease, body=large)
            fits = await world.call(lease, body={"model": "m", "text": "x" * (LARGEST_BODY - 99)})
    assert (response.status_code, response.json()["error"]["type"]) == (413, "request_too_large")
    assert fits.status_code == 200
    assert len(world.upstream.seen) == 1


@pytest.mark.parametrize(("wire", "kind"), [("anthropic", "permission_error"), ("google", 403)])
@on_loop
async def test_over_budget_is_an_error_that_is_not_tried_again(wire: str, kind: Any) -> None:
    async with forwarding(FINE, wire=wire, books=Books(OVER)) as world:
        with world.lease() as lease:
            response = await world.call(lease)
    assert response.status_code == 403
    assert response.headers["x-should-retry"] == "false"
    told = response.json()["error"]
    assert kind in (told.get("type"), told.get("code"))
    assert told["message"] == str(OVER)
    assert isinstance(lease.refusal, OverBudget)
    assert (world.upstream.seen, lease.cost) == ([], Cost())


@on_loop
async def test_books_that_cannot_be_opened_let_nothing_through() -> None:
    async with forwarding(FINE, books=Books(OSError("host=db password=hidden"))) as world:
        with world.lease() as lease:
            response = await world.call(lease)
    assert response.status_code == 503
    assert str(lease.refusal) == "the forwarder failed: OSError"
    assert world.upstream.seen == []


@on_loop
async def test_what_is_busy_is_tried_again_and_paid_once() -> None:
    busy = says({}, 429, retry_after="2")
    async with forwarding(busy, says({}, 529), FINE) as world:
        with world.lease() as lease:
            response = await world.call(lease)
    assert (response.status_code, lease.refusal) == (200, None)
    assert world.patience.pauses == [2.0, 1.0]
    assert world.books.ended == [Tokens(30, 20)]


@on_loop
async def test_what_stays_busy_is_given_up_and_free() -> None:
    async with forwarding(says({"error": "busy"}, 529, retry_after="3")) as world:
        with world.lease() as lease:
            response = await world.call(lease)
    assert (response.status_code, response.json()) == (529, {"error": "busy"})
    assert response.headers["retry-after"] == "3"
    assert response.headers["x-should-retry"] == "false"
    assert "answered 529 at try 4 of 4" in str(lease.refusal)
    assert len(world.upstream.seen) == 4
    assert (world.books.ended, lease.cost) == ([Tokens()], Cost(0.0, 0, 0, 1))


@on_loop
async def test_an_error_of_the_request_is_passed_on_unchanged() -> None:
    async with forwarding(says({"error": "no such model"}, 404)) as world:
        with world.lease() as lease:
            response = await world.call(lease)
    assert (response.status_code, response.json()) == (404, {"error": "no such model"})
    assert "x-should-retry" not in response.headers
    assert (lease.refusal, world.books.ended) == (None, [Tokens()])


@on_loop
async def test_a_provider_that_is_down_costs_nothing() -> None:
    async with forwarding(FINE, base_url=nobody_there()) as world:
        with world.lease() as lease:
            response = await world.call(lease)
    assert response.status_code == 503
    assert "cannot be reached" in response.json()["error"]["message"]
    assert "cannot be reached" in str(lease.refusal)
    assert world.books.ended == [Tokens()]


@on_loop
async def test_a_stream_that_breaks_is_seen_to_be_broken() -> None:
    async with forwarding(streams(START, breaks=True)) as world:
        with world.lease() as lease:
            response = await world.begin(lease)
            with pytest.raises(httpx.RemoteProtocolError):
                await response.aread()
            assert lease.cost == Cost(None, 0, 0, 1)
    assert "broke" in str(lease.refusal)
    assert (world.books.ended, len(world.upstream.seen)) == ([None], 1)


@on_loop
async def test_silence_within_a_stream_cuts_it() -> None:
    patience = Patience(silence=0.1)
    async with forwarding(streams(START, asyncio.Event()), patience=patience) as world:
        with world.lease() as lease:
            response = await world.begin(lease, body=world.asked | {"stream": True})
            with pytest.raises(httpx.RemoteProtocolError):
                await response.aread()
    assert "sent nothing for 0.1 seconds" in str(lease.refusal)
    assert world.books.ended == [None]


@on_loop
async def test_silence_before_the_answer_is_not_paid_twice() -> None:
    patience = Patience(silence=0.1)
    async with forwarding(waits(asyncio.Event(), FINE), patience=patience) as world:
        with world.lease() as lease:
            response = await world.call(lease, body=world.asked | {"stream": True})
    assert response.status_code == 503
    assert (world.books.ended, len(world.upstream.seen)) == ([None], 1)


@on_loop
async def test_what_is_not_streamed_may_be_silent_for_its_whole_time() -> None:
    opened = asyncio.Event()
    patience = Patience(silence=0.05)
    async with forwarding(waits(opened, FINE), patience=patience) as world:
        with world.lease(20) as lease:
            asyncio.get_running_loop().call_later(0.3, opened.set)
            response = await world.call(lease)
    assert response.status_code == 200


@on_loop
async def test_the_time_of_the_lease_cuts_a_stream() -> None:
    async with forwarding(streams(START, asyncio.Event())) as world:
        with world.lease(0.2) as lease:
            response = await world.begin(lease)
            with pytest.raises(httpx.RemoteProtocolError):
                await response.aread()
    assert str(lease.refusal) == "no answer within 0.2 seconds"


@on_loop
async def test_the_breaker_opens_tries_one_call_and_closes() -> None:
    patience = Patience(tries=1, breaker_failures=2)
    async with forwarding(says({}, 500), says({}, 500), FINE, patience=patience) as world:
        with world.lease() as lease:
            assert world.forwarder.state() == {"anthropic": "closed"}
            assert [(await world.call(lease)).status_code for _ in range(2)] == [500, 500]
            assert world.forwarder.state()["anthropic"].startswith("open until ")
            refused = await world.call(lease)
            assert refused.status_code == 503
            assert refused.headers["x-should-retry"] == "false"
            assert "is not tried again before" in str(lease.refusal)
            assert len(world.upstream.seen) == 2
            assert len(world.books.begun) == 2
            patience.now += 31
            assert (await world.call(lease)).status_code == 200
            assert lease.refusal is None
            assert world.forwarder.state() == {"anthropic": "closed"}


@on_loop
async def test_calls_wait_in_line_and_their_wait_is_not_counted() -> None:
    gate = asyncio.Event()
    async with forwarding(waits(gate, FINE), FINE, at_once=1) as world:
        with world.lease(50) as lease:
            calls = []
            for number in range(4):
                body = {**world.asked, "number": number}
                calls.append(asyncio.create_task(world.call(lease, body=body)))
                if number == 0:
                    await world.upstream.has_seen(1)
                else:
                    await _until(lambda number=number: lease._waiting == number)
            world.patience.now += 40
            assert lease.waited() == 40
            assert lease.left() == 50
            gate.set()
            responses = await asyncio.gather(*calls)
            assert lease.cost == Cost(2.0, 120, 80, 4)
            assert (lease.waited(), lease.left()) == (40, 50)
    assert [response.status_code for response in responses] == [200] * 4
    assert [seen.body["number"] for seen in world.upstream.seen] == [0, 1, 2, 3]


async def _until(true: Any) -> None:
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to that")


@on_loop
async def test_a_client_that_hangs_up_gives_its_place_free_and_is_in_the_books() -> None:
    gate = asyncio.Event()
    async with forwarding(streams(START, gate), FINE, at_once=1) as world:
        with world.lease() as lease:
            response = await world.begin(lease)
            await anext(response.aiter_raw())
            await response.aclose()
            assert (await world.call(lease)).status_code == 200
            assert lease.cost == Cost(None, 30, 20, 2)
            assert world.forwarder.state() == {"anthropic": "closed"}
    assert world.books.ended == [None, Tokens(30, 20)]


@on_loop
async def test_the_end_of_a_lease_cuts_its_calls() -> None:
    async with forwarding(streams(START, asyncio.Event()), waits(asyncio.Event(), FINE)) as world:
        with world.lease() as lease:
            begun = await world.begin(lease)
            waiting = asyncio.create_task(world.call(lease))
            await world.upstream.has_seen(2)
        with pytest.raises(httpx.RemoteProtocolError):
            await begun.aread()
        response = await waiting
    assert (response.status_code, response.json()["error"]["message"]) == (
        503,
        "the lease has ended",
    )
    assert world.books.ended == [None, None]


@on_loop
async def test_stopping_ends_what_is_under_way_in_the_books() -> None:
    async with forwarding(waits(asyncio.Event(), FINE)) as world:
        with world.lease() as lease:
            call = asyncio.create_task(world.call(lease))
            await world.upstream.has_seen(1)
            await world.forwarder.stop()
            assert world.books.ended == [None]
            call.cancel()


@on_loop
async def test_a_hundred_calls_at_once() -> None:
    gate = asyncio.Event()
    async with forwarding(waits(gate, FINE)) as world:
        with world.lease() as lease:
            async with httpx.AsyncClient(
                limits=httpx.Limits(max_connections=None), timeout=20, trust_env=False
            ) as world.client:
                calls = [asyncio.create_task(world.call(lease)) for _ in range(100)]
                await world.upstream.has_seen(100)
                gate.set()
                responses = await asyncio.gather(*calls)
        assert {response.status_code for response in responses} == {200}
        assert (lease.cost.calls, lease.cost.input_tokens) == (100, 3000)


SCRIPTS: list[Script] = [FINE, says({}, 500), streams(START, breaks=True)]


@pytest.mark.parametrize("script", SCRIPTS)
@on_loop
async def test_the_log_holds_no_key_no_ticket_and_no_body(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with forwarding(script) as world:
        with world.lease() as lease:
            response = await world.begin(lease, body={**world.asked, "text": "what was said"})
            try:
                await response.aread()
            except httpx.RemoteProtocolError:
                assert script is SCRIPTS[2]
        assert lease.key not in repr(lease)
    for secret in (KEY, lease.key, "what was said"):
        assert secret not in caplog.text
    assert lease.key not in str(lease.refusal)


@on_loop
async def test_a_try_that_may_have_been_paid_for_is_in_the_books() -> None:
    books, spent = Books(), list[Cost]()
    asked = Asked("m", Tokens(10, 10), b"{}")
    async with Metering(books, NOBODY, "anthropic", asked, spent.append) as metering:
        await metering.again()
        metering.tokens = Tokens(1, 1)
    assert len(books.begun) == 2
    assert books.ended == [None, Tokens(1, 1)]
    assert [cost.calls for cost in spent] == [1, 1]
