"""Questions are generated and answered: many waiting calls in one process."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, assert_never, cast

from app.actions import (
    AgentEffect,
    AskAgent,
    GenerateQuestions,
    JudgePull,
    LandTask,
    ReviewPull,
    RunTask,
    SuggestAgents,
    TaskEffect,
    WriteDocuments,
)
from app.agents.choosing import DRIVER
from app.agents.meter import BudgetMeter
from app.agents.protocols import Account, AgentUnavailable, OverBudget
from app.agents.team import Team
from app.deps import Deps
from app.events import (
    FREE,
    AgentAnswered,
    AgentsSuggested,
    DocumentsWritten,
    OwnEvent,
    PullJudged,
    QuestionsGenerated,
    Reviewed,
    Spending,
    TaskRan,
    Written,
)
from app.queue import EVENTS
from app.store import deliveries, outbox, threads
from app.store.engine import Connection, DatabaseError
from app.store.outbox import Due
from workers.drain import Drain
from workers.metering import build_meter
from workers.tasks import Tasks

logger = logging.getLogger(__name__)
R = TypeVar("R")

AT_ONCE = 200
"""Calls that one process carries; what waits for a model costs it nothing but memory."""


TRIES = 5
"""How often one run of a task is begun."""
PATIENCE = 8.0
"""Seconds in which a database may come back; a call that was paid for is not made again."""


async def patiently(work: Callable[..., R], *args: Any) -> R:
    """Do it in a thread, again while the database is away. Raises `DatabaseError` in the end."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return await asyncio.to_thread(work, *args)
        except DatabaseError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.3)


class Agents(Drain):
    """Calls agents, and hands their answers to the handlers as events."""

    gives_up = True

    def __init__(
        self,
        deps: Deps,
        team: Team,
        crash: Callable[[str], None] = lambda point: None,
        build: Callable[[], Team] | None = None,
        meter: BudgetMeter | None = None,
    ) -> None:
        """`build` makes the team anew when the server's configuration has changed."""
        super().__init__(deps, crash)
        self._team = team
        self._meter = meter or build_meter(deps)
        self._build = build
        self._config = deps.policies.server_config()
        self._workshop = Tasks(deps)
        self._renewing = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()
        threading.Thread(target=team.warm, name="warm", daemon=True).start()

    async def lanes(self) -> list[str]:
        held = [due.lane for due in self.held.values()]
        if len(held) >= AT_ONCE:
            return []
        due = await asyncio.to_thread(self._due)
        found = [lane for lane in due if lane == outbox.AGENTS]
        if held.count(outbox.TASKS) < self.deps.settings.tasks:
            found += [lane for lane in due if lane == outbox.TASKS]
        return found + [lane for lane in due if lane.startswith("git:") and lane not in held]

    def _due(self) -> list[str]:
        with self.deps.engine.connect() as connection:
            return outbox.due_lanes(connection)

    async def work(self, due: Due) -> None:
        effect = due.effect
        if not isinstance(effect, AgentEffect | TaskEffect):
            raise TypeError(f"{due.kind} is nothing for agents")
        await self._renew_team()
        if isinstance(effect, RunTask) and due.attempts > TRIES:
            event: OwnEvent = _given_up(effect)
        elif isinstance(effect, JudgePull):
            event = await self._workshop.judge(effect, self._team, due.attempts >= TRIES)
        else:
            event = await self._call(effect)
        await patiently(self._store, due, event)
        self.crash("after-agent-commit")
        await asyncio.to_thread(self.deps.bell.ring, EVENTS)

    async def _renew_team(self) -> None:
        """A changed roster is at work within seconds; a bad one leaves the old at work."""
        config = await asyncio.to_thread(self.deps.policies.server_config)
        if self._build is None or config is self._config:
            return
        async with self._renewing:
            if config is self._config:
                return
            old, under_way = self._team, set(self._tasks)
            try:
                self._team = await asyncio.to_thread(self._build)
            except Exception:
                logger.exception("the new roster cannot be used; the old one goes on")
                self._config = config
                return
            self._config = config
            self._retiring.add(asyncio.create_task(self._retire(old, under_way)))

    async def _retire(self, team: Team, under_way: set[asyncio.Task[None]]) -> None:
        """The old team goes when the last one who asked it has the answer."""
        under_way.discard(cast("asyncio.Task[None]", asyncio.current_task()))
        if under_way:
            await asyncio.wait(under_way)
        await team.stop()

    async def end(self) -> None:
        """No child process and no open port is left."""
        await self._team.stop()

    async def _call(self, effect: AgentEffect | RunTask | LandTask) -> OwnEvent:
        """An error is an answer too: the handlers ask somebody else, and the log keeps it."""
        match effect:
            case GenerateQuestions():
                return await self._generate(effect)
            case AskAgent():
                return await self._ask(effect)
            case SuggestAgents():
                return await self._suggest(effect)
            case WriteDocuments():
                return await self._write(effect)
            case ReviewPull():
                return await self._review(effect)
            case RunTask():
                return await self._run_task(effect)
            case LandTask():
                return await self._workshop.land(effect, self._team)
            case _:
                assert_never(effect)

    async def _run_task(self, effect: RunTask) -> TaskRan:
        role, place = effect.task.role, effect.place
        about = (effect.feature_id, 0, place.repo, effect.person)
        account = Account(*about, role, effect.key, task=True)
        event = await self._workshop.run(effect, self._team, account)
        return replace(event, spending=await self._spending(account))

    async def _review(self, effect: ReviewPull) -> Reviewed:
        place = effect.place

        def account(role: str) -> Account:
            about = (effect.feature_id, 0, place.repo, effect.person)
            return Account(*about, role, f"{effect.key}:{effect.head}")

        event = await self._workshop.review(effect, self._team, account)
        return replace(event, spending=await self._spending(account("reviewer")))

    async def _generate(self, effect: GenerateQuestions) -> QuestionsGenerated:
        about = (effect.feature_id, effect.run)
        account = Account(effect.feature_id, 0, effect.repo, effect.person, DRIVER, effect.key)
        try:
            found = await self._team.generate(
                effect.request, effect.limit, account, model=effect.model
            )
            event = QuestionsGenerated(
                *about, found.drafts, found.generator, note=found.note, prompt=found.prompt
            )
        except AgentUnavailable as error:
            event = QuestionsGenerated(*about, error=str(error))
        except Exception as error:
            logger.exception("%s failed", effect.key)
            event = QuestionsGenerated(*about, error=repr(error))
        return replace(event, spending=await self._spending(account))

    async def _ask(self, effect: AskAgent) -> AgentAnswered:
        role = effect.inquiry.role
        about = (effect.feature_id, effect.question, effect.ask_round, role)
        account = Account(
            effect.feature_id, effect.question, effect.repo, effect.person, role, effect.key
        )
        try:
            answer = await self._team.ask(
                effect.inquiry,
                effect.repo,
                effect.seconds,
                account,
                handbook=effect.handbook,
                model=effect.model,
            )
            event = AgentAnswered(*about, answer=answer, chat=effect.chat)
        except AgentUnavailable as error:
            unpaid = isinstance(error, OverBudget)
            event = AgentAnswered(*about, error=str(error), chat=effect.chat, unpaid=unpaid)
        except Exception as error:
            logger.exception("%s failed", effect.key)
            event = AgentAnswered(*about, error=repr(error), chat=effect.chat)
        return replace(event, spending=await self._spending(account))

    async def _write(self, effect: WriteDocuments) -> DocumentsWritten:
        """Where the model cannot write, the drafts are the documents."""
        account = Account(effect.feature_id, 0, effect.repo, effect.person, DRIVER, effect.key)
        effect = await self._workshop.in_form(effect)
        if not effect.model:
            kept = tuple(Written(name, text) for name, text in effect.drafts)
            return DocumentsWritten(effect.feature_id, effect.revision, kept)
        try:
            written = await self._team.write(effect, account)
        except Exception as error:
            logger.exception("%s failed", effect.key)
            written = [Written(name, text, error=repr(error)) for name, text in effect.drafts]
        spending = await self._spending(account)
        return DocumentsWritten(effect.feature_id, effect.revision, tuple(written), spending)

    async def _spending(self, account: Account) -> Spending:
        """What the work cost, all tries together, and where its caps stand."""
        try:
            cost = await patiently(self._meter.cost, account.key)
            near = await patiently(self._meter.standing, account) if cost else ()
        except DatabaseError:
            logger.exception("%s: nobody knows what it cost", account.key)
            return FREE  # the answer was paid for, and is not thrown away for that
        return Spending(cost, near) if cost else FREE

    async def _suggest(self, effect: SuggestAgents) -> AgentsSuggested:
        """Without candidates the person decides alone."""
        try:
            found = await self._team.suggest(effect.topic, effect.text)
        except Exception:
            logger.exception("%s failed", effect.key)
            found = ()
        return AgentsSuggested(effect.feature_id, effect.question, tuple(found))

    def _store(self, due: Due, event: OwnEvent) -> None:
        with self.deps.engine.begin() as connection:
            outbox.done(connection, due)
            deliveries.add_own(connection, _name_of(due), event, _place_of(connection, event))
            self.crash("before-agent-commit")


def _given_up(effect: RunTask) -> TaskRan:
    """Each try may be paid for: what ends the process each time is not tried for ever."""
    told = f"it was begun {TRIES} times, and each time the process that did it ended"
    return TaskRan(effect.feature_id, effect.task.name, effect.task.run, error=told)


def _name_of(due: Due) -> str:
    """One event for each revision of what was wanted."""
    return f"kr:{due.key}" if due.wanted == 1 else f"kr:{due.key}:{due.wanted}"


def _place_of(connection: Connection, event: OwnEvent) -> tuple[int, int]:
    """The issue whose events are worked off in order; a review of any other pull request has its
    own.
    """
    if isinstance(event, Reviewed | PullJudged) and not event.feature_id:
        return event.place.repo_id, event.place.number
    return threads.place_of(connection, event.feature_id)
