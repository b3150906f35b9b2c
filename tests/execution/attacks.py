"""What @dede, whose scope is /src/, tries in a worktree, as shell scripts; and what may be hit.

`ATTACKS` are those that the files of a worktree show; `attempts` also those that only the kernel
can stop. Each runs in `sh` at the worktree's root.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from app.scopes import parse

SCOPE_TEXT = "/tests/ @marie\n/src/ @dede\n/k8s/ @gustave\n"
SCOPES = parse(SCOPE_TEXT)
FILES: dict[str, bytes | None] = {
    "src/app.py": b"print('shop')\n",
    "src/pkg/cart.py": b"cart = []\n",
    "120000|src/old": b"../k8s/service.yaml",
    "k8s/deploy.yaml": b"replicas: 1\n",
    "k8s/service.yaml": b"port: 80\n",
    "k8s/spare.yaml": b"spare: 1\n",
    "tests/test_app.py": b"test\n",
    ".github/AGENT_SCOPES": SCOPE_TEXT.encode(),
}
GUSTAVES = "belongs to @gustave (line 3 of the scopes)"
GUARDED = "is guarded: only people change it"
OUTSIDE = "outside of the repository"
GITS = "is git's own"


@dataclass(frozen=True, slots=True)
class Attack:
    """A trick that leaves a trace in the worktree."""

    script: str
    dropped: frozenset[str]
    """Paths that the judgement on the diff has to take back."""
    why: str
    """Part of the reason that is told for at least one of them."""
    listed: frozenset[str] = frozenset()
    """Paths for which a check run has to fail; empty if a commit does not show it."""


def _attack(script: str, dropped: str, why: str, listed: str | None = None) -> Attack:
    told = dropped if listed is None else listed
    return Attack(script, frozenset(dropped.split()), why, frozenset(told.split()))


_DEEP = """sh -c "python3 -c 'import os; os.system(\\"echo evil > k8s/evil.yaml\\")'" """

ATTACKS: Mapping[str, Attack] = {
    "new-file": _attack("echo evil > k8s/evil.yaml", "k8s/evil.yaml", GUSTAVES),
    "changed-file": _attack("echo evil >> k8s/deploy.yaml", "k8s/deploy.yaml", GUSTAVES),
    "file-of-nobody": _attack("echo evil > setup.py", "setup.py", "belongs to nobody"),
    "dot-dot": _attack("echo evil > src/../k8s/evil.yaml", "k8s/evil.yaml", GUSTAVES),
    "nested-shell": _attack(
        "sh -c 'sh -c \"echo evil > k8s/evil.yaml\"'", "k8s/evil.yaml", GUSTAVES
    ),
    "python": _attack(
        "python3 -c 'open(\"k8s/evil.yaml\", \"w\").write(\"evil\")'", "k8s/evil.yaml", GUSTAVES
    ),
    "shell-python-shell": _attack(_DEEP, "k8s/evil.yaml", GUSTAVES),
    "proc-self-root": _attack(
        'echo evil > "/proc/self/root$PWD/k8s/evil.yaml"', "k8s/evil.yaml", GUSTAVES
    ),
    "proc-self-cwd": _attack("echo evil > /proc/self/cwd/k8s/evil.yaml", "k8s/evil.yaml", GUSTAVES),
    "deleted": _attack("rm k8s/deploy.yaml", "k8s/deploy.yaml", GUSTAVES),
    "folder-deleted": _attack(
        "rm -r k8s", "k8s/deploy.yaml k8s/service.yaml k8s/spare.yaml", GUSTAVES
    ),
    "moved-in": _attack(
        "mv k8s/deploy.yaml src/deploy.yaml", "src/deploy.yaml", GUSTAVES, "k8s/deploy.yaml"
    ),
    "moved-out": _attack("mv src/app.py k8s/app.py", "k8s/app.py", GUSTAVES),
    "folder-moved-in": _attack(
        "mv k8s src/k8s",
        "src/k8s/deploy.yaml src/k8s/service.yaml src/k8s/spare.yaml",
        GUSTAVES,
        "k8s/deploy.yaml k8s/service.yaml k8s/spare.yaml",
    ),
    "scope-moved-out": _attack("mv src/pkg k8s/pkg", "k8s/pkg/cart.py", GUSTAVES),
    "mode": _attack("chmod +x k8s/deploy.yaml", "k8s/deploy.yaml", GUSTAVES),
    "hard-link": _attack(
        "ln k8s/deploy.yaml src/x.yaml && echo evil >> src/x.yaml",
        "k8s/deploy.yaml src/x.yaml",
        "is a hard link",
        "k8s/deploy.yaml",
    ),
    "hard-link-only": _attack(
        "ln k8s/deploy.yaml src/x.yaml", "src/x.yaml", "is a hard link", ""
    ),
    "link-to-a-file": _attack("ln -s ../k8s/deploy.yaml src/way", "src/way", GUSTAVES),
    "link-to-a-folder": _attack("ln -s ../k8s src/way", "src/way", "links to k8s"),
    "link-to-git": _attack("ln -s ../.git src/way", "src/way", GUARDED),
    "link-outside": _attack("ln -s ../../../../.. src/way", "src/way", OUTSIDE),
    "link-absolute": _attack("ln -s /etc/passwd src/way", "src/way", OUTSIDE),
    "link-in-place-of-a-file": _attack(
        "ln -sf ../k8s/deploy.yaml src/app.py", "src/app.py", GUSTAVES
    ),
    "written-through-its-link": _attack(
        "ln -s ../k8s src/way && echo evil > src/way/evil.yaml",
        "src/way k8s/evil.yaml",
        GUSTAVES,
    ),
    "written-through-a-link-of-the-repository": _attack(
        "echo evil >> src/old", "k8s/service.yaml", GUSTAVES
    ),
    "scope-file": _attack(
        "echo '* @dede' > .github/AGENT_SCOPES", ".github/AGENT_SCOPES", GUARDED
    ),
    "scope-file-deleted": _attack("rm -r .github", ".github/AGENT_SCOPES", GUARDED),
    "code-owners": _attack("echo '* @dede' > CODEOWNERS", "CODEOWNERS", GUARDED),
    "scope-file-in-capitals": _attack(
        "mkdir .GITHUB && echo '* @dede' > .GITHUB/agent_scopes",
        ".GITHUB/agent_scopes",
        "only in the case of letters",
    ),
    "ignored": _attack(
        "echo /k8s/ > .gitignore && echo evil > k8s/evil.yaml",
        ".gitignore k8s/evil.yaml",
        GUSTAVES,
        ".gitignore",
    ),
    "attributes": _attack("echo '* filter=evil' > .gitattributes", ".gitattributes", "nobody"),
    "submodule": _attack("echo '[submodule \"x\"]' > .gitmodules", ".gitmodules", "a submodule"),
    "hook": _attack(
        "rm .git && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit", ".git", GITS, ""
    ),
    "config": _attack("rm .git && mkdir .git && echo '[core]' > .git/config", ".git", GITS, ""),
    "git-pointed-elsewhere": _attack("echo 'gitdir: /tmp' > .git", ".git", GITS, ""),
    "repository-inside": _attack("git init -q src/lib", "src/lib/.git", GITS, ""),
}  # fmt: skip


class Listeners:
    """What a run must not reach: a server on a Unix socket, one on TCP, one on UDP."""

    def __init__(self, folder: Path) -> None:
        self.heard: set[str] = set()
        self.unix = folder / "redis.sock"
        self._sockets = [socket.socket(socket.AF_UNIX), socket.socket(), socket.socket(type=_UDP)]
        self._sockets[0].bind(str(self.unix))
        for one in self._sockets[1:]:
            one.bind(("127.0.0.1", 0))
        self.tcp, self.udp = (one.getsockname()[1] for one in self._sockets[1:])
        self._start("unix", self._serve)
        self._start("tcp", self._serve)
        self._start("udp", self._echo)

    def _start(self, name: str, target: Callable[[str, socket.socket], None]) -> None:
        one = self._sockets[("unix", "tcp", "udp").index(name)]
        if name != "udp":
            one.listen()
        threading.Thread(target=target, args=(name, one), daemon=True).start()

    def _serve(self, name: str, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                self.heard.add(name)
                client.sendall(b"+PONG\r\n")
                client.close()

    def _echo(self, name: str, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                given, sender = server.recvfrom(100)
                if sender is None:  # it was closed
                    return
                self.heard.add(name)
                server.sendto(given, sender)

    def close(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


_UDP = socket.SOCK_DGRAM


@dataclass(frozen=True, slots=True)
class Service:
    """What the service has on its machine: a folder with a key, a process, servers."""

    folder: Path
    secret: str
    pid: int
    listeners: Listeners


@contextmanager
def service(folder: Path, secret: str) -> Iterator[Service]:
    folder.mkdir(mode=0o700)
    (folder / "key.pem").write_text(secret)
    (folder / "key.pem").chmod(0o600)
    env = {"PATH": os.environ["PATH"], "KR_GITHUB_PRIVATE_KEY": secret}
    process = subprocess.Popen(["sleep", "600"], env=env)
    listeners = Listeners(folder)
    try:
        yield Service(folder, secret, process.pid, listeners)
    finally:
        listeners.close()
        process.kill()
        process.wait()


def attempts(mirror: Path, of: Service) -> dict[str, str]:
    """Everything in one run: no attempt needs what another one spoils."""
    out, key = of.folder, of.folder / "key.pem"
    unix = f"s = socket.socket(socket.AF_UNIX); s.connect('{of.listeners.unix}'); s.recv(9)"
    tcp = f"socket.create_connection(('127.0.0.1', {of.listeners.tcp}), 2).recv(9)"
    udp = (
        f"s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(0.5);"
        f" s.sendto(b'evil', ('127.0.0.1', {of.listeners.udp})); s.recv(9)"
    )
    return {
        "new file": "echo evil > k8s/evil.yaml",
        "outside": "echo evil > ../outside",
        "dot-dot": "echo evil > src/../k8s/dots.yaml",
        "hook of the mirror": f"mkdir -p {mirror}/hooks && echo evil > {mirror}/hooks/pre-commit",
        "config of the mirror": f"echo evil >> {mirror}/config",
        "scope file": "echo '* @dede' >> .github/AGENT_SCOPES",
        "link to k8s": "ln -s ../k8s src/way && echo evil > src/way/through.yaml",
        "link outside": f"ln -s {out} src/out && echo evil > src/out/through",
        "moved in": "mv k8s/spare.yaml src/spare.yaml",
        "moved out": "mv src/pkg/cart.py k8s/cart.py",
        "nested shell": "sh -c \"sh -c 'echo evil > k8s/nested.yaml'\"",
        "python": _python("open('k8s/python.yaml', 'w').write('evil')"),
        "shell in python": _python("import os; assert not os.system('echo evil > k8s/os.yaml')"),
        "proc self root": 'echo evil > "/proc/self/root$PWD/k8s/root.yaml"',
        "hard link": "ln k8s/service.yaml src/hard.yaml && echo evil >> src/hard.yaml",
        "mode": "chmod 777 k8s/service.yaml",
        "deleted": "rm -f k8s/deploy.yaml && test ! -e k8s/deploy.yaml",
        "own environ": "cat /proc/self/environ > src/environ.bin",
        "environ of the service": f"grep -aq {of.secret} /proc/{of.pid}/environ",
        "key": f"cp {key} src/key.pem",
        "folder of keys": f"ls {of.folder}",
        "unix socket": _python(f"import socket; {unix}"),
        "tcp": _python(f"import socket; {tcp}"),
        "udp": _python(f"import socket; {udp}"),
        "hook": "rm -f .git && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "config": "test -d .git && echo '[core]' > .git/config",
    }


def _python(code: str) -> str:
    return f"python3 -c {shlex.quote(code)}"


def said(attempt: str) -> str:
    """The attempt as a command that says how it went."""
    return f"if ( {attempt} ) >/dev/null 2>&1; then echo WORKED; else echo STOPPED; fi"


def fingerprint(folder: Path, ignored: Callable[[str], bool] = lambda path: False) -> str:
    """Of all files below a folder, but for those `ignored`: names, modes, contents."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if ignored(name) or path.is_socket():
            continue
        info = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found.update(f"{name}\0{info.st_mode:o}\0{len(content)}\0".encode() + content)
    return found.hexdigest()
