"""The backend `llm` against scripted servers of all three wire formats."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from app.agents.llm import AGAIN, USUAL, LlmModel, Wire, split
from app.agents.protocols import (
    Account,
    AgentUnavailable,
    Completion,
    Declined,
    Malformed,
    OverBudget,
    Prompt,
    Request,
)
from app.agents.reply import Reply
from app.questions.model import Cost
from tests.agents import wires
from tests.agents.wires import Leasing, babbles, fails, gives, hangs, refuses, says

WIRES: list[Wire] = ["anthropic", "openai", "google"]
SYSTEM = "You are the architect of acme/storefront."
SECRET = "How long does a refresh token live, asks mara?"
RIGHT: dict[str, Any] = {"content": "A: 30 days", "confidence": 90}
ACCOUNT = Account(feature_id=3, repo="acme/storefront")

every_wire = pytest.mark.parametrize("wire", WIRES)


def request(user: str = SECRET, model: str | None = None, seconds: float = 30) -> Request[Reply]:
    return Request(Prompt(SYSTEM, user, "test/1"), Reply, model, ACCOUNT, seconds)


def model_of(leasing: Leasing) -> LlmModel:
    wire = leasing.server.wire
    return LlmModel(leasing, wire, wire, USUAL[wire])


def complete(server: wires.Wire, asked: Request[Reply] | None = None) -> Completion[Reply]:
    """One call, and the connections closed after it."""
    return complete_with(model_of(Leasing(server)), asked or request())


def complete_with(model: LlmModel, *asked: Request[Reply]) -> Completion[Reply]:
    async def run() -> list[Completion[Reply]]:
        try:
            return [await model.complete(one) for one in asked]
        finally:
            await model.aclose()

    return asyncio.run(run())[-1]


def failure(wire: Wire, *replies: wires.Reply, seconds: float = 30) -> AgentUnavailable:
    """How a call fails; whatever it is, it tells nothing that is not for the log."""
    with wires.Wire(wire, *replies) as server, pytest.raises(AgentUnavailable) as raised:
        complete(server, request(seconds=seconds))
    text = str(raised.value)
    assert SECRET not in text
    assert SYSTEM not in text
    assert "ticket-" not in text
    assert len(text) <= 300
    assert "\n" not in text
    return raised.value


@every_wire
def test_an_answer_in_the_form_that_was_asked_for(wire: Wire) -> None:
    with wires.Wire(wire, gives(**RIGHT)) as server:
        leasing = Leasing(server)
        completion = complete_with(model_of(leasing), request())
        [seen] = server.requests
    assert completion.value == Reply(content="A: 30 days", confidence=90)
    assert completion.model == USUAL[wire]
    assert completion.cost == Cost(0.5, 25, 7, 1)
    assert leasing.asked == [(wire, ACCOUNT, 30)]
    assert leasing.open == 0
    assert seen.model == USUAL[wire]
    assert seen.tools == ["answer"]
    assert SYSTEM in seen.system
    assert SECRET not in seen.system
    assert seen.user == SECRET
    assert seen.limit == 8000
    assert "temperature" not in json.dumps(seen.body)


@pytest.mark.parametrize(
    ("wire", "path", "header", "value"),
    [
        ("anthropic", "/v1/messages", "authorization", "Bearer ticket-1"),
        ("openai", "/v1/chat/completions", "authorization", "Bearer ticket-1"),
        (
            "google",
            "/v1beta/models/gemini-3.8-flash:generateContent",
            "x-goog-api-key",
            "ticket-1",
        ),
    ],
)
def test_the_key_is_the_ticket_whatever_the_environment_says(
    wire: Wire, path: str, header: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "the-real-one")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with wires.Wire(wire, gives(**RIGHT)) as server:
        complete(server)
        [seen] = server.requests
    assert seen.path == path
    assert seen.headers[header] == value
    assert "the-real-one" not in str(seen)


@every_wire
def test_the_model_that_the_request_names(wire: Wire) -> None:
    with wires.Wire(wire, gives(**RIGHT)) as server:
        completion = complete(server, request(model=f"{wire}:mine-2"))
    assert completion.model == "mine-2"
    assert server.requests[0].model == "mine-2"


@every_wire
@pytest.mark.parametrize("confidence", ["high", 150, None, True])
def test_a_malformed_confidence_is_asked_for_again(wire: Wire, confidence: Any) -> None:
    wrong: dict[str, Any] = {"content": "A"}
    if confidence is not None:
        wrong["confidence"] = confidence
    with wires.Wire(wire, gives(**wrong), gives(**RIGHT)) as server:
        completion = complete(server)
        first, second = server.requests
    assert completion.value.confidence == 90
    assert second.tools == ["answer"]
    assert len(str(second.body)) > len(str(first.body))


@every_wire
def test_three_times_wrong_is_malformed(wire: Wire) -> None:
    with wires.Wire(wire, gives(content="A", confidence=150)) as server:
        with pytest.raises(Malformed, match="confidence: must be a number from 0 to 100"):
            complete(server)
        assert len(server.requests) == 1 + AGAIN


@every_wire
def test_wrong_in_different_ways_is_asked_no_oftener(wire: Wire) -> None:
    replies = [says("It depends."), gives(content="A"), says('{"content": ""}'), gives(**RIGHT)]
    with wires.Wire(wire, *replies) as server:
        with pytest.raises(Malformed):
            complete(server)
        assert len(server.requests) == 1 + AGAIN


@every_wire
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RIGHT),
        f"```json\n{json.dumps(RIGHT)}\n```",
        f"Here is my answer:\n{json.dumps(RIGHT)}\nI hope it helps.",
    ],
)
def test_an_answer_in_plain_text_counts_as_well(wire: Wire, text: str) -> None:
    with wires.Wire(wire, says(text)) as server:
        assert complete(server).value.content == "A: 30 days"
        assert len(server.requests) == 1


@every_wire
def test_prose_is_asked_for_again(wire: Wire) -> None:
    with wires.Wire(wire, says("Thirty days {or so}, I think."), gives(**RIGHT)) as server:
        assert complete(server).value.content == "A: 30 days"
        assert len(server.requests) == 2


@every_wire
@pytest.mark.parametrize("text", ["", "I will not say."])
def test_a_refusal_is_not_asked_again(wire: Wire, text: str) -> None:
    with wires.Wire(wire, refuses(text)) as server:
        with pytest.raises(Declined, match="declined"):
            complete(server)
        assert len(server.requests) == 1


@every_wire
@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "401: check"),
        (403, "403: check"),
        (404, "404: no such model"),
        (429, "429: too many calls"),
        (500, "500: it is down"),
        (529, "529: it is down"),
        (413, "413: it does not take the request"),
    ],
)
def test_what_the_server_answers_is_told_and_not_repeated(
    wire: Wire, status: int, told: str
) -> None:
    with wires.Wire(wire, fails(status, SECRET)) as server:
        with pytest.raises(AgentUnavailable) as raised:
            complete(server)
        assert len(server.requests) == 1
    assert told in str(raised.value)
    assert SECRET not in str(raised.value)


def test_the_reason_names_the_key_and_the_model() -> None:
    assert "ANTHROPIC_API_KEY" in str(failure("anthropic", fails(401)))
    assert "OPENAI_API_KEY" in str(failure("openai", fails(401)))
    assert "GOOGLE_API_KEY" in str(failure("google", fails(403)))
    assert USUAL["openai"] in str(failure("openai", fails(404)))


@every_wire
def test_broken_json_is_a_failure(wire: Wire) -> None:
    failure(wire, babbles())


@every_wire
def test_an_answer_that_is_cut_off_is_malformed(wire: Wire) -> None:
    cut = wires.Reply(text='{"content": "A: thir', stopped=True)
    assert isinstance(failure(wire, cut), Malformed)


@every_wire
def test_no_answer_in_time(wire: Wire) -> None:
    # A tenth of what it waits: the hard limit.
    assert str(failure(wire, hangs(), seconds=0.05)) == "no answer within 0.05 seconds"


def test_a_server_that_is_not_there() -> None:
    with wires.Wire("openai", hangs()) as server:
        pass
    with pytest.raises(AgentUnavailable, match="cannot be reached"):
        complete(server)


@every_wire
@pytest.mark.parametrize("status", [400, 402, 503])
def test_the_refusal_of_the_lease_comes_first(wire: Wire, status: int) -> None:
    refusal = OverBudget("the budget of the day is spent")
    with wires.Wire(wire, fails(status, "no tools left")) as server:
        with pytest.raises(OverBudget) as raised:
            complete_with(model_of(Leasing(server, refusal)), request())
        assert len(server.requests) == 1
    assert raised.value is refusal


@every_wire
def test_a_hundred_calls_at_once_are_not_mixed_up(wire: Wire) -> None:
    def echo(seen: wires.Seen) -> wires.Reply:
        return gives(after=0.3, content=seen.user, confidence=50)

    async def run(model: LlmModel) -> list[Completion[Reply]]:
        try:
            first = await asyncio.gather(
                *(model.complete(request(f"question {n}")) for n in range(100))
            )
            await model.complete(request("another"))
            return first
        finally:
            await model.aclose()

    with wires.Wire(wire, script=echo) as server:
        leasing = Leasing(server)
        completions = asyncio.run(run(model_of(leasing)))
        assert [one.value.content for one in completions] == [f"question {n}" for n in range(100)]
        assert len({str(seen.headers) for seen in server.requests}) == 101
        assert len(server.connections) == 100
    assert leasing.open == 0


def test_the_same_model_in_one_event_loop_after_another() -> None:
    with wires.Wire("anthropic", gives(**RIGHT)) as server:
        model = model_of(Leasing(server))
        for _ in range(2):
            assert complete_with(model, request()).value.confidence == 90


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, "gemma:2b does not support tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice'),
        (422, "unknown field: response_format"),
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use"),
    ],
)
def test_a_server_without_tools_is_told_the_form_in_words(status: int, error: str) -> None:
    def old(seen: wires.Seen) -> wires.Reply:
        if seen.tools or "response_format" in seen.body or "max_completion_tokens" in seen.body:
            return fails(status, error)
        return says(f"Sure!\n```json\n{json.dumps(RIGHT)}\n```")

    with wires.Wire("openai", script=old) as server:
        model = model_of(Leasing(server))
        completion = complete_with(model, request(), request())
        refused, second, third = server.requests
    assert completion.value.content == "A: 30 days"
    assert refused.tools
    assert SYSTEM in second.system
    assert "uncertainty_reasons" in second.system
    assert second.user == third.user == SECRET
    assert third.limit == 8000


def test_a_server_without_tools_is_asked_again_too() -> None:
    def old(seen: wires.Seen) -> wires.Reply:
        if seen.tools:
            return fails(400, "tools are not supported")
        return says('{"content": "A", "confidence": "high"}')

    with wires.Wire("openai", script=old) as server:
        with pytest.raises(Malformed, match="confidence: must be a number"):
            complete(server)
        assert len(server.requests) == 2 + AGAIN
        roles = [message["role"] for message in server.requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


def test_another_bad_request_is_not_tried_in_words() -> None:
    with wires.Wire("openai", fails(400, "context length exceeded")) as server:
        with pytest.raises(AgentUnavailable, match="does not take the request"):
            complete(server)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("anthropic:claude-opus-5-5", ("anthropic", "claude-opus-5-5")),
        ("openai:gpt-5", ("openai", "gpt-5")),
        ("google:gemini-3-pro", ("google", "gemini-3-pro")),
        ("openai:qwen3:8b", ("openai", "qwen3:8b")),
        ("gpt-5", ("openai", "gpt-5")),
        ("claude-haiku-4-5", ("anthropic", "claude-haiku-4-5")),
        ("gemini-3-pro", ("google", "gemini-3-pro")),
        ("opus", ("anthropic", "claude-opus-5-5")),
        ("sonnet", ("anthropic", "claude-sonnet-5-5")),
        ("haiku", ("anthropic", "claude-haiku-5-5")),
        ("anthropic:opus", ("anthropic", "claude-opus-5-5")),
        (" opus ", ("anthropic", "claude-opus-5-5")),
        ("qwen3:8b", (None, "qwen3:8b")),
        ("anthropic:", (None, "anthropic:")),
    ],
)
def test_what_a_name_tells(name: str, expected: tuple[Wire | None, str]) -> None:
    assert split(name) == expected


def test_the_usual_models_and_aliases_are_known_to_the_library() -> None:
    from pydantic_ai.models import known_model_names

    known = set(known_model_names())
    assert {f"{wire}:{name}" for wire, name in USUAL.items()} <= known
    assert {f"anthropic:{split(alias)[1]}" for alias in ("opus", "sonnet", "haiku")} <= known
