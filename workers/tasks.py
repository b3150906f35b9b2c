"""Tasks of execution agents, and reviews: what the agents' process does with repositories."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from app.actions import JudgePull, LandTask, ReviewPull, RunTask, WriteDocuments
from app.agents.choosing import REVIEWER
from app.agents.protocols import Account, AgentUnavailable
from app.agents.team import Team
from app.deps import Deps
from app.events import PullJudged, Reviewed, TaskLanded, TaskRan
from app.execution.branches import Author
from app.execution.crew import crew
from app.execution.git import GitFailed
from app.execution.mirror import Mirrors
from app.execution.sandbox import SandboxMissing
from app.execution.workshop import Worker, Workshop
from app.execution.worktrees import Worktrees
from app.github.apps import Apps, open_apps
from app.github.calls import GitHubError
from app.github.client import AppClient
from app.github.documents import in_form
from app.looking import Model, look
from app.scopes.pulls import Judged, is_bound, judge

MOST = 1000
"""Trespasses of a large pull request that are told."""
logger = logging.getLogger(__name__)


class Tasks:
    """Made on first use: without tasks nothing of it lies on the disk."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._apps: Apps | None = None
        self._workshop: Workshop | None = None
        self._opening = asyncio.Lock()
        self._crews: dict[int, tuple[Team, Mapping[str, Worker]]] = {}

    @property
    def apps(self) -> Apps:
        """The clients of this process's event loop."""
        if self._apps is None:
            config = self._deps.policies.server_config()
            self._apps = open_apps(self._deps.settings, config)
        return self._apps

    @property
    def app(self) -> AppClient:
        """The client of the first App."""
        return self.apps.first

    async def _opened(self, team: Team) -> Workshop:
        async with self._opening:
            if self._workshop is None:
                slug = await self.app.slug()
                shop = self._build(slug, team.secrets)
                await shop.recover()
                self._workshop = shop
        return self._workshop

    def _build(self, slug: str, secrets: frozenset[str]) -> Workshop:
        settings = self._deps.settings
        folder = settings.data_dir.absolute()

        async def credentials(repo: str) -> str | None:
            try:
                return await self.app.git_token(repo)
            except GitHubError as error:
                raise GitFailed(f"GitHub gives no token for {repo}: {error}") from None

        def author(handle: str) -> Author:
            return Author(handle.lstrip("@"), f"{slug}[bot]@users.noreply.github.com")

        mirrors = Mirrors(
            folder / "mirrors",
            lambda repo: f"{settings.github_url}/{repo}.git",
            credentials,
        )
        worktrees = Worktrees(mirrors, folder / "worktrees")
        forget = self.app.forget_token
        return Workshop(worktrees, author, secrets=secrets, forget=forget)

    def _worker(self, team: Team, role: str) -> Worker | None:
        """Raises `SandboxMissing`, `OSError`."""
        if team.models is None:
            return None
        found = self._crews.get(id(team))
        if found is None:
            workers = crew(team.models.config, self._deps.settings, team.models, team.passages)
            self._crews = {id(team): (team, workers)}
            return workers.get(role)
        return found[1].get(role)

    async def run(self, wanted: RunTask, team: Team, account: Account) -> TaskRan:
        """Have a task done."""
        await team.start()
        try:
            worker = await asyncio.to_thread(self._worker, team, wanted.task.role)
        except SandboxMissing as error:
            about = (wanted.feature_id, wanted.task.name, wanted.task.run)
            return TaskRan(*about, error=str(error), missing=True)
        shop = await self._opened(team)
        return await shop.run(wanted, worker, account)

    async def land(self, wanted: LandTask, team: Team) -> TaskLanded:
        """Bring its commit onto the feature's branch."""
        shop = await self._opened(team)
        found = await shop.land(wanted)
        try:
            await shop.prune()
        except (GitFailed, OSError):
            logger.exception("no tidying up")  # that it landed is told all the same
        return found

    async def judge(self, wanted: JudgePull, team: Team, last: bool) -> PullJudged:
        """Hold a large pull request against the scopes, from git.

        Raises `GitFailed` unless it is the `last` try.
        """
        shop = await self._opened(team)
        about = (0, wanted.place, wanted.head)
        read = (wanted.place.repo, wanted.base, wanted.head, wanted.pull)
        try:
            pull = await shop.read_large(*read)
        except GitFailed as error:
            if not last:
                raise  # a network that fails is no verdict
            return PullJudged(*about, True, False, 0, Judged(), error=str(error))
        own = pull.scopes is not None
        if not is_bound(pull):
            return PullJudged(*about, False, own, len(pull.paths), Judged())
        allowed = {one.path for one in wanted.allowed}
        found = await asyncio.to_thread(judge, pull, allowed)
        shown = Judged(found.trespasses[:MOST], found.flaws[:MOST])
        return PullJudged(
            *about, True, own, len(pull.paths), shown, wanted.allowed, owners=pull.owners
        )

    async def in_form(self, wanted: WriteDocuments) -> WriteDocuments:
        """The drafts as the repository's own templates want them. Raises `GitHubError`."""
        if not wanted.templates or wanted.place is None:
            return wanted
        return await in_form(await self.app.repository(wanted.place), wanted)

    async def review(
        self, wanted: ReviewPull, team: Team, account: Callable[[str], Account]
    ) -> Reviewed:
        """Look through a pull request. Raises `GitHubError`."""
        client = await self.app.repository(wanted.place)
        ours = await self.apps.recogniser()
        reviewer = team.models.reviewer() if team.models and wanted.model is not None else None
        model = Model(reviewer, account(REVIEWER)) if reviewer else None
        if model is not None:
            try:
                await team.start()
            except AgentUnavailable:
                model = None
        return await look(client, wanted, ours, model)
