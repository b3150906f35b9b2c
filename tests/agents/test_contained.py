"""What a child sees, and that nothing remains of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.agents.contained import Enclosure, Finished, enclosure, one_line, run
from app.agents.protocols import Account, AgentUnavailable
from app.embedded.process import alive
from app.questions.model import Cost
from app.supervisor.mark import VARIABLE

PYTHON = os.path.realpath(sys.executable)
ROOT = Path(__file__).parents[2]


@dataclass
class Ticket:
    """A lease that leads straight to a scripted server."""

    base_url: str
    key: str
    refusal: AgentUnavailable | None = None
    model: str = ""
    cost: Cost = field(default_factory=lambda: Cost(0.25, 100, 10, 1))


@dataclass
class Tickets:
    """Gives out tickets as the forwarder gives out leases, and remembers who asked."""

    url: str
    refusal: AgentUnavailable | None = None
    given: list[tuple[str, Account, float]] = field(default_factory=list)
    key: str = field(default_factory=lambda: f"ticket-{secrets.token_hex(6)}")

    @contextlib.contextmanager
    def lease(self, provider: str, account: Account, seconds: float) -> Iterator[Ticket]:
        """Always the same ticket."""
        self.given.append((provider, account, seconds))
        yield Ticket(self.url, self.key, self.refusal)


def bearing(text: str) -> list[int]:
    """Living processes, but for this one, that have this text in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in environment and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def soon(true: Callable[[], object], seconds: float = 20) -> bool:
    """Whether it becomes true."""
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def ran(code: str, given: bytes = b"", most: int = 100_000, **env: str) -> Finished:
    async def main() -> Finished:
        async with enclosure(env) as inside:
            return await run(inside, [PYTHON, "-I", "-c", code], given, most)

    return asyncio.run(main())


def test_a_child_sees_the_harmless_its_own_and_what_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KR_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "real")
    monkeypatch.setenv("GITHUB_TOKEN", "real")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("TZ", "UTC")
    done = ran(
        "import sys; sys.stdout.write(open('/proc/self/environ').read())", OPENAI_API_KEY="ticket"
    )
    seen = dict(line.split("=", 1) for line in done.output.decode().split("\0") if line)
    assert set(seen) <= {
        *("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_TIME", "TZ", "TERM"),
        *("HOME", "TMPDIR", VARIABLE, "OPENAI_API_KEY"),
    }
    assert seen["TZ"] == "UTC"
    assert seen["LC_TIME"] == "C"
    assert seen["OPENAI_API_KEY"] == "ticket"


def test_its_home_and_its_directory_are_its_own_and_empty_and_go_away() -> None:
    done = ran(
        "import os; h=os.environ['HOME']; print(os.getcwd(), h, os.listdir('.'), os.listdir(h));"
        "open('left', 'w'); os.mkdir(h + '/locked'); open(h + '/locked/x', 'w');"
        "os.chmod(h + '/locked', 0)"
    )
    work, home, *listed = done.output.decode().split()
    assert listed == ["[]", "[]"]
    assert Path(home).parent == Path(work).parent
    assert not Path(work).parent.exists()


def test_a_child_leads_a_session_dumps_no_core_and_keeps_its_files_to_itself() -> None:
    done = ran(
        "import os, resource; print(os.getsid(0) == os.getpid() == os.getpgrp(),"
        "resource.getrlimit(resource.RLIMIT_CORE), oct(os.umask(0)))"
    )
    assert done.output.decode().strip() == "True (0, 0) 0o77"


def test_it_reads_what_it_is_given_and_says_how_it_ended() -> None:
    code = "import sys; d=sys.stdin.read(); print(len(d)); print('why', file=sys.stderr); exit(3)"
    done = ran(code, given=b"x" * 300_000)
    assert done == Finished(3, b"300000\n", False, "why")


def test_a_child_that_reads_nothing_is_no_problem() -> None:
    assert ran("print('done')", given=b"x" * 1_000_000).output == b"done\n"


def test_output_is_bounded_and_the_babbler_ended() -> None:
    done = ran("while True: print('x' * 1000)", most=5000)
    assert done.too_much
    assert len(done.output) == 5000


def test_what_it_started_dies_with_the_call_whatever_group_it_is_in() -> None:
    started = (
        "import subprocess; a=['/bin/sleep', '600'];"
        "print(subprocess.Popen(a).pid, subprocess.Popen(a, start_new_session=True).pid,"
        "subprocess.Popen(a, env={}).pid)"
    )
    pids = [int(pid) for pid in ran(started).output.split()]
    assert len(pids) == 3
    assert soon(lambda: not any(alive(pid) for pid in pids))


def test_cancelling_kills_it_and_removes_its_directory() -> None:
    async def main() -> Path:
        places: list[Enclosure] = []

        async def call() -> None:
            async with enclosure({"WHO": "cancelled-1"}) as inside:
                places.append(inside)
                await run(inside, ["/bin/sleep", "600"], b"", 10)

        task = asyncio.create_task(call())
        assert await asyncio.to_thread(soon, lambda: bearing("cancelled-1"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return places[0].root

    root = asyncio.run(main())
    assert not bearing("cancelled-1")
    assert not root.exists()


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import asyncio\n"
            "from app.agents.contained import enclosure, run\n"
            "async def main():\n"
            "    async with enclosure({'WHO': 'orphan-1'}) as inside:\n"
            "        await run(inside, ['/bin/sleep', '600'], b'', 10)\n"
            "asyncio.run(main())\n",
        ],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    try:
        assert soon(lambda: bearing("orphan-1"))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert soon(lambda: not bearing("orphan-1"))


def test_the_mark_begins_with_the_supervisors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "abc/worker/1/")
    done = ran(f"import os; print(os.environ['{VARIABLE}'])")
    assert done.output.startswith(b"abc/worker/1/agent-")


def test_a_script_starts_the_program_with_its_arguments() -> None:
    async def main() -> str:
        async with enclosure({"WHO": "script-1"}) as inside:
            command = [str(inside.script("/usr/bin/env")), "sh", "-c", 'echo "$1" $WHO', "-", "a b"]
            process = await asyncio.create_subprocess_exec(
                *command,
                env={**inside.environment, "SECRET": "real"},
                stdout=asyncio.subprocess.PIPE,
            )
            return (await process.communicate())[0].decode()

    assert asyncio.run(main()) == "a b script-1\n"


def test_a_program_that_cannot_run_says_so(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")

    async def main() -> Finished:
        async with enclosure({}) as inside:
            return await run(inside, [str(plain)], b"", 10)

    done = asyncio.run(main())
    assert done.code == 126
    assert "Permission denied" in done.last_line


def test_a_reason_is_one_short_line_without_secrets() -> None:
    told = one_line("bad\nkey ticket-1 \x1b[31m" + "x" * 400, "ticket-1", "")
    assert "ticket-1" not in told
    assert told.startswith("bad key … [31m")
    assert len(told) == 300


def test_without_room_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(AgentUnavailable, match="set TMPDIR"):
        ran("print(1)")
