"""The roster at work: asks whoever fills a role, and sees to it that nothing harmful comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from app.actions import WriteDocuments
from app.agents.protocols import (
    NOBODY,
    Account,
    AgentUnavailable,
    Backend,
    Declined,
    Generated,
    Malformed,
    OverBudget,
    QuestionGenerator,
)
from app.agents.suggesting import Suggester
from app.events import Written
from app.features.checklist import Checklist
from app.features.types import FeatureRequest
from app.questions.model import Answer, Candidate, Draft, Inquiry, Source
from app.texts.safe import visible
from app.texts.secrets import without_secrets

if TYPE_CHECKING:
    from app.agents.models import Models


@dataclass(frozen=True, slots=True)
class Member:
    """A role, its name in the roster (an alias leads there), its backend, its time limit."""

    role: str
    backend: Backend | None
    seconds: float
    problem: str = ""
    """Why it has no backend that works here."""
    handbook: Backend | None = None
    """What answers where the model cannot be reached."""
    keeps_time: bool = False
    """Whether the backend keeps the time limit itself, and so may wait for its turn before."""


class ChecklistGenerator:
    """The coverage scan, in a thread: it keeps a core busy."""

    name = "checklist"

    def __init__(self, checklist: Checklist) -> None:
        self._checklist = checklist

    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        """See `Checklist.look`."""
        drafts = await asyncio.to_thread(self._checklist.look, request, limit)
        return Generated(tuple(drafts), self.name)


class Tools(Protocol):
    """Answers by machine: `app.tools.registry`."""

    async def answer(self, name: str, inquiry: Inquiry, repo: str) -> Answer:
        """Raises `AgentUnavailable`."""
        ...


class _NoTools:
    """Where nothing but agents is needed."""

    async def answer(self, name: str, inquiry: Inquiry, repo: str) -> Answer:
        raise AgentUnavailable(f"there is no tool {name} here")


class Writer(Protocol):
    """Makes documents of drafts: `app.agents.writing`."""

    async def write(self, wanted: WriteDocuments, account: Account = NOBODY) -> list[Written]:
        """Each of them, the draft where there is nothing better."""
        ...


NO_TOOLS = _NoTools()


async def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Parts:
    """What a team is made of beside its members."""

    generator: QuestionGenerator
    checklist: QuestionGenerator | None = None
    """What finds questions where no model is to be asked."""
    tools: Tools = NO_TOOLS
    suggester: Suggester | None = None
    writer: Writer | None = None
    warm: Callable[[], None] = lambda: None
    """Prepares what the first question would otherwise wait for; blocks for seconds."""
    start: Callable[[], Awaitable[None]] = _nothing
    stop: Callable[[], Awaitable[None]] = _nothing
    passages: Callable[[str, str], Sequence[str]] = lambda role, text: ()
    """Role and matter → what handbooks say of it, for whoever does a task; blocks for a moment."""
    models: Models | None = None
    """What the models of the roles are asked through."""
    secrets: frozenset[str] = frozenset()
    """Values that the service itself holds and nobody may say."""


class Team:
    """Asks agents; every way of failing is `AgentUnavailable` with a reason."""

    def __init__(self, members: Mapping[str, Member], parts: Parts) -> None:
        self._members = members
        self._parts = parts
        self._starting = asyncio.Lock()
        self._started = False
        self.warm = parts.warm
        self.models = parts.models
        self.passages = parts.passages
        self.secrets = parts.secrets

    async def start(self) -> None:
        """Make ready what calls of models go through; again is no harm."""
        async with self._starting:
            if not self._started:
                await self._parts.start()
                self._started = True

    async def stop(self) -> None:
        """End what `start` began."""
        async with self._starting:
            if self._started:
                self._started = False
                await self._parts.stop()

    async def ask(
        self,
        inquiry: Inquiry,
        repo: str = "",
        seconds: float = 0.0,
        account: Account = NOBODY,
        *,
        handbook: bool = True,
        model: bool = True,
    ) -> Answer:
        """Have a role or a tool answer within its time. Raises `AgentUnavailable`.

        `seconds` is the time limit that the repository sets; 0 means the server's. Where the model
        cannot be reached the handbook answers and says so, unless `handbook` is False. Without
        `model` no model is asked.
        """
        await self.start()
        if inquiry.role.startswith("tool/"):
            name = inquiry.role.removeprefix("tool/")
            return self._clean(await self._parts.tools.answer(name, inquiry, repo))
        member = self._members.get(inquiry.role)
        if member is None:
            raise AgentUnavailable(f"nobody is {inquiry.role}")
        inquiry = replace(inquiry, role=member.role)
        if not model and member.keeps_time:
            return await self._by_the_book(member, inquiry)
        try:
            return self._clean(await self._ask(member, inquiry, seconds, account))
        except AgentUnavailable as error:
            error.args = (self._said(str(error)),)
            final = isinstance(error, Malformed | Declined | OverBudget)
            if final or member.handbook is None or not handbook:
                raise
            answer = await member.handbook.ask(inquiry)
            return self._clean(_instead(answer, str(error)))

    async def _by_the_book(self, member: Member, inquiry: Inquiry) -> Answer:
        """For a repository that keeps models out."""
        if member.handbook is None:
            raise AgentUnavailable(f"{inquiry.role} has no handbook, and no model is asked here")
        return self._clean(await member.handbook.ask(inquiry))

    async def _ask(
        self, member: Member, inquiry: Inquiry, seconds: float, account: Account
    ) -> Answer:
        if member.backend is None:
            raise AgentUnavailable(
                f"{inquiry.role} has no backend that works here: {member.problem}"
            )
        limit = seconds or member.seconds
        if member.keeps_time:
            return await member.backend.ask(inquiry, account, limit)
        try:
            async with asyncio.timeout(limit):
                return await member.backend.ask(inquiry, account, limit)
        except TimeoutError:
            raise AgentUnavailable(f"no answer within {limit:g} seconds") from None

    async def suggest(self, topic: str, text: str) -> Sequence[Candidate]:
        """Who might know, where the topic names nobody."""
        if self._parts.suggester is None:
            return ()
        return await asyncio.to_thread(self._parts.suggester.suggest, topic, text)

    async def generate(
        self,
        request: FeatureRequest,
        limit: int,
        account: Account = NOBODY,
        *,
        model: bool = True,
    ) -> Generated:
        """What the issue leaves open; without `model` by the checklist.

        Raises `AgentUnavailable`.
        """
        await self.start()
        parts = self._parts
        generator = parts.generator if model else parts.checklist or parts.generator
        found = await generator.generate(request, limit, account)
        found = replace(found, note=self._said(found.note))
        if found.generator == ChecklistGenerator.name:
            return found
        return replace(found, drafts=tuple(self._clean_draft(draft) for draft in found.drafts))

    def _clean_draft(self, draft: Draft) -> Draft:
        said = self._said
        return replace(
            draft,
            text=said(draft.text),
            context=said(draft.context),
            why=said(draft.why),
            choices=tuple(
                replace(one, text=said(one.text), implication=said(one.implication))
                for one in draft.choices
            ),
        )

    async def write(self, wanted: WriteDocuments, account: Account = NOBODY) -> list[Written]:
        """The documents; the drafts themselves where @baron has no model."""
        if self._parts.writer is None:
            return [Written(name, text) for name, text in wanted.drafts]
        await self.start()
        written = await self._parts.writer.write(wanted, account)
        return [
            replace(one, text=self._said(one.text), error=self._said(one.error)) for one in written
        ]

    def _clean(self, answer: Answer) -> Answer:
        """The answer without secrets; one that held any goes to a person."""
        content, found = self._without_secrets(answer.content)
        rationale, more = self._without_secrets(answer.rationale)
        reasons = [self._said(reason) for reason in answer.uncertainty_reasons]
        sources = [
            Source(self._said(one.title), self._said(one.ref), self._said(one.quote))
            for one in answer.sources
        ]
        kinds = tuple(dict.fromkeys((*found, *more)))
        if kinds:
            reasons.insert(0, f"what looked like a secret was removed from it: {', '.join(kinds)}")
        return replace(
            answer,
            content=content,
            rationale=rationale,
            uncertainty_reasons=tuple(reasons),
            sources=tuple(sources),
            doubt=self._said(answer.doubt) or (reasons[0] if kinds else ""),
            model=self._said(answer.model)[:200],
        )

    def _said(self, text: str) -> str:
        return self._without_secrets(text)[0]

    def _without_secrets(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Also without what nobody sees: the database does not even take all of that."""
        return without_secrets(visible(text), self._parts.secrets)


def _instead(answer: Answer, error: str) -> Answer:
    """The handbook's answer, saying that it stands in for a model."""
    why = f"the model could not be asked ({error}), so this is from the handbook alone"
    return replace(answer, uncertainty_reasons=(why, *answer.uncertainty_reasons))
