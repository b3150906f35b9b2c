"""Trying a role's backend with the smallest question there is, for `kr doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from app.agents.building import roles
from app.agents.choosing import MODELS, Chosen
from app.agents.meter import BudgetMeter, MemoryLedger
from app.agents.models import Models, build_models, prices_of
from app.agents.protocols import AgentUnavailable, Prompt, Request
from app.config.loader import load_config
from app.config.shipped import config_folder
from app.questions.caps import Caps
from app.settings import Settings

SECONDS = 45.0
_PROMPT = Prompt("You are being tested.", "Reply with ready: true.", "doctor/1")


class Ready(BaseModel):
    """All that is asked of it."""

    ready: bool


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it: `problem` is empty where it works."""

    role: str
    detail: str
    problem: str = ""
    remedy: str = ""


def try_roles(settings: Settings) -> list[Tried]:
    """Every role that answers or drives. Raises `ConfigInvalid`, `OSError`."""
    return asyncio.run(_try_all(settings))


async def _try_all(settings: Settings) -> list[Tried]:
    config = load_config(config_folder(settings))
    caps = Caps(**config.agents.budget.model_dump())
    meter = BudgetMeter(MemoryLedger(), lambda repo: caps, lambda: prices_of(config))
    models = build_models(settings, meter)
    await models.start()
    try:
        found: Sequence[Tried] = await asyncio.gather(
            *(_try(models, state.role, state.handle, state.chosen) for state in roles(settings))
        )
    finally:
        await models.stop()
    return list(found)


async def _try(models: Models, role: str, handle: str, chosen: Chosen) -> Tried:
    if chosen.problem:
        return Tried(role, "", f"{handle} ({chosen.kind}): {chosen.problem}", chosen.remedy)
    if chosen.kind not in MODELS:
        what = {"retrieval": "the handbook, no model", "none": "the checklist, no model"}
        return Tried(role, f"{handle}: {what.get(chosen.kind, chosen.kind)}")
    model = models.of(role)
    wanted = models.usual(role)
    if model is None:
        return Tried(role, "", f"{handle} ({chosen.kind}): it cannot be used here", chosen.remedy)
    try:
        done = await model.complete(Request(_PROMPT, Ready, wanted, seconds=SECONDS))
    except AgentUnavailable as error:
        return Tried(role, "", f"{handle} ({chosen.kind}): {error}")
    where = f" at {chosen.provider}" if chosen.provider else ""
    return Tried(role, f"{handle}: {chosen.kind}{where}, {done.model} answers")
