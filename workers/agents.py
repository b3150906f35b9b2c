"""Questions are generated and answered: many waiting calls in one process."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import assert_never

from app.actions import AgentEffect, AskAgent, GenerateQuestions, SuggestAgents
from app.agents.protocols import AgentUnavailable
from app.agents.team import Team
from app.deps import Deps
from app.events import AgentAnswered, AgentsSuggested, OwnEvent, QuestionsGenerated
from app.queue import EVENTS
from app.store import deliveries, outbox, threads
from app.store.outbox import Due
from workers.drain import Drain

logger = logging.getLogger(__name__)

AT_ONCE = 200
"""Calls that one process carries; what waits for a model costs it nothing but memory."""


class Agents(Drain):
    """Calls agents, and hands their answers to the handlers as events."""

    def __init__(
        self,
        deps: Deps,
        team: Team,
        crash: Callable[[str], None] = lambda point: None,
        build: Callable[[], Team] | None = None,
    ) -> None:
        """`build` makes the team anew when the server's configuration has changed."""
        super().__init__(deps, crash)
        self._team = team
        self._build = build
        self._config = deps.policies.server_config()
        self._renewing = asyncio.Lock()
        threading.Thread(target=team.warm, name="warm", daemon=True).start()

    async def lanes(self) -> list[str]:
        if len(self.held) >= AT_ONCE:
            return []
        due = await asyncio.to_thread(self._due)
        return [lane for lane in due if lane == outbox.AGENTS]

    def _due(self) -> list[str]:
        with self.deps.engine.connect() as connection:
            return outbox.due_lanes(connection)

    async def work(self, due: Due) -> None:
        effect = due.effect
        if not isinstance(effect, AgentEffect):
            raise TypeError(f"{due.kind} is nothing for agents")
        await self._renew_team()
        event = await self._call(effect)
        await asyncio.to_thread(self._store, due, event)
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
            self._config = config
            try:
                self._team = await asyncio.to_thread(self._build)
            except Exception:
                logger.exception("the new roster cannot be used; the old one goes on")

    async def _call(self, effect: AgentEffect) -> OwnEvent:
        """An error is an answer too: the handlers ask somebody else, and the log keeps it."""
        match effect:
            case GenerateQuestions():
                try:
                    drafts = await self._team.generate(effect.request, effect.limit)
                except AgentUnavailable as error:
                    return QuestionsGenerated(effect.feature_id, effect.run, error=str(error))
                except Exception as error:
                    logger.exception("%s failed", effect.key)
                    return QuestionsGenerated(effect.feature_id, effect.run, error=repr(error))
                name = self._team.generator
                return QuestionsGenerated(effect.feature_id, effect.run, tuple(drafts), name)
            case AskAgent():
                return await self._ask(effect)
            case SuggestAgents():
                return await self._suggest(effect)
            case _:
                assert_never(effect)

    async def _ask(self, effect: AskAgent) -> AgentAnswered:
        role = effect.inquiry.role
        about = (effect.feature_id, effect.question, effect.ask_round, role)
        try:
            answer = await self._team.ask(effect.inquiry, effect.repo, effect.seconds)
            return AgentAnswered(*about, answer=answer, chat=effect.chat)
        except AgentUnavailable as error:
            return AgentAnswered(*about, error=str(error), chat=effect.chat)
        except Exception as error:
            logger.exception("%s failed", effect.key)
            return AgentAnswered(*about, error=repr(error), chat=effect.chat)

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
            place = threads.place_of(connection, event.feature_id)
            deliveries.add_own(connection, f"kr:{due.key}", event, place)
            self.crash("before-agent-commit")
