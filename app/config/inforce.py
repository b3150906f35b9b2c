"""The configuration in force in a repository: server ← organisation ← repository.

The server's files are looked at again while the process runs; the nearer layers are asked of
GitHub, default branch only, and a change is in force within ten seconds. A bad layer stops
nothing: its last good text serves, or what it would inherit, and people are told why.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from app.config.document import Unreadable
from app.config.layers import merge, parse_layer
from app.config.loader import Config, load_config
from app.config.problems import ConfigInvalid, Problem
from app.config.recent import Recent
from app.config.rules import Rules, RuleSetLike, ruled

MAX_LAYER_BYTES = 256 * 1024
"""The largest `baron.yml` that is taken."""
MAX_REPOSITORIES = 1000
"""How many repositories are remembered; the one not asked for longest goes first."""
LOOK_EVERY = 1.0
"""Seconds between two looks at the server's files."""
LAST_GOOD = " (last good one)"

Fetch = Callable[[str, str], Awaitable[str | None]]
"""(owner/repo, path) → text on the default branch, None if there is none. Raises `Unreachable`."""


class Unreachable(Exception):
    """GitHub cannot be asked now."""


class Kept(Protocol):
    """Remembers the last good text of each layer across restarts.

    It is called in threads, so it may block; its errors reach the caller of `of`.
    """

    def last_good(self, repo: str, path: str) -> str | None:
        """The text that was last remembered, None if that was "no file" or nothing was."""

    def remember(self, repo: str, path: str, text: str | None) -> None:
        """Keep a text that has come into force; None if the file is not there."""


@dataclass(frozen=True, slots=True)
class InForce:
    """What is in force in a repository, and what is not because it is bad."""

    config: Config
    """All layers in one."""
    problems: tuple[Problem, ...]
    """Of layers that are bad; their last good text is in force instead, or what they inherit."""
    layers: tuple[str, ...]
    """The layers in force, for people, outermost first: `server`, `acme/.github/baron.yml`,
    `acme/storefront/.github/baron.yml (last good one)`."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer of a repository, and what was last heard of it."""

    repo: str
    path: str
    text: str | None
    at: float = field(compare=False)
    """When GitHub was asked, in the clock's seconds."""
    from_memory: bool = False
    """GitHub could not be asked yet: this is the text that was kept."""

    @property
    def name(self) -> str:
        return f"{self.repo}/{self.path}"


@dataclass(frozen=True, slots=True)
class _Merged:
    server: Config
    layers: tuple[_Layer, ...]
    in_force: InForce


class Configurations:
    """The server's configuration and that of every repository, each as new as can be had.

    `server` may be called from any thread, `of` from one event loop at a time. `fresh` is how
    many seconds a layer is good for before GitHub is asked again. Raises `ConfigInvalid` if the
    server's files are bad from the start.
    """

    def __init__(
        self,
        folder: Path,
        kept: Kept,
        *,
        clock: Callable[[], float] = time.monotonic,
        fresh: float = 8.0,
        rules: Callable[[], RuleSetLike | None] = lambda: None,
    ) -> None:
        self._files = _ServerFiles(folder, clock)
        self._rules = Rules(rules, clock)
        self._kept, self._clock, self._fresh = kept, clock, fresh
        self._heard: Recent[tuple[str, str], _Layer] = Recent(2 * MAX_REPOSITORIES)
        self._merged: Recent[str, _Merged] = Recent(MAX_REPOSITORIES)
        # A lock lives as long as somebody uses it, so that none is bound to a loop that ended.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def server_problems(self) -> tuple[Problem, ...]:
        """Why the server's files as they are now are not in force; empty if they are."""
        return (*self._files.problems, *self._rules.problems)

    def server(self) -> Config:
        """The server's configuration and the rules set since, without the nearer layers."""
        return self._rules.over(self._files.current())

    def with_rules(self, rules: Sequence[Mapping[str, Any]], by: str) -> Config:
        """What would be in force with these rules. Raises `ConfigInvalid`."""
        return ruled(self._files.current(), rules, f"rules (set by {by})")

    async def of(self, repo: str, fetch: Fetch) -> InForce:
        """What is in force in a repository (`acme/storefront`).

        When GitHub cannot be asked, what was heard last is used however old it is, else what was
        kept, else what is inherited. Calls for one repository wait for each other.
        """
        lock = self._lock(repo)
        async with lock:
            server = self.server()
            owner = repo.partition("/")[0]
            organisation = await self._layer(f"{owner}/.github", "baron.yml", fetch)
            layers = (organisation, await self._layer(repo, ".github/baron.yml", fetch))
            known = self._merged.get(repo)
            if known is None or known.server is not server or known.layers != layers:
                in_force = await asyncio.to_thread(self._merge, server, layers)
                known = _Merged(server, layers, in_force)
                self._merged.put(repo, known)
            return known.in_force

    async def try_layer(
        self, repo: str, path: str, text: str | None, fetch: Fetch
    ) -> tuple[Problem, ...]:
        """What is wrong with a layer's text that is not in force yet."""
        owner, _, name = repo.partition("/")
        outer = InForce(self.server(), (), ("server",))
        if name != ".github":
            organisation = await self._layer(f"{owner}/.github", "baron.yml", fetch)
            outer = replace(self._merge(self.server(), (organisation,)), problems=())
        try:
            _put(text, path, outer, "")
        except ConfigInvalid as error:
            return tuple(error.errors)
        return ()

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())

    async def _layer(self, repo: str, path: str, fetch: Fetch) -> _Layer:
        """A layer, asked of GitHub unless that was done a moment ago."""
        lock = self._lock(f"{repo}/{path}")
        async with lock:
            known, now = self._heard.get((repo, path)), self._clock()
            if known is not None and now - known.at < self._fresh:
                return known
            try:
                text = await fetch(repo, path)
                # One character too many is enough to see that it is too large.
                layer = _Layer(repo, path, text and text[: MAX_LAYER_BYTES + 1], now)
            except Unreachable:
                # what another process has heard since is in memory, too
                if known is None or known.from_memory:
                    known = await self._from_memory(repo, path)
                layer = known
                # Whoever waits must not wait for GitHub once more, however long this took.
                layer = replace(layer, at=self._clock())
            self._heard.put((repo, path), layer)
            return layer

    async def _from_memory(self, repo: str, path: str) -> _Layer:
        text = await asyncio.to_thread(self._kept.last_good, repo, path)
        return _Layer(repo, path, text, self._clock(), from_memory=True)

    def _merge(self, server: Config, layers: tuple[_Layer, ...]) -> InForce:
        in_force = InForce(server, (), ("server",))
        for layer in layers:
            in_force = self._with(layer, in_force)
        return in_force

    def _with(self, layer: _Layer, outer: InForce) -> InForce:
        """What is in force once a layer is put on what surrounds it, in whichever state it is."""
        last_good = self._kept.last_good(layer.repo, layer.path)
        try:
            in_force = _put(layer.text, layer.name, outer, LAST_GOOD * layer.from_memory)
        except ConfigInvalid as error:
            told = replace(outer, problems=(*outer.problems, *_blamed(error, layer.name)))
            if last_good == layer.text:
                return told
            try:
                return _put(last_good, layer.name, told, LAST_GOOD)
            except ConfigInvalid:  # the layers around it have changed since
                return told
        if layer.text != last_good and not layer.from_memory:
            self._kept.remember(layer.repo, layer.path, layer.text)
        return in_force


def _put(text: str | None, name: str, outer: InForce, remark: str) -> InForce:
    """A layer's text put on what surrounds it. Raises `ConfigInvalid`."""
    if text is None:
        return outer
    if len(text.encode("utf-8", "surrogatepass")) > MAX_LAYER_BYTES:
        what = f"is larger than {MAX_LAYER_BYTES // 1024} KB: make it shorter"
        raise ConfigInvalid([Problem(name, 1, "", what)])
    try:
        config = merge(outer.config, None, parse_layer(text, name))
    except Unreadable as error:
        raise ConfigInvalid([error.problem]) from None
    return replace(outer, config=config, layers=(*outer.layers, name + remark))


def _blamed(error: ConfigInvalid, name: str) -> list[Problem]:
    """A layer's problems; one that shows in another file says whose doing it is."""
    return [
        problem
        if problem.file == name
        else replace(problem, what=f"{problem.what}, if {name} were in force")
        for problem in error.errors
    ]


class _ServerFiles:
    """The configuration in a folder, read again when a file in it has changed."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self.problems: tuple[Problem, ...] = ()
        self._folder, self._clock = folder, clock
        self._guard = threading.Lock()
        self._looked = clock()
        self._seen: frozenset[tuple[str, int, int]] | None = _fingerprint(folder)
        try:
            self._config = load_config(folder)
        except OSError as error:
            raise ConfigInvalid([_no_folder(folder, error)]) from error

    def current(self) -> Config:
        """The last good configuration; the files are looked at once a second at most."""
        with self._guard:
            now = self._clock()
            if now - self._looked >= LOOK_EVERY:
                self._looked = now
                self._look()
            return self._config

    def _look(self) -> None:
        seen = _fingerprint(self._folder)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._config, self.problems = load_config(self._folder), ()
        except ConfigInvalid as error:
            self.problems = error.errors
        except OSError as error:
            self.problems = (_no_folder(self._folder, error),)
            self._seen = None  # rights may be given without a file being changed


def _fingerprint(folder: Path) -> frozenset[tuple[str, int, int]]:
    """Name, time of change in nanoseconds and size of every YAML file in a folder."""
    found: set[tuple[str, int, int]] = set()
    for path in folder.glob("*.yaml"):
        try:
            status = path.stat()
        except OSError:  # gone since, or a link that leads nowhere
            found.add((path.name, 0, 0))
        else:
            found.add((path.name, status.st_mtime_ns, status.st_size))
    return frozenset(found)


def _no_folder(folder: Path, error: OSError) -> Problem:
    place = str(error.filename or folder)
    reason = error.strerror or type(error).__name__
    return Problem(place, 1, "", f"cannot be read ({reason}): see to it, or to KR_CONFIG_DIR")
