"""What a decision needs to know that only GitHub knows: asked before the feature is locked."""

from __future__ import annotations

from dataclasses import replace

from app.commands import Allow
from app.config.inforce import Fetch, Unreachable
from app.deciding import (
    ABOUT_DOCUMENTS,
    ABOUT_PULLS,
    NOBODY,
    Sender,
    commands_in,
    wants_issue,
    wants_permission,
)
from app.deps import Deps
from app.events import (
    AllowanceEnded,
    Closed,
    Commented,
    Event,
    FilesCommitted,
    GitHubEvent,
    Labeled,
    OwnEvent,
    PullChanged,
    PullClosed,
    PullJudged,
    Pushed,
    Reopened,
    Reviewed,
    Unlabeled,
    Vanished,
)
from app.features.model import Feature, Place
from app.github.client import AppClient, GitHubError
from app.github.documents import read_planned, read_pull_head, read_templates
from app.github.pulls import others_of, read_pull, read_pull_at
from app.github.required import required_checks
from app.handlers.facts import Head, Permission, Policy
from app.scopes.pulls import Pull, owners_of
from app.store import threads, waiting
from workers.patience import Patience


class Asker:
    """One for each process; not to be shared by event loops."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._app = AppClient(deps.settings)
        self._patience = Patience()

    async def ask(self, event: Event | None) -> tuple[Sender, Policy]:
        """What the decision needs to know that only GitHub knows. Raises `GitHubError`."""
        if event is None:
            return NOBODY, self._deps.policies.server()
        place = self._place(event)
        if place is None:
            return NOBODY, self._deps.policies.server()
        if isinstance(event, FilesCommitted):
            return await self._of_documents(event, place), await self._policy(place)
        if isinstance(event, AllowanceEnded):
            return await self._again(event), await self._policy(place)
        if isinstance(event, OwnEvent):
            return NOBODY, await self._policy(place)
        if isinstance(event, PullClosed):
            return NOBODY, await self._policy(place)
        if isinstance(event, Unlabeled | Closed | Reopened | Vanished | Pushed):
            with self._deps.engine.connect() as connection:
                if not threads.is_known(connection, place.repo_id, place.number):
                    return NOBODY, self._deps.policies.server()  # no feature: nothing to ask
        if isinstance(event, Pushed):
            return await self._of_push(event, place), await self._policy(place)
        if isinstance(event, PullChanged):
            return await self._proposal(event, place)
        with self._deps.engine.connect() as connection:
            asked = waiting.open_for(connection, place.repo_id, place.number)
        sender = NOBODY
        if wants_permission(event, people_are_asked=bool(asked)):
            sender = await self._sender(event, asked)
        elif isinstance(event, Commented):
            return NOBODY, self._deps.policies.server()  # not for us
        if isinstance(event, Commented):
            sender = await self._documents(event, sender)
        if wants_issue(event):
            client = await self._app.repository(place)
            labels, closed = await client.issue_now(place.number)
            sender = replace(sender, labels=labels, closed=closed)
        if isinstance(event, Labeled) and sender.permission >= Permission.TRIAGE:
            client = await self._app.repository(place)
            sender = replace(sender, templates=await read_templates(client))
        return sender, await self._policy(place)

    async def _sender(self, event: GitHubEvent, asked: list[str]) -> Sender:
        client = await self._app.repository(event.issue.place)
        login = event.sender.login
        permission = Permission[(await client.permission(login)).upper()]
        if permission >= Permission.TRIAGE:
            return Sender(permission)
        teams = [who for who in asked if "/" in who and await client.is_member(who, login)]
        quiet = not self._patience.has(event.issue.place.installation, login)
        return Sender(permission, frozenset(teams), quiet=quiet)

    async def _of_documents(self, event: FilesCommitted, place: Place) -> Sender:
        client, feature = await self._app.repository(place), self._feature(event)
        return Sender(
            planned=await read_planned(client, feature, event.commit),
            required=await required_checks(client, feature.default_branch),
        )

    async def _of_push(self, event: Pushed, place: Place) -> Sender:
        """The documents, where the push changes them."""
        with self._deps.engine.connect() as connection:
            feature = waiting.feature_of(connection, place, False)
        if feature is None or not feature.approved_by or event.sender.bot:
            return NOBODY
        path = f"{feature.folder}/tasks.md"
        if not any(path in one.paths for one in event.commits):
            return NOBODY
        client = await self._app.repository(place)
        return Sender(planned=await read_planned(client, feature, event.head))

    async def _again(self, event: AllowanceEnded) -> Sender:
        """The pull request as it is now, if it is still open."""
        place = event.place
        client = await self._app.repository(place)
        try:
            head = await read_pull_head(client, place.number)
        except GitHubError as error:
            if error.status not in {404, 410} or error.rate_limited:
                raise
            return NOBODY  # it is gone, and so is what was allowed
        if head.closed or head.sha != event.head:
            return NOBODY
        return replace(Sender(head=head), pull=await self._pull(place, head))

    async def _pull(self, place: Place, head: Head) -> Pull:
        client, policy = await self._app.repository(place), await self._policy(place)
        ours = head.author == f"{await self._app.slug()}[bot]"
        given = {"ours": ours, "people": policy.people_scopes}
        return await read_pull_at(client, place.number, head.into or head.base, **given)

    async def _documents(self, event: Commented, sender: Sender) -> Sender:
        """What commands about documents and pull requests need to know."""
        parsed = commands_in(event)
        named = {one.command.name for one in parsed.commands} if parsed else set()
        place = event.issue.place
        if event.issue.pull_request and named & ABOUT_PULLS:
            client = await self._app.repository(place)
            sender = replace(sender, head=await read_pull_head(client, place.number))
            if "allow" in named:
                sender = await self._of_allow(event, sender)
        if named & ABOUT_DOCUMENTS:
            with self._deps.engine.connect() as connection:
                known = waiting.feature_of(connection, place, event.issue.pull_request)
            if known is not None and known.written:
                client = await self._app.repository(place)
                sender = replace(sender, planned=await read_planned(client, known))
                if "go" in named:
                    required = await required_checks(client, known.default_branch)
                    sender = replace(sender, required=required)
        return sender

    async def _of_allow(self, event: Commented, sender: Sender) -> Sender:
        """What is out of scope, and of which of the owning teams the sender is a member."""
        parsed, head = commands_in(event), sender.head
        if parsed is None or head is None:
            return sender
        pull = await self._pull(event.issue.place, head)
        paths = [one.command.path for one in parsed.commands if isinstance(one.command, Allow)]
        teams = {owner[1:] for path in paths for owner in owners_of(pull, path) if "/" in owner}
        client = await self._app.repository(event.issue.place)
        login = event.sender.login
        theirs = {team for team in sorted(teams)[:20] if await client.is_member(team, login)}
        return replace(sender, pull=pull, teams=sender.teams | theirs)

    def _feature(self, event: OwnEvent) -> Feature:
        with self._deps.engine.connect() as connection:
            return threads.read_by_id(connection, event.feature_id).feature

    async def _proposal(self, event: PullChanged, place: Place) -> tuple[Sender, Policy]:
        """What a pull request changes, and the configuration that it brings."""
        client = await self._app.repository(place)
        organisation = place.repo.lower().endswith("/.github")
        path = "baron.yml" if organisation else ".github/baron.yml"
        slug = await self._app.slug()
        policy = await self._policy(place)
        ours, people = event.issue.author == f"{slug}[bot]", policy.people_scopes
        pull = await read_pull(client, event, ours=ours, people=people)
        others = await others_of(client, place.number, event.head, people=people)
        if path not in pull.paths:
            return Sender(pull=pull, others=tuple(others)), policy
        text = await client.text_at(path, event.head)
        wrong = await self._deps.policies.wrong_with(place.repo, path, text, self._fetcher(place))
        return Sender(proposed=wrong, pull=pull, others=tuple(others)), policy

    async def _policy(self, place: Place) -> Policy:
        return await self._deps.policies.of(place.repo, self._fetcher(place))

    def _place(self, event: Event) -> Place | None:
        if not isinstance(event, OwnEvent):
            return event.issue.place
        if isinstance(event, AllowanceEnded | PullJudged | Reviewed) and not event.feature_id:
            return event.place
        with self._deps.engine.connect() as connection:
            return threads.where(connection, event.feature_id)

    def _fetcher(self, place: Place) -> Fetch:
        async def fetch(repo: str, path: str) -> str | None:
            try:
                return await self._app.text(place, repo, path)
            except GitHubError as error:
                raise Unreachable(str(error)) from error

        return fetch
