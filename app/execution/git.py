"""Runs git as a subprocess that believes nobody but us.

No shell, no hook, no filter, no helper of the machine, and no configuration but that of
`app.execution.hardening`. A token goes by the environment, never into a URL, an argument or a log.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import signal
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast
from urllib.parse import urlsplit

from app.embedded.process import dies_with_parent
from app.execution.hardening import CONFIG, ENVIRONMENT, FOR_THE_NETWORK, FROM_US

T = TypeVar("T")
_Reader = asyncio.StreamReader

LONGEST_REASON = 300
"""Characters of a reason for people."""
_ERRORS_KEPT = 8_000
_CHUNK = 1 << 16
_REFUSED = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|returned error: 40[13]"
)
_IN_A_URL = re.compile(r"(?<=://)[^/\s@]*@")
_BRANCH = re.compile(
    r"(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)))(?![./-])[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![./])"
)


class GitFailed(Exception):
    """Git did not do it; the text is one line for people, without a secret."""


class GitRefused(GitFailed):
    """The remote does not accept the token, or the token does not allow this."""


class GitTooLong(GitFailed):
    """It ran out of time, or wrote more than it may."""


@dataclass(frozen=True, slots=True)
class Place:
    """What git works on. Always named, so that git never looks around for a repository."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """A remote repository and the token for it. `https`, or `http` where GitHub's URL has it."""

    url: str
    token: str | None = field(default=None, repr=False)

    def config(self) -> dict[str, str]:
        """The configuration that allows this remote and no other. Raises `GitFailed`."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("https", "http") or "@" in parts.netloc or not parts.netloc:
            raise GitFailed("only https addresses without a password; correct KR_GITHUB_URL")
        found = {f"protocol.{parts.scheme}.allow": "always"}
        if self.token:
            found[f"http.{parts.scheme}://{parts.netloc}/.extraHeader"] = (
                f"Authorization: Basic {self.encoded}"
            )
        return found

    @property
    def encoded(self) -> str:
        """How the token stands in the header."""
        return base64.b64encode(f"x-access-token:{self.token}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a command may take, and bytes that it may write."""

    seconds: float = 120.0
    most: int = 256 << 20


USUAL, NETWORK = Limits(), Limits(seconds=1800.0)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    output: bytes
    errors: str


class Git:
    """Runs git with a home of its own, `home`, in which nothing is."""

    def __init__(self, home: Path) -> None:
        self.home = home.absolute()
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def run(
        self,
        *args: str,
        at: Place | None = None,
        given: bytes = b"",
        access: Access | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits = USUAL,
    ) -> bytes:
        """What a command prints. Raises `GitFailed`."""
        done = await self.ask(*args, at=at, given=given, access=access, env=env, limits=limits)
        if done.code:
            raise failure(args, done, access)
        return done.output

    async def ask(
        self,
        *args: str,
        at: Place | None = None,
        given: bytes = b"",
        access: Access | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits = USUAL,
    ) -> Done:
        """The same where more than one exit code means something. Raises `GitTooLong`."""
        argv = ["git", "--no-pager", *_naming(at), *args]
        process = await self._started(argv, self._environment(at, access, env or {}))
        try:
            return await asyncio.wait_for(_talk(process, given, limits.most), limits.seconds)
        except TimeoutError:
            raise GitTooLong(
                f"git {args[0]} took longer than {limits.seconds:g} seconds; try again later"
            ) from None
        finally:
            await surely(_end(process))

    async def _started(
        self, argv: Sequence[str], env: Mapping[str, str]
    ) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=self.home,
                env=dict(env),
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGKILL),
            )
        except OSError as error:
            raise GitFailed(f"git does not start: {error.strerror}; install git 2.39") from error

    def _environment(
        self, at: Place | None, access: Access | None, more: Mapping[str, str]
    ) -> dict[str, str]:
        names = FROM_US | FOR_THE_NETWORK if access else FROM_US
        env = {name: os.environ[name] for name in names if name in os.environ}
        config = {**CONFIG, **(access.config() if access else {})}
        env |= {**ENVIRONMENT, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home)}
        env["GIT_ALLOW_PROTOCOL"] = urlsplit(access.url).scheme if access else ""
        if at and at.index:
            env["GIT_INDEX_FILE"] = str(at.index)
        env["GIT_CONFIG_COUNT"] = str(len(config))
        for number, (key, value) in enumerate(config.items()):
            env[f"GIT_CONFIG_KEY_{number}"] = key
            env[f"GIT_CONFIG_VALUE_{number}"] = value
        return {**env, **more}


def _naming(at: Place | None) -> list[str]:
    if at is None:
        return []
    tree = [f"--work-tree={at.work_tree}"] if at.work_tree else []
    return [f"--git-dir={at.git_dir}", *tree]


async def _talk(process: asyncio.subprocess.Process, given: bytes, most: int) -> Done:
    stdin, stdout = cast(asyncio.StreamWriter, process.stdin), cast(_Reader, process.stdout)
    errors = asyncio.ensure_future(_tail(cast(_Reader, process.stderr)))
    feeding = asyncio.ensure_future(_feed(stdin, given))
    try:
        output = await _all(stdout, most)
        await feeding
        told = await errors
        return Done(await process.wait(), output, told)
    finally:
        errors.cancel()
        feeding.cancel()


async def _feed(stdin: asyncio.StreamWriter, given: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(given)
        await stdin.drain()
    stdin.close()


async def _all(stream: asyncio.StreamReader, most: int) -> bytes:
    found = bytearray()
    while chunk := await stream.read(_CHUNK):
        found += chunk
        if len(found) > most:
            raise GitTooLong(f"git wrote more than {most >> 20} MB; the repository is too large")
    return bytes(found)


async def _tail(stream: asyncio.StreamReader) -> str:
    kept = bytearray()
    while chunk := await stream.read(_CHUNK):
        kept += chunk
        del kept[:-_ERRORS_KEPT]
    return kept.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the group, whoever of it is left."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def failure(args: Sequence[str], done: Done, access: Access | None = None) -> GitFailed:
    """Why a command failed, in one line."""
    lines = [line.strip() for line in done.errors.splitlines() if line.strip()]
    told = [one for one in lines if one.startswith(("fatal:", "error:", "remote:"))]
    text = (told or lines or [f"exit code {done.code}"])[0]
    hidden = (access.token, access.encoded) if access and access.token else ()
    if _REFUSED.search(done.errors):
        return GitRefused(one_line(f"git {args[0]}: the token is refused: {text}", *hidden))
    return GitFailed(one_line(f"git {args[0]}: {text}", *hidden))


def one_line(text: str, *hidden: str | None) -> str:
    """Text for people and the log: one line, not long, without what has to be hidden."""
    for secret in filter(None, hidden):
        text = text.replace(secret, "…")
    text = _IN_A_URL.sub("…@", text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def branch_name(name: str) -> str:
    """A name that git and GitHub take for a branch. Raises `GitFailed`."""
    if not _BRANCH.fullmatch(name) or name == "@":
        raise GitFailed(one_line(f'"{name}" is no name for a branch; choose another'))
    return name


async def surely(work: Awaitable[T]) -> T:
    """To the end of it, even if we are cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # looked at: cancellation goes first
        raise cancelled
    return task.result()


def names(printed: bytes) -> list[str]:
    """What git prints with `-z`; bytes that are no UTF-8 as lone surrogates."""
    return [os.fsdecode(one) for one in printed.split(b"\0") if one]
