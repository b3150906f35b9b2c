"""The walls of the kernel: what a run cannot do, what it can, and that nothing remains of it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.agents.claude import find_claude
from app.agents.contained import Finished, run
from app.execution.sandbox import (
    Limits,
    Reach,
    SandboxMissing,
    Walls,
    decide,
    open_without,
    sandbox,
    walls_here,
    writable_of,
)
from tests.agents.scripted import Scene, ScriptedModel, Seen, says
from tests.agents.test_contained import ROOT, soon
from tests.execution import attacks_kernel as attacks

PYTHON = os.path.realpath(sys.executable)
ATTACKS = Path(attacks.__file__)
BOTH = pytest.param(Walls.BOTH, marks=pytest.mark.needs("landlock", "bubblewrap"), id="both")
LANDLOCK = pytest.param(Walls.LANDLOCK, marks=pytest.mark.needs("landlock"), id="landlock")
BWRAP = pytest.param(Walls.BWRAP, marks=pytest.mark.needs("bubblewrap"), id="bwrap")
ANY = pytest.mark.parametrize("walls", [BOTH, LANDLOCK, BWRAP])
WITH_BWRAP = pytest.mark.parametrize("walls", [BOTH, BWRAP])
AT_ALL = pytest.mark.parametrize("walls", [BOTH, LANDLOCK, BWRAP, Walls.NONE])


# They look for their processes by name: one after another, or they find each other's.


class World:
    """A service in short: a mirror, two worktrees, a key, and servers that nobody may reach."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.mirror = base / "mirror.git"
        self.worktree = base / "trees/one"
        self.secret = base / "data"
        self._repository()
        self.secret.mkdir(mode=0o700)
        (self.secret / "key.pem").write_text("private")
        (self.secret / "key.pem").chmod(0o600)
        (base / "home").mkdir()
        (base / "home/.netrc").write_text("machine")
        (base / "trees/other").mkdir()
        (base / "trees/other/README.md").write_text("other")
        self.sockets = [
            self._listening(socket.AF_UNIX, str(self.secret / "redis.sock")),
            self._listening(socket.AF_UNIX, f"\0kr-{base.name}-{os.getpid()}"),
            self._listening(socket.AF_INET, ("127.0.0.1", 0)),
        ]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        threading.Thread(target=self._echo, daemon=True).start()

    def _repository(self) -> None:
        seed = self.base / "seed"
        for name in ("src/a.py", "k8s/deploy.yaml", "tests/t.py", ".github/AGENT_SCOPES"):
            (seed / name).parent.mkdir(parents=True, exist_ok=True)
            (seed / name).write_text("1\n")
        (seed / "src/link").symlink_to("../k8s")
        (seed / "sly").symlink_to("k8s")
        self.git("init", "-q", "-b", "main", str(seed))
        self.git("-C", str(seed), "add", ".")
        self.git("-C", str(seed), "commit", "-qm", "one")
        self.git("clone", "-q", "--bare", str(seed), str(self.mirror))
        (self.mirror / "hooks").mkdir(exist_ok=True)
        (self.mirror / "hooks/secret").write_text("1")
        self.git("-C", str(self.mirror), "worktree", "add", "-q", "-b", "t", str(self.worktree))

    @staticmethod
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=mara", "-c", "user.email=mara@example.com"]
        subprocess.run(["git", *who, *arguments], check=True, capture_output=True)

    @staticmethod
    def _listening(family: int, address: Any) -> socket.socket:
        one = socket.socket(family)
        one.bind(address)
        one.listen()
        return one

    def _echo(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.udp.sendto(*self.udp.recvfrom(10))

    def close(self) -> None:
        for one in (*self.sockets, self.udp):
            one.close()

    def environment(self) -> dict[str, str]:
        """What the attacks have to know."""
        return {
            "WORKTREE": str(self.worktree),
            "MIRROR": str(self.mirror),
            "OUTSIDE": str(self.base / "trees"),
            "SECRET": str(self.secret),
            "SERVICE_HOME": str(self.base / "home"),
            "PARENT": str(os.getpid()),
            "REDIS_SOCKET": str(self.sockets[0].getsockname()),
            "ABSTRACT": self.sockets[1].getsockname()[1:].decode(),
            "OTHER_PORT": str(self.sockets[2].getsockname()[1]),
            "UDP_PORT": str(self.udp.getsockname()[1]),
        }

    def reach(self, *writable: str, forwarder: tuple[str, int] | None = None) -> Reach:
        return Reach(self.worktree, writable or ("src/",), forwarder, (ATTACKS,))

    def print(self) -> str:
        """A fingerprint of all that lies outside of the scope: content, mode, times, attributes."""
        found = []
        for path in sorted(self.base.rglob("*")):
            if not path.is_relative_to(self.worktree / "src") and path != self.base / "trees":
                info = path.lstat()
                content = path.read_bytes() if path.is_file() else b""
                names = os.listxattr(path, follow_symlinks=False)
                found.append((str(path), info.st_mode, info.st_mtime_ns, content, names))
        return hashlib.sha256(repr(found).encode()).hexdigest()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def ran(
    reach: Reach, walls: Walls, *program: str, limits: Limits | None = None, **given: str
) -> Finished:
    async def main() -> Finished:
        async with sandbox(reach, walls, given, limits or Limits()) as inside:
            return await run(inside, program, b"", 100_000)

    return asyncio.run(main())


def shell(reach: Reach, walls: Walls, script: str, **given: str) -> str:
    done = ran(reach, walls, "/bin/sh", "-ec", script, limits=None, **given)
    assert done.code == 0, done
    return done.output.decode()


def attacked(world: World, walls: Walls, name: str) -> str:
    told = world.environment()
    done = ran(world.reach(), walls, PYTHON, str(ATTACKS), name, limits=None, **told)
    assert done.code == 0, done
    return done.output.decode()


def _tricks() -> Iterator[Any]:
    for name in attacks.ALL:
        yield pytest.param(Walls.BOTH, name, marks=pytest.mark.needs("landlock", "bubblewrap"))
        if name not in attacks.BWRAP_STOPS:
            yield pytest.param(Walls.LANDLOCK, name, marks=pytest.mark.needs("landlock"))
        if name not in attacks.LANDLOCK_STOPS:
            yield pytest.param(Walls.BWRAP, name, marks=pytest.mark.needs("bubblewrap"))


@pytest.mark.parametrize(("walls", "name"), list(_tricks()))
def test_the_kernel_stops_it(world: World, walls: Walls, name: str) -> None:
    before = world.print()
    assert attacked(world, walls, name).startswith("stopped")
    assert world.print() == before


@pytest.mark.parametrize("name", sorted(set(attacks.ALL) - attacks.UNSAFE))
def test_without_walls_it_works(world: World, name: str) -> None:
    assert attacked(world, Walls.NONE, name) == "WORKED\n"


@pytest.mark.needs("landlock")
@pytest.mark.parametrize("name", sorted(attacks.BWRAP_STOPS))
def test_what_landlock_alone_leaves_open_is_what_is_told(world: World, name: str) -> None:
    assert attacked(world, Walls.LANDLOCK, name) == "WORKED\n"


@AT_ALL
def test_what_has_to_work(world: World, walls: Walls) -> None:
    said = shell(
        world.reach("src/", "tests/"),
        walls,
        """
        mkdir -p src/new/deep && echo hello > src/new/deep/file && mv src/new/deep/file src/b.py
        chmod +x src/b.py && ln src/b.py src/c.py && rm src/c.py
        echo more >> src/a.py && echo t > tests/u.py
        cat k8s/deploy.yaml .github/AGENT_SCOPES
        echo x > "$HOME/x" && echo x > "$TMPDIR/x" && cat "$HOME/x" "$TMPDIR/x"
        git status --short && git diff --stat && git log --oneline | wc -l
        python3 -c 'import json, tempfile; tempfile.NamedTemporaryFile(); print("python")'
        echo done | cat > /dev/null
        """,
    )
    assert said.startswith("1\n1\nx\nx\n M src/a.py\n?? src/b.py\n?? tests/u.py\n")
    assert said.endswith("1\npython\n")
    assert (world.worktree / "src/b.py").read_text() == "hello\n"


@ANY
@pytest.mark.needs("node")
def test_node_works(world: World, walls: Walls) -> None:
    code = "require('child_process').execSync('echo 1 > src/n'); console.log(os.cpus().length > 0)"
    node = str(Path(str(shutil.which("node"))).resolve())
    assert ran(world.reach(), walls, node, "-e", code).output == b"true\n"
    assert (world.worktree / "src/n").exists()


@AT_ALL
def test_its_environment_is_its_own(
    world: World, walls: Walls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KR_DATABASE_URL", "postgresql://secret")
    seen = shell(world.reach(), walls, "env; ls -A $HOME $TMPDIR", WHO="mara")
    assert "WHO=mara" in seen
    assert "secret" not in seen
    assert f"HOME={Path.home()}\n" not in seen


@ANY
def test_nothing_of_the_mirror_is_touched(world: World, walls: Walls) -> None:
    before = world.print()
    shell(world.reach(), walls, "git status; git diff; git add -A || true; git commit -m x || true")
    assert world.print() == before


@AT_ALL
def test_a_folder_of_its_scope_may_be_missing(world: World, walls: Walls) -> None:
    async def main(script: str) -> bool:
        async with sandbox(world.reach("docs/deep/", "lib", "Dockerfile"), walls, {}) as inside:
            return (await run(inside, ["/bin/sh", "-ec", script], b"", 1000)).code == 0

    assert asyncio.run(main("test -d docs/deep && test -d lib && test -f Dockerfile"))
    assert not any((world.worktree / name).exists() for name in ("docs", "lib", "Dockerfile"))
    assert asyncio.run(main("echo x > docs/deep/x; echo x > Dockerfile"))
    assert (world.worktree / "docs/deep/x").read_text() == "x\n"
    assert (world.worktree / "Dockerfile").read_text() == "x\n"
    assert not (world.worktree / "lib").exists()


@ANY
def test_a_single_file_leaves_its_neighbours_alone(world: World, walls: Walls) -> None:
    reach = world.reach("k8s/deploy.yaml")
    shell(reach, walls, "echo 2 > k8s/deploy.yaml; ! echo 2 > k8s/other; ! echo 2 > src/a.py")
    assert (world.worktree / "k8s/deploy.yaml").read_text() == "2\n"
    assert not (world.worktree / "k8s/other").exists()


@ANY
def test_the_whole_worktree_is_never_all_of_it(world: World, walls: Walls) -> None:
    before = (world.worktree / ".git").read_text()
    script = "echo 2 > src/a.py; ! echo 2 > .github/AGENT_SCOPES; ! rm -f .git; ! mv .github gh"
    shell(world.reach("."), walls, script)
    assert (world.worktree / "src/a.py").read_text() == "2\n"
    assert (world.worktree / ".git").read_text() == before
    assert (world.worktree / ".github/AGENT_SCOPES").read_text() == "1\n"


@ANY
@pytest.mark.parametrize(
    "path", ["sly/", "sly", "src/link", "src/link/x", "../other/", "/etc", ".git", "src/a.py/"]
)
def test_a_scope_that_leads_elsewhere_is_not_opened(world: World, walls: Walls, path: str) -> None:
    async def main() -> tuple[str, ...]:
        async with sandbox(world.reach(path), walls, {}) as inside:
            done = await run(inside, ["/bin/sh", "-c", "echo 2 > k8s/deploy.yaml"], b"", 100)
            assert done.code != 0
            return inside.notes

    assert "cannot be written" in asyncio.run(main())[0]
    assert (world.worktree / "k8s/deploy.yaml").read_text() == "1\n"


class _Streaming(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        for _ in range(3):
            self.wfile.write(body)
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextlib.contextmanager
def forwarder() -> Iterator[tuple[str, int]]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Streaming)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield "127.0.0.1", server.server_address[1]
    server.shutdown()
    server.server_close()


@AT_ALL
def test_the_forwarder_is_reached_at_its_own_address(world: World, walls: Walls) -> None:
    code = """
        import os, urllib.request
        for size in (10, 300_000):
            with urllib.request.urlopen(os.environ["URL"], data=b"x" * size) as answer:
                print(answer.read(1), len(answer.read()))
    """
    with forwarder() as address:
        url = f"http://{address[0]}:{address[1]}/"
        reach = world.reach(forwarder=address)
        done = ran(reach, walls, PYTHON, "-c", textwrap.dedent(code), URL=url)
    assert done.output == b"b'x' 29\nb'x' 899999\n", done


@WITH_BWRAP
def test_it_may_serve_itself_in_its_own_network(world: World, walls: Walls) -> None:
    code = """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname())
    """
    assert ran(world.reach(), walls, PYTHON, "-c", textwrap.dedent(code)).code == 0


@WITH_BWRAP
def test_it_cannot_fill_the_temporary_directory(world: World, walls: Walls) -> None:
    script = 'head -c 9000000 /dev/zero > "$TMPDIR/x"'
    done = ran(world.reach(), walls, "/bin/sh", "-c", script, limits=Limits(tmp_mb=4))
    assert "No space left" in done.last_line


@AT_ALL
def test_no_file_grows_without_end(world: World, walls: Walls) -> None:
    script = "head -c 9000000 /dev/zero > src/x"
    assert ran(world.reach(), walls, "/bin/sh", "-c", script, limits=Limits(file_mb=2)).code != 0
    assert (world.worktree / "src/x").stat().st_size == 2 << 20


@AT_ALL
def test_it_cannot_fill_the_disk(world: World, walls: Walls) -> None:
    script = "i=0; while true; do i=$((i+1)); head -c 4000000 /dev/zero > src/$i; done"
    done = ran(world.reach(), walls, "/bin/sh", "-c", script, limits=Limits(disk_mb=40))
    assert "written more than 40 MB" in done.last_line


UNSEEN = {
    "without-names": "f = open('src/f', 'wb'); os.unlink('src/f')\nadd(f)",
    "behind-a-closed-door": "os.mkdir('src/d'); f = open('src/d/f', 'wb'); os.chmod('src/d', 0)\n"
    "add(f)",
    "too-deep": "os.chdir('src')\nfor _ in range(30): os.mkdir('n' * 200); os.chdir('n' * 200)\n"
    "add(open('f', 'wb'))",
}


@AT_ALL
@pytest.mark.parametrize("way", UNSEEN)
def test_it_cannot_fill_the_disk_unseen(world: World, walls: Walls, way: str) -> None:
    code = (
        "import os, time\ndef add(f):\n"
        " for _ in range(60): f.write(bytes(1 << 22)); f.flush(); time.sleep(0.01)\n"
        f" time.sleep(30)\n{UNSEEN[way]}"
    )
    done = ran(world.reach(), walls, PYTHON, "-c", code, limits=Limits(disk_mb=40))
    if way != "behind-a-closed-door" or "cannot be looked at" not in done.last_line:
        assert "written" in done.last_line
    assert done.code == 128 + signal.SIGKILL


@ANY
def test_an_empty_file_may_be_what_was_wanted(world: World, walls: Walls) -> None:
    reach = world.reach("src/py.typed", "src/other.py")
    assert ran(reach, walls, "/bin/sh", "-c", ": > src/py.typed").code == 0
    assert (world.worktree / "src/py.typed").exists()
    assert not (world.worktree / "src/other.py").exists()


@AT_ALL
def test_a_fork_bomb_ends(world: World, walls: Walls) -> None:
    code = "import os, time\nfor _ in range(400): os.fork() or time.sleep(60)\ntime.sleep(60)"
    done = ran(world.reach(), walls, PYTHON, "-c", code, limits=Limits(processes=60))
    assert done.code != 0


def living(text: str) -> list[int]:
    """Processes with this text on their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            line = (entry / "cmdline").read_bytes()
            if state != "Z" and text.encode() in line and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def _hiding(seconds: str) -> str:
    """Leaves its session, its parent, and every mark."""
    return f"(setsid env -i sh -c 'sleep {seconds} & sleep {seconds} &' &) & sleep 0.2;"


@AT_ALL
def test_nothing_outlives_the_end(world: World, walls: Walls) -> None:
    ran(world.reach(), walls, "/bin/sh", "-c", _hiding("6001.1"))
    assert soon(lambda: not living("6001.1"), 5)


@AT_ALL
def test_nothing_outlives_a_cancelled_call(world: World, walls: Walls) -> None:
    seconds = f"6001.2{list(Walls).index(walls)}"  # a run beside this one has another number

    async def main() -> None:
        program = ["/bin/sh", "-c", _hiding(seconds) + f"wait; sleep {seconds}"]

        async def call() -> None:
            async with sandbox(world.reach(), walls, {}) as inside:
                await run(inside, program, b"", 10)

        task = asyncio.create_task(call())
        assert await asyncio.to_thread(soon, lambda: len(living(f"sleep\x00{seconds}")) >= 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert soon(lambda: not living(seconds))  # the kernel takes a moment


@AT_ALL
def test_nothing_outlives_a_killed_worker(world: World, walls: Walls, tmp_path: Path) -> None:
    seconds = f"6001.3{list(Walls).index(walls)}"  # a run beside this one has another number
    script = _hiding(seconds) + f"sleep {seconds}"
    code = f"""
        import asyncio
        from pathlib import Path
        from app.agents.contained import run
        from app.execution.sandbox import Reach, Walls, sandbox
        async def main():
            reach = Reach(Path({str(world.worktree)!r}), ("src/",), None)
            async with sandbox(reach, Walls.{walls.name}, {{}}) as inside:
                await run(inside, ["/bin/sh", "-c", {script!r}], b"", 9)
        asyncio.run(main())
    """
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    worker = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, env=environment
    )
    try:
        assert soon(lambda: len(living(f"sleep\x00{seconds}")) >= 2)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    assert soon(lambda: not living(seconds))


@AT_ALL
def test_it_says_how_the_program_ended(world: World, walls: Walls) -> None:
    assert ran(world.reach(), walls, "/bin/sh", "-c", "exit 7").code == 7
    assert ran(world.reach(), walls, "/bin/sh", "-c", "kill -9 $$").code == 137
    missing = ran(world.reach(), walls, "/no/such")
    assert (missing.code, missing.last_line) == (126, "/no/such: No such file or directory")


def test_strict_takes_both_walls_and_says_what_to_do() -> None:
    both = {"landlock", "bwrap"}
    assert decide("strict", both) is Walls.BOTH
    assert decide("landlock", both) is Walls.LANDLOCK
    assert decide("bwrap", both) is Walls.BWRAP
    assert decide("none", ()) is Walls.NONE
    with pytest.raises(
        SandboxMissing, match=r"install the package bubblewrap.*KR_SANDBOX=landlock"
    ):
        decide("strict", {"landlock"})
    with pytest.raises(SandboxMissing, match=r"Linux 5\.13.*KR_SANDBOX=bwrap"):
        decide("strict", {"bwrap"})
    with pytest.raises(SandboxMissing, match="KR_SANDBOX=none"):
        decide("bwrap", ())


def test_what_is_open_is_named() -> None:
    assert open_without(Walls.BOTH) == ()
    told = " ".join(open_without(Walls.LANDLOCK))
    assert all(word in told for word in ("chmod", "utimes", "UDP", "Unix sockets"))
    assert open_without(Walls.BWRAP)
    assert "keys" in open_without(Walls.NONE)[0]


@pytest.mark.needs("landlock", "bubblewrap")
def test_the_walls_are_tried() -> None:
    assert walls_here() == {"landlock", "bwrap"}


def test_patterns_become_paths_and_notes() -> None:
    paths, notes = writable_of(["/src/", "/tests/**", "/Dockerfile", "/app/*.py", "*.md", "/src/"])
    assert paths == ("src/", "tests/", "Dockerfile", "app/", ".")
    assert [note.split(":")[0] for note in notes] == ["/app/*.py", "*.md"]
    assert "the whole worktree" in notes[1]


def _acts(seen: Seen) -> Scene:
    """Writes with the tool and with a shell, first in its scope, then out of it."""
    if "Write" not in seen.tools:
        return says("fine")
    blocks = [block for message in seen.body["messages"] for block in _blocks(message)]
    done = sum(block.get("type") == "tool_result" for block in blocks)
    root = seen.headers["x-root"]
    tools: list[tuple[str, dict[str, str]]] = [
        ("Write", {"file_path": f"{root}/src/ok.py", "content": "fine = 1\n"}),
        ("Write", {"file_path": f"{root}/k8s/evil.yaml", "content": "evil"}),
        ("Bash", {"command": "echo 'fine = 2' > src/shell.py", "description": "write"}),
        ("Bash", {"command": "echo evil > k8s/evil2.yaml", "description": "write"}),
    ]
    if done == len(tools):
        return says("done")
    name, given = tools[done]
    block = {"type": "tool_use", "id": f"toolu_{done}", "name": name, "input": given}
    return Scene((block,), stop_reason="tool_use")


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []


@ANY
@pytest.mark.needs("claude")
def test_the_real_cli_writes_in_its_scope_and_nowhere_else(world: World, walls: Walls) -> None:
    cli = Path(str(find_claude()))
    with ScriptedModel(script=_acts) as model:
        port = int(model.url.rpartition(":")[2])
        reach = Reach(world.worktree, ("src/",), ("127.0.0.1", port), (cli,))
        given = {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "ticket",
            "ANTHROPIC_CUSTOM_HEADERS": f"x-root: {world.worktree}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        done = asyncio.run(_conversed(reach, walls, given, cli))
    assert json.loads(done.output)["result"] == "done", done
    assert (world.worktree / "src/ok.py").read_text() == "fine = 1\n"
    assert (world.worktree / "src/shell.py").read_text() == "fine = 2\n"
    assert sorted(path.name for path in (world.worktree / "k8s").iterdir()) == ["deploy.yaml"]
    said = model.requests[-1].said
    assert "EROFS" in said or "EACCES" in said


async def _conversed(reach: Reach, walls: Walls, given: dict[str, str], cli: Path) -> Finished:
    async with sandbox(reach, walls, given) as inside:
        program = [str(cli), "-p", "do it", "--permission-mode", "bypassPermissions"]
        return await run(inside, [*program, "--output-format", "json"], b"", 1_000_000)
