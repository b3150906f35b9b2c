"""The team of the configuration: handbooks, models, the forwarder that they go through."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from app.agents.choosing import MODELS, Chosen, choose
from app.agents.handbook import Handbook, load_handbook
from app.agents.models import Models
from app.agents.protocols import Backend, Meter
from app.agents.retrieval import Embed, RetrievalBackend
from app.agents.suggesting import Described, Suggester
from app.agents.team import NO_TOOLS, ChecklistGenerator, Member, Parts, Team, Tools
from app.config.loader import Config, load_config
from app.config.shipped import config_folder, shipped_folder
from app.embeddings import MiniLM
from app.features.bank import Bank, build_bank
from app.features.checklist import Checklist
from app.questions.durations import duration
from app.questions.model import Inquiry
from app.settings import Settings

BANK = "question-bank"
ARCHITECT = "architect"
"""Whose handbook those without one of their own look into."""
PASSAGES = 3
"""Of a handbook, for whoever does a task."""
_APP_KEY = re.compile(r"KR_APP_[A-Z0-9_]+_PRIVATE_KEY")
BuildTools = Callable[[Mapping[str, Handbook], Embed], Tools]
"""Makes the tools from the handbooks and the embedding model."""


def build_team(settings: Settings, meter: Meter, build_tools: BuildTools | None = None) -> Team:
    """The team of the configuration. Raises `ConfigInvalid`, `BankError`, `OSError`."""
    folder = config_folder(settings)
    config = load_config(folder)
    embedding = MiniLM(settings.embedding_model)
    handbooks = {
        name: load_handbook(name, _beside(folder, role.knowledge))
        for name, role in config.agents.roles.items()
        if role.knowledge
    }
    retrieval = RetrievalBackend(handbooks, embedding.embed)
    bank = load_bank(_beside(folder, BANK))
    embedding.recall(settings.data_dir)  # before the first question, which would make them anew

    def warm() -> None:
        embedding.embed([said for entry in bank.entries for said in entry.said])
        retrieval.warm()
        models.warm()
        embedding.keep(settings.data_dir)

    def passages(role: str, text: str) -> list[str]:
        named = role if retrieval.knows(role) else ARCHITECT
        found = retrieval.relevant(Inquiry(role=named, topic="", text=text))
        return [f"{one.title}, {one.heading}: {one.text}" for one in found[:PASSAGES]]

    models = Models(config, settings, meter, folder)
    generator = ChecklistGenerator(Checklist(bank, embedding.embed))
    return Team(
        _members(config, models, retrieval),
        Parts(
            generator=models.generator(generator) or generator,
            checklist=generator,
            tools=build_tools(handbooks, embedding.embed) if build_tools else NO_TOOLS,
            suggester=Suggester(_described(config), embedding.embed),
            writer=models.writer(),
            warm=warm,
            start=models.start,
            stop=models.stop,
            models=models,
            passages=passages,
            secrets=_secrets(settings),
        ),
    )


def _secrets(settings: Settings) -> frozenset[str]:
    """Values that must never be said: every key that the service holds."""
    held = [
        settings.github_private_key,
        settings.github_webhook_secret,
        settings.api_secret,
        settings.web_search_key,
        settings.anthropic_api_key,
        settings.claude_code_oauth_token,
        settings.openai_api_key,
        settings.google_api_key,
    ]
    further = [value for name, value in os.environ.items() if _APP_KEY.fullmatch(name) and value]
    own = [one.get_secret_value() for one in held if one and one.get_secret_value()]
    return frozenset([*own, *further])


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


def _members(config: Config, models: Models, retrieval: RetrievalBackend) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for name, role in config.agents.roles.items():
        chosen = models.chosen[name]
        handbook = retrieval if retrieval.knows(name) else None
        is_model = chosen.kind in MODELS
        member = Member(
            role=name,
            backend=models.backend(name, retrieval) if is_model else _handbook(chosen, retrieval),
            seconds=duration(role.timeout).total_seconds(),
            problem=chosen.problem or f"backend: {chosen.kind}",
            handbook=handbook if is_model else None,
            keeps_time=is_model,
        )
        members |= dict.fromkeys((name, *role.aliases), member)
    return members


def _handbook(chosen: Chosen, retrieval: RetrievalBackend) -> Backend | None:
    return retrieval if chosen.kind == "retrieval" else None


def load_bank(folder: Path) -> Bank:
    """The question bank in a folder of YAML files. Raises `BankError`, `OSError`."""
    return build_bank(
        (path.name, yaml.safe_load(path.read_text("utf-8")))
        for path in sorted(folder.glob("*.yaml"))
    )


@dataclass(frozen=True, slots=True)
class RoleState:
    """How a role is filled here, for `kr doctor`."""

    role: str
    handle: str
    chosen: Chosen


def roles(settings: Settings) -> list[RoleState]:
    """Every role that answers or drives, and its backend. Raises `ConfigInvalid`, `OSError`."""
    config = load_config(config_folder(settings))
    return [
        RoleState(name, role.handle, choose(name, role, settings))
        for name, role in config.agents.roles.items()
        if role.kind != "execution"
    ]
