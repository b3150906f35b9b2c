"""A remote that speaks git over HTTP, and what tests do with it."""

from __future__ import annotations

import asyncio
import base64
import functools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from app.execution.branches import Author
from app.execution.mirror import Mirrors
from app.execution.worktrees import Worktrees

REPO = "acme/storefront"
TOKEN = "ghs_a-token-of-the-tests"
DEDE = Author("dede[bot]", "dede@acme.test")
_CLEAN = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "mara@acme.test" for who in ("AUTHOR", "COMMITTER")
       for what in ("NAME", "EMAIL")},
}  # fmt: skip


def finished(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that awaits, as one that pytest can call."""

    @functools.wraps(test)
    def call(*args: Any, **named: Any) -> None:
        asyncio.run(test(*args, **named))

    return call


def git(folder: Path, *args: str, given: bytes | None = None) -> str:
    """Git as a person has it. Raises `CalledProcessError`."""
    command = ["git", "-C", str(folder), *args]
    done = subprocess.run(command, env=_CLEAN, input=given, capture_output=True, check=True)
    return done.stdout.decode(errors="replace").strip()


class Remote:
    """Bare repositories below a folder. With `token` set, only that is let in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.token: str | None = None
        self.calls: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, repo: str) -> str:
        return f"{self.base}/{repo}.git"

    def bare(self, repo: str = REPO) -> Path:
        path = self.root / f"{repo}.git"
        if not path.exists():
            path.mkdir(parents=True)
            git(path, "init", "--quiet", "--bare", "--initial-branch=main")
            git(path, "config", "http.receivepack", "true")
        return path

    def push(self, files: dict[str, bytes | None], branch: str = "main", repo: str = REPO) -> str:
        """A commit by a person with these contents (None: removed), on top of the branch."""
        bare, parent = self.bare(repo), self.head(branch, repo)
        lines = [f"commit refs/heads/{branch}\ncommitter m <m@acme.test> 1700000000 +0000\n"
                 "data 1\nx\n".encode()]  # fmt: skip
        if parent:
            lines.append(f"from {parent}\n".encode())
        for path, content in files.items():
            if content is None:
                lines.append(f"D {path}\n".encode())
                continue
            mode, _, name = path.rpartition("|")
            head = f"M {mode or '100644'} inline {name}\ndata {len(content)}\n".encode()
            lines.append(head + content + b"\n")
        git(bare, "fast-import", "--quiet", "--force", given=b"".join(lines))
        return self.head(branch, repo)

    def head(self, branch: str, repo: str = REPO) -> str:
        return git(
            self.bare(repo), "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}"
        )

    def mirrors(self, folder: Path, token: str | None = None, disk_cap: int = 1 << 30) -> Mirrors:
        async def credentials(_: str) -> str | None:
            return token

        return Mirrors(folder, self.url, credentials, disk_cap)


def pool(remote: Remote, folder: Path) -> Worktrees:
    """A fresh view of the same folders, as another process would have it."""
    return Worktrees(remote.mirrors(folder / "mirrors"), folder / "worktrees")


def _handler(remote: Remote) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            if self.headers.get("Transfer-Encoding") == "chunked":
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self._serve(b"".join(parts))
            else:
                self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _serve(self, body: bytes) -> None:
            remote.calls.append(self.path)
            wanted = base64.b64encode(f"x-access-token:{remote.token}".encode()).decode()
            if remote.token and self.headers.get("Authorization") != f"Basic {wanted}":
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            env = {
                **_CLEAN,
                "GIT_PROJECT_ROOT": str(remote.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            with tempfile.TemporaryFile() as given:
                given.write(body)
                given.seek(0)
                with subprocess.Popen(
                    ["git", "http-backend"], stdin=given, stdout=subprocess.PIPE, env=env
                ) as backend:
                    assert backend.stdout is not None
                    self._pass_on(backend.stdout)

        def _pass_on(self, output: IO[bytes]) -> None:
            """In pieces: a repository may be larger than the memory."""
            headers = {}
            while line := output.readline().decode().strip():
                name, _, value = line.partition(": ")
                headers[name] = value
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            shutil.copyfileobj(output, self.wfile, 1 << 20)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
