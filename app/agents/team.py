"""The roster at work: which backend answers for which role, and how long it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import yaml

from app.agents.handbook import Handbook, load_handbook
from app.agents.protocols import AgentUnavailable, Backend, QuestionGenerator
from app.agents.retrieval import Embed, RetrievalBackend
from app.agents.suggesting import Described, Suggester
from app.config.loader import Config, load_config
from app.config.shipped import config_folder, shipped_folder
from app.embeddings import MiniLM
from app.features.bank import Bank, build_bank
from app.features.checklist import Checklist
from app.features.types import FeatureRequest
from app.questions.durations import duration
from app.questions.model import Answer, Candidate, Draft, Inquiry
from app.settings import Settings

BANK = "question-bank"


@dataclass(frozen=True, slots=True)
class Member:
    """A role, its name in the roster (an alias leads there), its backend, its time limit."""

    role: str
    backend: Backend | None
    seconds: float
    kind: str = ""


class ChecklistGenerator:
    """The coverage scan, in a thread: it keeps a core busy."""

    name = "checklist"

    def __init__(self, checklist: Checklist) -> None:
        self._checklist = checklist

    async def generate(self, request: FeatureRequest, limit: int) -> Sequence[Draft]:
        """See `Checklist.look`."""
        return await asyncio.to_thread(self._checklist.look, request, limit)


class Tools(Protocol):
    """Answers by machine: `app.tools.registry`."""

    async def answer(self, name: str, inquiry: Inquiry, repo: str) -> Answer:
        """Raises `AgentUnavailable`."""
        ...


class _NoTools:
    """Where nothing but agents is needed."""

    async def answer(self, name: str, inquiry: Inquiry, repo: str) -> Answer:
        raise AgentUnavailable(f"there is no tool {name} here")


class Team:
    """Asks agents; every way of failing is `AgentUnavailable` with a reason."""

    def __init__(
        self,
        members: Mapping[str, Member],
        generator: QuestionGenerator,
        name: str,
        warm: Callable[[], None] = lambda: None,
        *,
        tools: Tools | None = None,
        suggester: Suggester | None = None,
    ) -> None:
        self._members = members
        self._tools = tools or _NoTools()
        self._suggester = suggester
        self._generator = generator
        self.generator = name
        self.warm = warm
        """Prepares what the first question would otherwise wait for; blocks for seconds."""

    async def ask(self, inquiry: Inquiry, repo: str = "", seconds: float = 0.0) -> Answer:
        """Have a role or a tool answer within its time. Raises `AgentUnavailable`.

        `seconds` is the time limit that the repository sets; 0 means the server's.
        """
        if inquiry.role.startswith("tool/"):
            return await self._tools.answer(inquiry.role.removeprefix("tool/"), inquiry, repo)
        member = self._members.get(inquiry.role)
        if member is None:
            raise AgentUnavailable(f"nobody is {inquiry.role}")
        if member.backend is None:
            raise AgentUnavailable(f"{inquiry.role} has no backend that works here: {member.kind}")
        limit = seconds or member.seconds
        try:
            async with asyncio.timeout(limit):
                return await member.backend.ask(replace(inquiry, role=member.role))
        except TimeoutError:
            raise AgentUnavailable(f"no answer within {limit:g} seconds") from None

    async def suggest(self, topic: str, text: str) -> Sequence[Candidate]:
        """Who might know, where the topic names nobody."""
        if self._suggester is None:
            return ()
        return await asyncio.to_thread(self._suggester.suggest, topic, text)

    async def generate(self, request: FeatureRequest, limit: int) -> Sequence[Draft]:
        """What the issue leaves open. Raises `AgentUnavailable`."""
        return await self._generator.generate(request, limit)


BuildTools = Callable[[Mapping[str, Handbook], Embed], Tools]
"""Makes the tools from the handbooks and the embedding model."""


def build_team(settings: Settings, build_tools: BuildTools | None = None) -> Team:
    """The team of the configuration. Raises `ConfigInvalid`, `BankError`, `OSError`."""
    folder = config_folder(settings)
    config = load_config(folder)
    model = MiniLM(settings.embedding_model)
    handbooks = {
        name: load_handbook(name, _beside(folder, role.knowledge))
        for name, role in config.agents.roles.items()
        if role.backend == "retrieval" and role.knowledge
    }
    retrieval = RetrievalBackend(handbooks, model.embed)
    bank = load_bank(_beside(folder, BANK))
    generator = ChecklistGenerator(Checklist(bank, model.embed))

    model.recall(settings.data_dir)  # before the first question, which would make them all anew

    def warm() -> None:
        model.embed([said for entry in bank.entries for said in entry.said])
        retrieval.warm()
        model.keep(settings.data_dir)

    return Team(
        _members(config, retrieval),
        generator,
        generator.name,
        warm,
        tools=build_tools(handbooks, model.embed) if build_tools else None,
        suggester=Suggester(_described(config), model.embed),
    )


def _described(config: Config) -> dict[str, Described]:
    return {
        name: Described(name, role.handle, role.description)
        for name, role in config.agents.roles.items()
        if role.kind == "knowledge" and role.description
    }


def _beside(folder: Path, name: str) -> Path:
    """A folder of the configuration; the shipped one where the operator's has none."""
    own = folder / name
    return own if own.is_dir() else shipped_folder() / name


def _members(config: Config, retrieval: Backend) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for name, role in config.agents.roles.items():
        backend = retrieval if role.backend == "retrieval" else None
        member = Member(name, backend, duration(role.timeout).total_seconds(), role.backend)
        members |= dict.fromkeys((name, *role.aliases), member)
    return members


def load_bank(folder: Path) -> Bank:
    """The question bank in a folder of YAML files. Raises `BankError`, `OSError`."""
    return build_bank(
        (path.name, yaml.safe_load(path.read_text("utf-8")))
        for path in sorted(folder.glob("*.yaml"))
    )
