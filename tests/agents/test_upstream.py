"""One provider: its key and address, when it is tried again, when it is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

from app.agents.breaker import Breaker, Unreached
from app.agents.protocols import AgentUnavailable
from app.agents.upstream import Opened, Outgoing, Provider, Upstream
from tests.agents.upstreams import (
    KEY,
    Patience,
    Script,
    Scripted,
    nobody_there,
    on_loop,
    provider_of,
    says,
    streams,
    waits,
)

OUTGOING = Outgoing("/v1/messages", "", {"content-type": "application/json"}, b"{}")
FINE = says({"fine": True})


def provider(url: str = "http://127.0.0.1:1", wire: Any = "anthropic", **more: Any) -> Provider:
    return Provider(**{"name": wire, "wire": wire, "base_url": url, "key": SecretStr(KEY)} | more)


@asynccontextmanager
async def upstream_of(
    *scripts: Script, patience: Patience | None = None
) -> AsyncIterator[tuple[Upstream, Scripted]]:
    async with provider_of(*scripts) as (url, scripted):
        upstream = Upstream(provider(url), (patience or Patience()).rules)
        yield upstream, scripted
        await upstream.close()


async def ask(upstream: Upstream, left: float | None = None) -> Opened:
    async with upstream.ask(OUTGOING, lambda: left) as opened:
        await opened.response.aread()
        return opened


@pytest.mark.parametrize(
    ("wire", "header", "value"),
    [
        ("anthropic", "x-api-key", KEY),
        ("openai", "authorization", f"Bearer {KEY}"),
        ("google", "x-goog-api-key", KEY),
    ],
)
def test_the_key_goes_where_the_wire_has_it(wire: str, header: str, value: str) -> None:
    signed = provider(wire=wire, key=SecretStr(f"{KEY}\n")).signed({"accept": "*/*"})
    assert signed == {"accept": "*/*", header: value}


def test_an_oauth_token_comes_with_its_beta() -> None:
    one = provider(key=None, bearer=SecretStr("oat"))
    assert one.signed({"anthropic-beta": "a,b"}) == {
        "anthropic-beta": "a,b,oauth-2025-04-20",
        "authorization": "Bearer oat",
    }
    assert one.signed({})["anthropic-beta"] == "oauth-2025-04-20"
    assert provider(bearer=SecretStr("oat")).signed({}) == {"x-api-key": KEY}


def test_no_key_is_no_header() -> None:
    assert provider(key=None).signed({"accept": "*/*"}) == {"accept": "*/*"}


@pytest.mark.parametrize(
    ("base", "path", "expected"),
    [
        ("https://a.test", "/v1/messages", "https://a.test/v1/messages"),
        ("https://a.test/", "/v1/messages", "https://a.test/v1/messages"),
        ("https://a.test/llm", "/v1/responses", "https://a.test/llm/v1/responses"),
        ("https://a.test/v1", "/v1/chat/completions", "https://a.test/v1/chat/completions"),
        (
            "https://a.test/api/v4/",
            "/v1/chat/completions",
            "https://a.test/api/v4/chat/completions",
        ),
        ("https://a.test/v1beta", "/v1beta/models/g:x", "https://a.test/v1beta/models/g:x"),
    ],
)
def test_the_path_is_appended_with_one_version(base: str, path: str, expected: str) -> None:
    assert provider(base).url(path, "") == expected
    assert provider(base).url(path, "beta=true") == f"{expected}?beta=true"


@pytest.mark.parametrize(
    ("url", "more", "expected"),
    [
        ("https://api.anthropic.com", {}, True),
        ("https://api.anthropic.com", {"bearer": SecretStr("oat")}, False),
        ("https://generativelanguage.googleapis.com", {}, True),
        ("http://127.0.0.1:11434/v1", {}, False),
        ("https://notopenai.com", {}, False),
    ],
)
def test_only_the_vendors_servers_need_a_key(url: str, more: Any, expected: bool) -> None:
    assert provider(url, key=None, **more).lacks_key() is expected


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
@on_loop
async def test_what_may_pass_is_tried_again(status: int) -> None:
    patience = Patience()
    async with upstream_of(says({}, status), FINE, patience=patience) as (upstream, scripted):
        opened = await ask(upstream)
    assert (opened.response.json(), opened.refusal) == ({"fine": True}, None)
    assert len(scripted.seen) == 2
    assert patience.pauses == [0.5]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
@on_loop
async def test_what_will_not_pass_is_passed_on(status: int) -> None:
    async with upstream_of(says({}, status), FINE) as (upstream, scripted):
        opened = await ask(upstream)
    assert (opened.response.status_code, opened.refusal) == (status, None)
    assert len(scripted.seen) == 1


@on_loop
async def test_pauses_double_up_to_the_longest_and_the_last_error_is_passed_on() -> None:
    patience = Patience(tries=6, longest_pause=3.0)
    async with upstream_of(says({"busy": 1}, 529), patience=patience) as (upstream, scripted):
        opened = await ask(upstream)
    assert patience.pauses == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert len(scripted.seen) == 6
    assert opened.response.json() == {"busy": 1}
    assert str(opened.refusal) == "anthropic answered 529 at try 6 of 6"


@pytest.mark.parametrize(
    ("said", "pause"), [("7", 7.0), ("0.1", 0.5), ("soon", 0.5), ("nan", 0.5), ("-3", 0.5)]
)
@on_loop
async def test_retry_after_is_honoured(said: str, pause: float) -> None:
    patience = Patience()
    busy = says({}, 429, retry_after=said)
    async with upstream_of(busy, FINE, patience=patience) as (upstream, _):
        await ask(upstream)
    assert patience.pauses == [pause]


@on_loop
async def test_retry_after_may_be_a_date() -> None:
    patience = Patience()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    busy = says({}, 503, retry_after=date)
    async with upstream_of(busy, FINE, patience=patience) as (upstream, _):
        await ask(upstream)
    assert len(patience.pauses) == 1
    assert 20 < patience.pauses[0] <= 40


@pytest.mark.parametrize(("said", "left"), [("61", None), ("inf", None), ("30", 30.0)])
@on_loop
async def test_nobody_waits_too_long_or_beyond_the_time_given(
    said: str, left: float | None
) -> None:
    patience = Patience()
    busy = says({}, 429, retry_after=said)
    async with upstream_of(busy, FINE, patience=patience) as (upstream, scripted):
        opened = await ask(upstream, left)
    assert opened.response.status_code == 429
    assert f"asks for a pause of {said} seconds" in str(opened.refusal)
    assert (patience.pauses, len(scripted.seen)) == ([], 1)


@on_loop
async def test_a_provider_that_says_so_is_not_tried_again() -> None:
    busy = says({}, 429, x_should_retry="false")
    async with upstream_of(busy, FINE) as (upstream, scripted):
        opened = await ask(upstream)
    assert opened.response.status_code == 429
    assert opened.refusal is not None
    assert len(scripted.seen) == 1


@on_loop
async def test_an_address_where_nobody_is_is_tried_again_and_costs_nothing() -> None:
    patience = Patience()
    upstream = Upstream(provider(nobody_there()), patience.rules)
    with pytest.raises(Unreached, match="anthropic cannot be reached: ConnectError") as raised:
        await ask(upstream)
    assert raised.value.free
    assert patience.pauses == [0.5, 1.0, 2.0]


@on_loop
async def test_a_connection_that_drops_before_the_response_is_tried_again() -> None:
    connections = 0
    repeated = []

    async def paid_again() -> None:
        repeated.append(connections)

    async def drop_the_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        if connections > 1:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(drop_the_first, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        upstream = Upstream(provider(f"http://127.0.0.1:{port}"), Patience().rules)
        async with upstream.ask(OUTGOING, lambda: None, paid_again) as opened:
            await opened.response.aread()
        await upstream.close()
    assert (opened.response.content, connections) == (b"ok", 2)
    assert repeated == [1]  # what was sent may have been paid for


@on_loop
async def test_silence_before_the_response_may_have_cost_something() -> None:
    patience = Patience(silence=0.05)
    never = waits(asyncio.Event(), FINE)
    async with upstream_of(never, patience=patience) as (upstream, scripted):
        with pytest.raises(Unreached, match=r"sent nothing for 0\.05 seconds") as raised:
            await ask(upstream)
    assert not raised.value.free
    assert len(scripted.seen) == 1


@on_loop
async def test_the_time_given_ends_the_wait_for_a_response() -> None:
    never = waits(asyncio.Event(), FINE)
    async with upstream_of(never) as (upstream, _):
        with pytest.raises(Unreached, match="did not answer in the time given"):
            await ask(upstream, 0.05)


@on_loop
async def test_a_response_that_breaks_off_is_not_tried_again() -> None:
    async with upstream_of(streams(b"data: 1\n\n", breaks=True), FINE) as (upstream, scripted):
        with pytest.raises(Unreached, match="the connection to anthropic broke"):
            await ask(upstream)
    assert len(scripted.seen) == 1


@on_loop
async def test_a_key_that_cannot_be_sent_is_not_told() -> None:
    upstream = Upstream(provider(nobody_there(), key=SecretStr("sk-sec\nret")), Patience().rules)
    with pytest.raises(Unreached) as raised:
        await ask(upstream)
    assert "sec" not in str(raised.value)


def fails(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        with breaker.passage() as passage:
            passage.failed = True


def succeeds(breaker: Breaker) -> None:
    with breaker.passage():
        pass


def test_a_breaker_opens_after_failures_in_a_row() -> None:
    breaker = Breaker("openai", Patience(breaker_failures=3).rules)
    fails(breaker, 2)
    succeeds(breaker)
    fails(breaker, 2)
    assert breaker.state() == "closed"
    fails(breaker)
    assert breaker.state().startswith("open until ")
    with pytest.raises(Unreached, match=r"openai is not tried again before \d\d:\d\d:\d\d UTC"):
        breaker.check()


def test_an_open_breaker_tries_one_call_at_a_time() -> None:
    patience = Patience(breaker_failures=1)
    breaker = Breaker("openai", patience.rules)
    fails(breaker)
    patience.now += 29.9
    with pytest.raises(AgentUnavailable):
        breaker.check()
    patience.now += 0.2
    with breaker.passage(), pytest.raises(AgentUnavailable):
        breaker.check()
    assert breaker.state() == "closed"


def test_a_trial_that_fails_opens_it_again() -> None:
    patience = Patience(breaker_failures=3)
    breaker = Breaker("openai", patience.rules)
    fails(breaker, 3)
    patience.now += 31
    fails(breaker)
    with pytest.raises(AgentUnavailable):
        breaker.check()


def test_a_trial_given_up_by_its_client_leaves_room_for_the_next() -> None:
    patience = Patience(breaker_failures=1)
    breaker = Breaker("openai", patience.rules)
    fails(breaker)
    patience.now += 31
    with pytest.raises(KeyboardInterrupt), breaker.passage():
        raise KeyboardInterrupt
    assert breaker.state() != "closed"
    succeeds(breaker)
    assert breaker.state() == "closed"


@pytest.mark.parametrize(
    ("script", "opens"),
    [
        (says({}, 500), True),
        (says({}, 501), True),
        (says({}, 408), True),
        (says({}, 429), True),
        (says({}, 429, retry_after="100"), False),
        (says({}, 409), False),
        (says({}, 401), False),
        (streams(b"x", breaks=True), True),
        (FINE, False),
    ],
)
@on_loop
async def test_what_counts_as_a_failure(script: Script, opens: bool) -> None:
    patience = Patience(breaker_failures=1)
    async with upstream_of(script, patience=patience) as (upstream, _):
        try:
            await ask(upstream)
        except Unreached:
            assert opens
        assert (upstream.breaker.state() != "closed") is opens


@on_loop
async def test_too_little_time_says_nothing_of_the_provider() -> None:
    never = waits(asyncio.Event(), FINE)
    patience = Patience(breaker_failures=1)
    async with upstream_of(never, patience=patience) as (upstream, _):
        with pytest.raises(Unreached, match="in the time given"):
            await ask(upstream, 0.05)
        assert upstream.breaker.state() == "closed"
