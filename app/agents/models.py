"""The models of the roles, and what goes through them: answers, questions, documents."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from app.agents.choosing import DRIVER, MODELS, REVIEWER, Chosen, choose, sources
from app.agents.claude import ClaudeModel, Slots
from app.agents.command import CommandModel
from app.agents.contained import sweep
from app.agents.forwarder import Forwarder, Provider
from app.agents.generating import ModelGenerator
from app.agents.knowing import KnowledgeBackend, Persona
from app.agents.llm import USUAL, LlmModel, Wire
from app.agents.prices import Price, Prices
from app.agents.prompting import Prompts
from app.agents.protocols import (
    Backend,
    Completion,
    Meter,
    Model,
    QuestionGenerator,
    Request,
    T,
)
from app.agents.retrieval import RetrievalBackend
from app.agents.reviewing import ModelReviewer
from app.agents.writing import Form, ModelWriter
from app.config.loader import Config, load_config
from app.config.models import Role
from app.config.shipped import config_folder
from app.features.forms import plan_problems, spec_problems, tasks_problems
from app.questions.durations import duration
from app.settings import Settings

_TASKS = (
    "Every task is one line, `- [ ] T001 [P] [US1] what to do, with its paths`; [P] only where it"
    " can be done beside the others of its phase; `(depends on T001)` where it cannot.",
    "A task names paths that belong to one agent: tests/ (@marie), src/ (@dede), or k8s/, argocd/,"
    " kustomize/, helm/ and .github/workflows/ (@gustave).",
)
FORMS: Mapping[str, Form] = {
    "spec.md": Form(spec_problems),
    "plan.md": Form(plan_problems),
    "tasks.md": Form(tasks_problems, _TASKS),
}
_ROSTER = 12
_RULES = 30
"""Lines of the roster and of the rules in a prompt."""


def warm(wire: Wire) -> None:
    """Import what the first call would otherwise wait for; takes a second or two."""
    importlib.import_module(f"pydantic_ai.providers.{wire}")
    importlib.import_module(f"pydantic_ai.models.{wire}")


def prices_of(config: Config) -> Prices:
    """The operator's own prices before the lists."""
    own = config.agents.prices
    return Prices({name: Price(price.input, price.output) for name, price in own.items()})


class InTurn:
    """Programs take memory as Claude Code does, and wait for their turn like it."""

    def __init__(self, model: Model, slots: Slots) -> None:
        self.name = model.name
        self._model = model
        self.slots = slots

    async def complete(self, request: Request[T]) -> Completion[T]:
        """See `Model.complete`."""
        async with self.slots.one():
            return await self._model.complete(request)


def build_models(settings: Settings, meter: Meter) -> Models:
    """The models alone, without handbooks. Raises `ConfigInvalid`, `OSError`."""
    folder = config_folder(settings)
    return Models(load_config(folder), settings, meter, folder)


class Models:
    """The models of the roles, each made once."""

    def __init__(self, config: Config, settings: Settings, meter: Meter, folder: Path) -> None:
        self._config = config
        self._settings = settings
        own = folder / "prompts"
        self._prompts = Prompts(own if own.is_dir() else None)
        self.chosen = {
            name: choose(name, role, settings) for name, role in config.agents.roles.items()
        }
        providers = _providers(config, settings, self.chosen)
        self._providers = tuple(providers)
        self.forwarder = Forwarder(providers, meter)
        self.slots = Slots(settings.claude_memory)
        self._made: dict[str, Model] = {}

    @property
    def config(self) -> Config:
        """What they were made of."""
        return self._config

    def usual(self, role: str) -> str | None:
        """The model that the configuration names for a role's usual work."""
        return self._config.model_for(role, "planning" if role == DRIVER else None)

    def warm(self) -> None:
        """Prepare what the first call would otherwise wait for; blocks for a second or two."""
        for wire in {chosen.wire for chosen in self.chosen.values() if chosen.kind == "llm"}:
            warm(wire)

    async def start(self) -> None:
        """Open the way to the models, and clear what killed workers left."""
        await asyncio.to_thread(sweep)
        await self.forwarder.start()

    async def stop(self) -> None:
        """Close what is open; nothing may be under way."""
        for model in self._made.values():
            if isinstance(model, LlmModel):
                await model.aclose()
        await self.forwarder.stop()

    def of(self, name: str) -> Model | None:
        """The model of a role; None if it has none that works here."""
        chosen = self.chosen[name]
        if chosen.kind not in MODELS or chosen.problem:
            return None
        if name not in self._made:
            self._made[name] = self._make(chosen, self._config.agents.roles[name])
        return self._made[name]

    def _make(self, chosen: Chosen, role: Role) -> Model:
        match chosen.kind:
            case "llm":
                return LlmModel(self.forwarder, chosen.provider, chosen.wire, USUAL[chosen.wire])
            case "claude":
                return ClaudeModel(self.forwarder, self.slots)
            case _:
                program = CommandModel(role.command, self.forwarder, self.usable)
                return InTurn(program, self.slots)

    @property
    def usable(self) -> tuple[str, ...]:
        """Providers that there is a key for."""
        return tuple(name for name in self._providers if not name.startswith("role:"))

    def backend(self, name: str, retrieval: RetrievalBackend) -> Backend | None:
        """What answers for a role with a model."""
        model = self.of(name)
        if model is None:
            return None
        role = self._config.agents.roles[name]
        return KnowledgeBackend(
            model, self._prompts, _persona(self._config, name, role), retrieval.relevant
        )

    def generator(self, checklist: QuestionGenerator) -> ModelGenerator | None:
        model = self.of(DRIVER) if DRIVER in self.chosen else None
        if model is None:
            return None
        targets = [
            name for name, role in self._config.agents.roles.items() if role.kind == "knowledge"
        ]
        return ModelGenerator(
            model, self._prompts, checklist, targets, self.usual(DRIVER), self._driver_seconds()
        )

    def writer(self) -> ModelWriter | None:
        model = self.of(DRIVER) if DRIVER in self.chosen else None
        if model is None:
            return None
        return ModelWriter(model, self._prompts, FORMS, self.usual(DRIVER), self._driver_seconds())

    def reviewer(self) -> ModelReviewer | None:
        """What reviews pull requests beside the rules."""
        model = self.of(REVIEWER) if REVIEWER in self.chosen else None
        if model is None:
            return None
        seconds = duration(self._config.agents.roles[REVIEWER].timeout).total_seconds()
        return ModelReviewer(
            model, self._prompts, self._config.model_for(REVIEWER, "reviewing"), seconds
        )

    def _driver_seconds(self) -> float:
        return duration(self._config.agents.roles[DRIVER].timeout).total_seconds()


def _providers(
    config: Config, settings: Settings, chosen: Mapping[str, Chosen]
) -> dict[str, Provider]:
    """Those of the environment that have a key, and the roles' own servers."""
    providers: dict[str, Provider] = {
        name: Provider(
            name,
            source.wire,
            source.base_url,
            source.key,
            source.bearer,
            settings.model_calls,
        )
        for name, source in sources(settings).items()
        if source.usable
    }
    own = {}
    for name, role in config.agents.roles.items():
        if role.base_url and chosen[name].kind == "llm":
            key = SecretStr(os.environ.get(role.key, "")) if role.key else None
            place = chosen[name].provider
            own[place] = Provider(
                place,
                chosen[name].wire,
                role.base_url,
                key,
                None,
                settings.model_calls,
            )
    return {**providers, **own}


def _persona(config: Config, name: str, role: Role) -> Persona:
    roster = [
        f"{other.handle}: {other.description}"
        for key, other in config.agents.roles.items()
        if key != name and other.description and other.kind == "knowledge"
    ]
    rules = [f"{route.pattern}: {route.answerer}" for route in config.answerers.routes]
    return Persona(
        role.handle,
        role.description or f"the {name} of the team",
        tuple(roster[:_ROSTER]),
        tuple(rules[:_RULES]),
    )
