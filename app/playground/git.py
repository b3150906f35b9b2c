"""Git objects in a bare repository, through the `git` program. Blocking: call it in a thread."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

SHA = re.compile(r"[0-9a-f]{40}")
ZERO = "0" * 40


class GitError(Exception):
    """Git refused; the text is its own."""


@dataclass(frozen=True)
class Who:
    """The author or committer of a commit."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True)
class CommitInfo:
    """A commit's fields."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Who
    committer: Who
    message: str


@dataclass(frozen=True)
class Entry:
    """A line of a tree. `sha` None in a new tree means: take this path away."""

    path: str
    mode: str
    kind: str
    sha: str | None
    size: int | None = None


def environment(home: Path) -> dict[str, str]:
    """Git's environment: no configuration of the machine, no prompts, one author."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "GIT_AUTHOR_NAME": "Playground",
        "GIT_AUTHOR_EMAIL": "playground@example.invalid",
        "GIT_COMMITTER_NAME": "Playground",
        "GIT_COMMITTER_EMAIL": "playground@example.invalid",
    }


def _who(line: str) -> Who:
    found = re.fullmatch(r"(.*?) ?<(.*?)> (\d+) [+-]\d{4}", line)
    if found is None:
        return Who(line, "", datetime.fromtimestamp(0, UTC))
    return Who(found[1], found[2], datetime.fromtimestamp(int(found[3]), UTC))


def _parse_commit(sha: str, raw: str) -> CommitInfo:
    head, _, message = raw.partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.splitlines():
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)
    return CommitInfo(
        sha,
        fields["tree"][0],
        tuple(fields.get("parent", ())),
        _who(fields["author"][0]),
        _who(fields["committer"][0]),
        message.removesuffix("\n"),
    )


def _data(content: bytes) -> bytes:
    """A piece of `git fast-import`'s stream."""
    return b"data %d\n%s\n" % (len(content), content)


class Git:
    """One bare repository."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        self.env = environment(home)

    def run(
        self, *args: str, data: bytes = b"", env: Mapping[str, str] | None = None, ok: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git here. Raises `GitError` unless it succeeds or `ok` is false."""
        done = subprocess.run(
            ["git", "--git-dir", str(self.path), *args],
            input=data,
            env={**self.env, **(env or {})},
            capture_output=True,
            check=False,
        )
        if ok and done.returncode:
            raise GitError(done.stderr.decode(errors="replace").strip()[:500])
        return done

    def text(self, *args: str, data: bytes = b"") -> str:
        """What git prints, without the last line's end."""
        return self.run(*args, data=data).stdout.decode(errors="replace").strip()

    def create(self, branch: str) -> None:
        """Make the repository."""
        self.path.mkdir(parents=True)
        self.run("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}")
        with (self.path / "config").open("a", encoding="utf-8") as config:
            config.write("[http]\n\treceivepack = true\n[gc]\n\tauto = 0\n")

    # references

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """References below a prefix, by name."""
        lines = self.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        pairs = (line.split(" ") for line in lines)
        return {name: sha for name, sha in pairs if name.startswith(prefix)}

    def ref(self, name: str) -> str | None:
        """What a reference points to."""
        return self.refs(name).get(name)

    def set_ref(self, name: str, new: str, old: str) -> bool:
        """Move it from `old` (`ZERO`: it must not exist yet). False if it stands elsewhere."""
        return self.run("update-ref", name, new, old, ok=False).returncode == 0

    def drop_ref(self, name: str, old: str) -> bool:
        """Delete it."""
        return self.run("update-ref", "-d", name, old, ok=False).returncode == 0

    def valid_ref(self, name: str) -> bool:
        """Whether git takes this as a reference's name."""
        return self.run("check-ref-format", name, ok=False).returncode == 0

    def resolve(self, name: str) -> str | None:
        """The commit that a branch, a tag, a full reference or a (short) id names."""
        if not name or name.startswith("-") or any(mark in name for mark in ("..", "@{", "^", ":")):
            return None
        for candidate in (f"refs/heads/{name}", f"refs/tags/{name}", name):
            done = self.run("rev-parse", "--verify", "-q", candidate + "^{commit}", ok=False)
            if done.returncode == 0:
                return done.stdout.decode().strip()
        return None

    # objects

    def kind(self, sha: str) -> str | None:
        """`blob`, `tree`, `commit`, `tag`, or None."""
        if not SHA.fullmatch(sha):
            return None
        done = self.run("cat-file", "-t", sha, ok=False)
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def commit(self, sha: str) -> CommitInfo:
        """A commit by its id."""
        return _parse_commit(sha, self.run("cat-file", "commit", sha).stdout.decode())

    def log(self, start: str, path: str = "", limit: int = 250) -> list[CommitInfo]:
        """Commits from `start` backwards, those that touch `path` if it is given."""
        where = ["--", path] if path else []
        shas = self.text("rev-list", f"--max-count={limit}", start, *where).split()
        return [self.commit(sha) for sha in shas]

    def blob(self, sha: str) -> bytes:
        """A file's content."""
        return self.run("cat-file", "blob", sha).stdout

    def tree(self, name: str, path: str = "", *, deep: bool = False) -> list[Entry]:
        """A tree's entries, with full paths."""
        flags = ["-r", "-t"] if deep else []
        where = ["--", path] if path else []
        raw = self.run("ls-tree", "-z", "-l", *flags, name, *where).stdout.decode(errors="replace")
        entries = []
        for line in raw.split("\0"):
            if line:
                meta, _, found = line.partition("\t")
                mode, kind, sha, size = meta.split()
                entries.append(Entry(found, mode, kind, sha, int(size) if size != "-" else None))
        return entries

    def entry(self, commit: str, path: str) -> Entry | None:
        """What stands at a path, or None."""
        return next((e for e in self.tree(commit, path) if e.path == path), None)

    def write_blob(self, content: bytes) -> str:
        """Store a file's content. Returns its id."""
        return self.text("hash-object", "-w", "--stdin", data=content)

    def write_tree(self, entries: Sequence[Entry], base: str | None = None) -> str:
        """Store a tree: the base's entries with these in, over or (no id) off it."""
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if base:
                self.run("read-tree", base, env=env)
            for entry in entries:
                if entry.kind == "tree" and entry.sha:
                    self.run("read-tree", f"--prefix={entry.path}/", entry.sha, env=env)
            lines = [
                f"{entry.mode if entry.sha else '0'} {entry.sha or ZERO}\t{entry.path}\0"
                for entry in entries
                if entry.kind != "tree" or not entry.sha
            ]
            data = "".join(lines).encode()
            self.run("update-index", "-z", "--index-info", data=data, env=env)
            return self.run("write-tree", env=env).stdout.decode().strip()

    def write_commit(
        self, tree: str, parents: Sequence[str], message: str, env: Mapping[str, str] | None = None
    ) -> str:
        """Store a commit. Returns its id."""
        flags = [word for parent in parents for word in ("-p", parent)]
        done = self.run("commit-tree", tree, *flags, data=message.encode(), env=env)
        return done.stdout.decode().strip()

    def start(self, branch: str, files: Mapping[str, bytes], author: str, message: str) -> None:
        """Give an empty repository its first commit, in one go."""
        moment = int(datetime.now(UTC).timestamp())
        head = f"commit refs/heads/{branch}\ncommitter {author} {moment} +0000\n"
        stream = head.encode() + _data(message.encode())
        for path, content in files.items():
            stream += f"M 100644 inline {path}\n".encode() + _data(content)
        self.run("fast-import", "--quiet", data=stream)

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether moving from `old` to `new` is a fast-forward."""
        return self.run("merge-base", "--is-ancestor", old, new, ok=False).returncode == 0
