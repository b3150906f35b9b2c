"""The playground as one thing: its records, its repositories, its webhooks and its faults."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from app.playground.config import PlaygroundConfig
from app.playground.faults import Faults
from app.playground.git import Git
from app.playground.responses import Responses
from app.playground.state import ROLES, Repo, User, World
from app.playground.webhooks import Hooks

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Actor:
    """Who does something. `user` is None for anonymous requests and for the App's own JWT."""

    kind: str
    user: User | None = None
    installation: int | None = None
    app: str = ""
    """The App's number, if it is one."""

    @property
    def is_app(self) -> bool:
        """Whether this is an App, as itself or in an installation."""
        return self.kind in ("app", "installation")

    @property
    def label(self) -> str:
        """For the log of requests."""
        return self.user.login if self.user else self.kind


class Box:
    """One playground. All state is here; `reset` begins anew."""

    def __init__(self, config: PlaygroundConfig) -> None:
        self.config = config
        self.faults = Faults()
        self.world = World(int(time.time()))
        self.hooks = Hooks(config, self.world.new_id)
        self.show = Responses(config, self.world)
        self.used: Counter[str] = Counter()
        self.ready = False
        self._lock = asyncio.Lock()
        self._root = config.data_dir / "repositories"
        self._home = config.data_dir / "git-home"
        self._gits: dict[int, Git] = {}

    @property
    def bot(self) -> User:
        """The first App as a user."""
        return self.bot_of(self.config.app_id)

    def bot_of(self, app_id: str) -> User:
        """An App as a user."""
        return self.world.users[(self.config.app(app_id) or self.config.apps[0]).bot]

    async def start(self) -> None:
        """Fill in the sample once; later calls wait for the first and do nothing."""
        async with self._lock:
            if not self.ready:
                await asyncio.to_thread(self._fill)
                self.ready = True

    def _fill(self) -> None:
        from app.playground.sample import fill

        shutil.rmtree(self._root, ignore_errors=True)
        self._home.mkdir(parents=True, exist_ok=True)
        fill(self)

    async def reset(self) -> None:
        """Forget everything, also the faults, and fill in the sample again."""
        async with self._lock:
            self.faults.clear()
            self.faults.log.clear()
            self.world = World(self.world.counter + 1000)
            self.hooks.reset(self.world.new_id)
            self.show = Responses(self.config, self.world)
            await asyncio.to_thread(self._fill)

    # repositories

    def git(self, repo: Repo) -> Git:
        """A repository's git objects."""
        return self._gits.setdefault(repo.id, Git(self._root / f"{repo.id}.git", self._home))

    def new_repo(self, owner: str, name: str, **fields: Any) -> Repo:
        """Make an empty repository. Blocking."""
        repo = Repo(self.world.new_id(), owner, name, **fields)
        self.world.repos[repo.full_name.lower()] = repo
        self.git(repo).create(repo.default_branch)
        return repo

    # permissions

    def role(self, actor: Actor, repo: Repo) -> str:
        """The role an actor has in a repository."""
        if actor.kind == "installation":
            found = self.world.installation_of(repo.owner, actor.app)
            return "write" if found and found.id == actor.installation else "none"
        if actor.user is None:
            return "none" if repo.private else "read"
        return repo.role(actor.user.login).base

    def may(self, actor: Actor, repo: Repo, role: str) -> bool:
        """Whether an actor has at least this role."""
        return ROLES.index(self.role(actor, repo)) >= ROLES.index(role)


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run something that blocks (git) without stopping the others."""
    return await asyncio.to_thread(function, *args, **kwargs)
