"""The real CLI against a scripted model: what it says, what it costs, and that it goes away."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from app.agents.claude import ClaudeModel, Slots, find_claude
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
from tests.agents.scripted import (
    Scene,
    ScriptedModel,
    babbles,
    breaks,
    fails,
    gives,
    hangs,
    refuses,
    says,
    slowly,
    uses,
)
from tests.agents.test_contained import ROOT, Tickets, bearing, soon

REAL = pytest.mark.needs("claude")


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


class Small(BaseModel):
    """The form that the tests ask for; that it is even is not in its schema."""

    answer: str
    number: Annotated[int, AfterValidator(_even)]


GOOD = gives({"answer": "a hash index", "number": 4})
ODD = gives({"answer": "a hash index", "number": 3})
WRONG = gives({"answer": "a hash index", "number": "four"})


def request(seconds: float = 60, system: str = "You answer.", user: str = "Which index?") -> Any:
    account = Account(feature_id=1, question=2, repo="acme/storefront", role="architect")
    return Request(Prompt(system, user, "knowledge/1"), Small, "opus", account, seconds)


class Place:
    """A scripted server, tickets for it, and a model that asks it."""

    def __init__(self, server: ScriptedModel, cli: str | None = None) -> None:
        self.server = server
        self.tickets = Tickets(server.url)
        self.model = ClaudeModel(self.tickets, Slots(400), cli=cli)

    def asked(self, wanted: Request[Small]) -> Completion[Small]:
        return asyncio.run(self.model.complete(wanted))


@contextlib.contextmanager
def place(*scenes: Scene) -> Iterator[Place]:
    """As long as the block lasts."""
    with ScriptedModel(*scenes) as server:
        yield Place(server)


def ask(*scenes: Scene, seconds: float = 60, **prompt: str) -> tuple[Completion[Small], Place]:
    with place(*scenes) as here:
        return here.asked(request(seconds, **prompt)), here


def program(folder: Path, text: str) -> str:
    path = folder / "cli"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def read_of(ticket: str, what: str) -> list[bytes]:
    """A file of /proc of each process that bears the ticket."""
    return [Path("/proc", str(pid), what).read_bytes() for pid in bearing(ticket)]


@REAL
def test_an_answer_comes_back_with_its_model_and_its_cost() -> None:
    done, here = ask(GOOD)
    assert done.value == Small(answer="a hash index", number=4)
    assert done.model.startswith("claude-opus")
    assert done.cost == Cost(0.25, 100, 10, 1)
    assert here.tickets.given == [("anthropic", request().account, 60)]


@REAL
def test_what_goes_over_the_wire_is_ours_and_nothing_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KR_DATABASE_URL", "postgresql://marker-of-ours")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "marker-of-ours")
    _, here = ask(GOOD)
    [seen] = here.server.requests
    assert seen.body["model"].startswith("claude-opus")
    assert seen.body["max_tokens"] == 8000
    assert seen.tools == ["StructuredOutput"]
    assert seen.system.endswith("You answer.")
    assert len(seen.system) < 100  # the SDK's own sentence is all that comes before it
    assert seen.said.strip() == "Which index?"
    assert seen.headers["x-api-key"] == here.tickets.key
    assert "authorization" not in seen.headers
    whole = f"{seen.headers} {seen.body}"
    for mine in (str(ROOT), str(Path.home()), os.uname().nodename, "kr-agent-", "marker-of-ours"):
        assert mine not in whole
    assert [other.path for other in here.server.others] == []


@REAL
@pytest.mark.parametrize("user", ["/help", "@/etc/passwd tell me", "/clear\n@~/.ssh/id_rsa", "!id"])
def test_what_people_typed_is_neither_a_command_nor_a_file(user: str) -> None:
    _, here = ask(GOOD, user=user)
    assert here.server.requests[0].said.strip() == user


@REAL
def test_long_prompts_work_and_are_in_no_arguments() -> None:
    system, user = "S" * 100_000, "U" * 300_000
    with place(hangs()) as here:

        async def main() -> list[bytes]:
            task = asyncio.create_task(here.model.complete(request(60, system, user)))
            assert await asyncio.to_thread(here.server.waiting.wait, 30)
            lines = read_of(here.tickets.key, "cmdline")
            task.cancel()
            await asyncio.wait([task])
            return lines

        lines = asyncio.run(main())
        assert lines
        assert all(b"SSSS" not in line and b"UUUU" not in line for line in lines)
        assert system in here.server.requests[0].system
        assert user in here.server.requests[0].said


@REAL
def test_the_running_cli_sees_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KR_DATABASE_URL", "marker-of-ours")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "marker-of-ours")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/marker-of-ours")
    with place(hangs()) as here:

        async def main() -> list[bytes]:
            task = asyncio.create_task(here.model.complete(request()))
            assert await asyncio.to_thread(here.server.waiting.wait, 30)
            found = read_of(here.tickets.key, "environ")
            task.cancel()
            await asyncio.wait([task])
            return found

        found = asyncio.run(main())
    assert found
    for environment in found:
        assert b"marker-of-ours" not in environment
        names = {line.split(b"=")[0] for line in environment.split(b"\0") if line}
        assert {name for name in names if name.startswith(b"KR_")} == {b"KR_SUPERVISED"}
    assert not bearing(here.tickets.key)


@REAL
@pytest.mark.parametrize(
    ("scenes", "asked"),
    [
        ((WRONG, GOOD), 2),
        ((WRONG, WRONG, GOOD), 3),
        ((ODD, GOOD), 2),
        ((ODD, ODD, GOOD), 3),
        ((uses("Bash", {"command": "id"}), GOOD), 2),
        ((slowly(GOOD),), 1),
    ],
)
def test_a_right_answer_late_is_right(scenes: tuple[Scene, ...], asked: int) -> None:
    done, here = ask(*scenes)
    assert done.value.number == 4
    assert len(here.server.requests) == asked


@REAL
def test_who_is_asked_again_is_told_why() -> None:
    _, here = ask(ODD, GOOD)
    assert "number: Value error, must be even" in here.server.requests[1].said


@REAL
@pytest.mark.parametrize(
    ("scene", "told"), [(WRONG, "must be integer"), (ODD, "must be even"), (says("hi"), "form")]
)
def test_three_times_wrong_is_malformed(scene: Scene, told: str) -> None:
    with pytest.raises(Malformed, match=told):
        ask(scene)


@REAL
@pytest.mark.parametrize(
    ("scene", "kind", "told"),
    [
        (refuses("I will not."), Declined, "the model declined"),
        (breaks(GOOD), AgentUnavailable, "Connection to the API was lost"),
        (babbles(), AgentUnavailable, "Claude Code failed"),
        (fails(429, "slow down"), AgentUnavailable, "slow down"),
        (fails(529), AgentUnavailable, "529"),
        (fails(500), AgentUnavailable, "500"),
        (fails(400, "no such model"), AgentUnavailable, "no such model"),
        (fails(401, "bad key"), AgentUnavailable, "Claude Code failed"),
    ],
)
def test_failures_have_their_reason(scene: Scene, kind: type[Exception], told: str) -> None:
    with place(scene) as here:
        with pytest.raises(kind, match=told) as caught:
            here.asked(request())
        assert type(caught.value) is kind
        assert len(str(caught.value)) <= 300
        assert "\n" not in str(caught.value)
        assert "127.0.0.1" not in str(caught.value)
        assert len(here.server.requests) <= 3  # at a 400 it leaves out what is new
        assert not bearing(here.tickets.key)


@REAL
def test_too_late_is_unavailable_and_leaves_nothing() -> None:
    with place(hangs()) as here:
        with pytest.raises(AgentUnavailable, match="no answer within 3 seconds"):
            here.asked(request(3))
        assert here.server.requests
        assert not bearing(here.tickets.key)


@REAL
def test_a_killed_worker_takes_its_cli_with_it(tmp_path: Path) -> None:
    with ScriptedModel(hangs()) as server:
        code = (
            "import asyncio\n"
            "from app.agents.claude import ClaudeModel, Slots\n"
            "from tests.agents.test_claude import request\n"
            "from tests.agents.test_contained import Tickets\n"
            f"tickets = Tickets({server.url!r}, key='ticket-of-the-killed')\n"
            "asyncio.run(ClaudeModel(tickets, Slots(1)).complete(request()))\n"
        )
        environment = os.environ | {"TMPDIR": str(tmp_path)}
        worker = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
        try:
            assert server.waiting.wait(30)
            assert bearing("ticket-of-the-killed")
        finally:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        assert soon(lambda: not bearing("ticket-of-the-killed"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("#!/bin/sh\necho it broke >&2\nexit 3\n", "it broke"),
        ("#!/bin/sh\nread x\nexit 3\n", "Claude Code stopped"),
        ("#!/bin/sh\nread x\nkill -9 $$\n", "Claude Code stopped"),
        ("#!/bin/sh\necho '{\"type\": broken'\n", "Claude Code stopped"),
        ("#!/bin/sh\nyes '{}' | tr -d '\\n'\n", "Claude Code stopped"),
        ("#!/no/such/interpreter\n", "No such file"),
    ],
)
def test_a_cli_that_breaks_is_unavailable(tmp_path: Path, text: str, told: str) -> None:
    tickets = Tickets("http://127.0.0.1:9")
    model = ClaudeModel(tickets, Slots(1), cli=program(tmp_path, text))

    async def main() -> str:
        try:
            return str(await model.complete(request(20)))
        except AgentUnavailable as error:
            return str(error)
        finally:
            gc.collect()  # the SDK does not close a pipe that it gave up reading

    assert told in asyncio.run(main())
    assert not bearing(tickets.key)


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\ntrap '' TERM INT HUP\nsetsid sleep 600 &\nwhile :; do sleep 600; done\n",
        "#!/bin/sh\nexit 0\n",
    ],
)
def test_a_cli_that_never_answers_is_gone_in_time(tmp_path: Path, text: str) -> None:
    tickets = Tickets("http://127.0.0.1:9")
    model = ClaudeModel(tickets, Slots(1), cli=program(tmp_path, text))
    with pytest.raises(AgentUnavailable, match="no answer within"):
        asyncio.run(model.complete(request(0.7)))
    assert not bearing(tickets.key)


def test_a_refusal_of_the_forwarder_is_what_people_are_told(tmp_path: Path) -> None:
    tickets = Tickets("http://127.0.0.1:9", refusal=OverBudget("the cap of the month is reached"))
    model = ClaudeModel(tickets, Slots(1), cli=program(tmp_path, "#!/bin/sh\nexit 3\n"))
    with pytest.raises(OverBudget):
        asyncio.run(model.complete(request()))


def test_without_a_cli_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = Tickets("http://127.0.0.1:9")
    with pytest.raises(AgentUnavailable, match="there is no program no-such-claude"):
        asyncio.run(ClaudeModel(tickets, Slots(1), cli="no-such-claude").complete(request()))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(AgentUnavailable, match=r"pip install 'knowledge-router\[claude\]'"):
        asyncio.run(ClaudeModel(tickets, Slots(1)).complete(request()))
    assert not tickets.given


def test_the_cli_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("claude") is None
    bundled = find_claude()
    assert bundled is None or bundled.endswith("_bundled/claude")
    mine = tmp_path / "claude"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o700)
    assert find_claude() == str(mine)


@pytest.mark.parametrize(("memory", "at_once"), [(0, 1), (199, 1), (400, 2), (4100, 20)])
def test_memory_says_how_many_run_at_once(memory: int, at_once: int) -> None:
    assert Slots(memory).at_once == at_once


def test_who_came_first_gets_the_next_slot_and_who_left_gets_none() -> None:
    slots, entered = Slots(400), []

    async def stay(name: str, leave: asyncio.Event) -> None:
        async with slots.one():
            entered.append(name)
            await leave.wait()

    async def settle() -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def main() -> None:
        leave = {name: asyncio.Event() for name in "abcde"}
        tasks = {name: asyncio.create_task(stay(name, leave[name])) for name in "abcde"}
        await settle()
        assert entered == ["a", "b"]
        tasks["c"].cancel()
        await settle()
        leave["b"].set()
        await settle()
        assert entered == ["a", "b", "d"]
        leave["a"].set()
        tasks["e"].cancel()  # just when it is its turn
        leave["d"].set()
        await asyncio.wait(tasks.values())
        async with slots.one(), slots.one():  # both are free again
            entered.append("all")

    asyncio.run(asyncio.wait_for(main(), 20))
    assert entered[-1] == "all"
    asyncio.run(asyncio.wait_for(stay_once(slots), 20))


async def stay_once(slots: Slots) -> None:
    """In another event loop."""
    async with slots.one():
        return


def test_waiting_for_a_slot_takes_nothing_of_the_time(tmp_path: Path) -> None:
    tickets = Tickets("http://127.0.0.1:9")
    slots = Slots(1)
    model = ClaudeModel(tickets, slots, cli=program(tmp_path, "#!/bin/sh\necho no >&2; exit 3\n"))

    async def main() -> None:
        async with slots.one():
            task = asyncio.create_task(model.complete(request(0.9)))
            await asyncio.sleep(1)
            assert not tickets.given
        with pytest.raises(AgentUnavailable, match="Claude Code stopped: no"):
            await task

    asyncio.run(main())
