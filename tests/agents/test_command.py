"""Agents that are programs: a document in, a document out, and nothing but that."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from app.agents.command import CommandModel
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
from app.questions.model import Cost
from tests.agents.scripted import ScriptedModel, gives
from tests.agents.test_contained import Tickets, bearing, soon

PYTHON = os.path.realpath(sys.executable)
ALLOWED = {"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "HOME", "TMPDIR", "KR_SUPERVISED"}
READ = "import json, sys, os; told = json.load(sys.stdin)\n"


class Small(BaseModel):
    """The form that the tests ask for."""

    model_config = ConfigDict(extra="forbid")

    answer: str
    confidence: int = Field(ge=0, le=100)


def request(seconds: float = 60) -> Request[Small]:
    account = Account(feature_id=1, question=2, repo="acme/storefront", role="architect")
    return Request(
        Prompt("You answer.", "Which index?", "knowledge/1"), Small, "opus", account, seconds
    )


def python(code: str, tickets: Tickets | None = None, *providers: str) -> CommandModel:
    return CommandModel([PYTHON, "-I", "-c", READ + code], tickets, providers)


def asked(model: CommandModel, seconds: float = 60) -> Completion[Small]:
    return asyncio.run(model.complete(request(seconds)))


def prints(**document: Any) -> str:
    return f"print({json.dumps(document)!r})"


GOOD = prints(answer="a hash index", confidence=80)


def test_a_program_is_told_what_it_is_asked_and_answers() -> None:
    done = asked(python("print(json.dumps({'answer': json.dumps(told), 'confidence': 80}))"))
    told = json.loads(done.value.answer)
    assert told == {
        "version": 1,
        "role": "architect",
        "system": "You answer.",
        "prompt": "Which index?",
        "model": "opus",
        "schema": Small.model_json_schema(),
        "seconds": 60,
    }
    assert done.value.confidence == 80
    assert done.cost == Cost()
    assert done.model == "opus"


def test_it_sees_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KR_GITHUB_PRIVATE_KEY", "real")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "real")
    tickets = Tickets("http://127.0.0.1:9")
    code = "print(json.dumps({'answer': json.dumps(dict(os.environ)), 'confidence': 1}))"
    seen = json.loads(asked(python(code, tickets, "openai", "google")).value.answer)
    leased = {"OPENAI_BASE_URL", "OPENAI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"}
    assert {name for name in seen if not name.startswith("LC_")} <= ALLOWED | leased
    assert leased <= set(seen)
    assert seen["OPENAI_API_KEY"] == tickets.key
    assert "real" not in seen.values()


def test_it_can_use_a_model_with_a_ticket_and_the_lease_counts() -> None:
    code = (
        "import urllib.request as u\n"
        "r = u.Request(os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages',"
        " json.dumps({'model': 'm', 'messages': []}).encode(),"
        " {'x-api-key': os.environ['ANTHROPIC_API_KEY']})\n"
        "print(json.load(u.urlopen(r))['content'][0]['text'])"
    )
    with ScriptedModel(gives({"answer": "yes", "confidence": 7})) as server:
        tickets = Tickets(server.url)
        done = asked(python(code, tickets, "anthropic"))
    assert done.value == Small(answer="yes", confidence=7)
    assert done.cost == Cost(0.25, 100, 10, 1)
    assert server.requests[0].headers["x-api-key"] == tickets.key
    assert tickets.given == [("anthropic", request().account, 60)]


def test_it_may_say_what_it_cost() -> None:
    cost = {"usd": 0.5, "input_tokens": 3, "output_tokens": 4}
    done = asked(python(prints(answer="a", confidence=1, cost=cost)))
    assert done.cost == Cost(0.5, 3, 4, 1)


@pytest.mark.parametrize("cost", [{"usd": -1}, {"usd": "much"}, {"input_tokens": -3}, 7])
def test_a_cost_that_is_none_does_not_fit(cost: object) -> None:
    with pytest.raises(Malformed):
        asked(python(prints(answer="a", confidence=1, cost=cost)))


def test_what_does_not_fit_is_asked_again_with_the_problem() -> None:
    code = (
        "print(json.dumps({'answer': told['problem'], 'confidence': 5} if 'problem' in told"
        " else {'answer': 'x', 'confidence': 500}))"
    )
    done = asked(python(code))
    assert done.value.answer == "confidence: Input should be less than or equal to 100"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (prints(answer="x", confidence=500), "confidence"),
        ("print('hello')", "not one JSON document"),
        ("print('[' * 100_000)", "not one JSON document"),
        ("print('[1]')", "no object"),
        ("pass", "not one JSON document"),
        ("print('x', file=sys.stderr); print('a line', file=sys.stderr)", "it said: a line"),
    ],
)
def test_three_times_unfit_is_malformed(code: str, told: str, tmp_path: Path) -> None:
    count = tmp_path / "count"
    with pytest.raises(Malformed, match=told):
        asked(python(f"open({str(count)!r}, 'a').write('.')\n{code}"))
    assert count.read_text() == "..."


def test_too_much_is_malformed_at_once() -> None:
    with pytest.raises(Malformed, match="more than 1 MB"):
        asked(python("sys.stdout.write('x' * 1_100_000)"))


def test_an_error_is_an_answer_that_declines() -> None:
    with pytest.raises(Declined, match="not my field") as caught:
        asked(python(prints(error="not my field\nat all")))
    assert "\n" not in str(caught.value)


def test_a_crash_tells_the_last_line_without_the_ticket() -> None:
    tickets = Tickets("http://127.0.0.1:9")
    code = "print('no', os.environ['OPENAI_API_KEY'], file=sys.stderr); sys.exit(9)"
    with pytest.raises(AgentUnavailable, match="ended with 9: no …") as caught:
        asked(python(code, tickets, "openai"))
    assert tickets.key not in str(caught.value)


def test_a_program_killed_is_unavailable() -> None:
    with pytest.raises(AgentUnavailable, match="was killed"):
        asked(python("os.kill(os.getpid(), 9)"))


def test_too_late_is_unavailable_and_leaves_nothing() -> None:
    tickets = Tickets("http://127.0.0.1:9")
    code = "import subprocess; subprocess.run(['/bin/sleep', '600'], start_new_session=True)"
    with pytest.raises(AgentUnavailable, match=r"no answer within 0\.5 seconds"):
        asked(python(code, tickets, "openai"), seconds=0.5)
    assert not bearing(tickets.key)


def test_cancelling_leaves_nothing() -> None:
    tickets = Tickets("http://127.0.0.1:9")

    async def main() -> None:
        model = python("import time; time.sleep(600)", tickets, "openai")
        task = asyncio.create_task(model.complete(request()))
        assert await asyncio.to_thread(soon, lambda: bearing(tickets.key))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert not bearing(tickets.key)


def test_a_refusal_of_the_forwarder_is_what_people_are_told() -> None:
    tickets = Tickets("http://127.0.0.1:9", refusal=OverBudget("the cap of the month is reached"))
    with pytest.raises(OverBudget):
        asked(python("sys.exit(1)", tickets, "openai"))
    with pytest.raises(OverBudget):
        asked(python("import time; time.sleep(600)", tickets, "openai"), seconds=0.3)


def test_no_such_program_says_what_to_do(tmp_path: Path) -> None:
    plain = tmp_path / "agent.sh"
    plain.write_text("#!/bin/sh\n")
    with pytest.raises(AgentUnavailable, match="install it"):
        asked(CommandModel(["no-such-agent"], None, ()))
    with pytest.raises(AgentUnavailable, match=r"chmod \+x"):
        asked(CommandModel([str(plain)], None, ()))
    plain.chmod(0o700)
    plain.write_text("#!/no/such/interpreter\n")
    with pytest.raises(AgentUnavailable, match="No such file"):
        asked(CommandModel([str(plain)], None, ()))


def test_no_shell_looks_at_the_arguments() -> None:
    code = READ + "print(json.dumps({'answer': sys.argv[1], 'confidence': 1}))"
    model = CommandModel([PYTHON, "-I", "-c", code, "$HOME; `id`"], None, ())
    assert asked(model).value.answer == "$HOME; `id`"


def test_a_wrong_setting_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="name a program"):
        CommandModel([], None, ())
    with pytest.raises(ValueError, match="known are anthropic, openai, google"):
        CommandModel(["x"], None, ["elsewhere"])
