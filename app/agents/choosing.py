"""Which backend a role has here: what its configuration says, and what there is a key for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import SecretStr

from app.agents.claude import find_claude
from app.agents.llm import split
from app.config.loader import Config
from app.config.models import Role
from app.settings import Settings

Wire = Literal["anthropic", "openai", "google"]
Kind = Literal["retrieval", "claude", "llm", "command", "none"]
MODELS = frozenset({"claude", "llm", "command"})
"""Kinds that run a language model, or may do so."""
DRIVER = "project-manager"
REVIEWER = "reviewer"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A role's backend. `provider` names where its model is, `problem` why it cannot work."""

    kind: Kind
    provider: str = ""
    wire: Wire = "anthropic"
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A provider's address and key; without an address there is none of that name."""

    wire: Wire
    base_url: str
    key: SecretStr | None
    variable: str
    bearer: SecretStr | None = None

    @property
    def usable(self) -> bool:
        return bool(_value(self.key) or _value(self.bearer))


def _value(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


def sources(settings: Settings) -> dict[Wire, Source]:
    """The providers by their wire format, with the keys of the environment."""
    return {
        "anthropic": Source(
            "anthropic",
            settings.anthropic_base_url,
            settings.anthropic_api_key,
            "ANTHROPIC_API_KEY",
            settings.claude_code_oauth_token,
        ),
        "openai": Source(
            "openai", settings.openai_base_url, settings.openai_api_key, "OPENAI_API_KEY"
        ),
        "google": Source(
            "google", settings.google_base_url, settings.google_api_key, "GOOGLE_API_KEY"
        ),
    }


def choose(name: str, role: Role, settings: Settings) -> Chosen:
    """The backend of a role. Never raises: what cannot work says so."""
    match role.backend:
        case "auto":
            return _automatic(name, role, settings)
        case "llm":
            return _llm(name, role, settings)
        case "claude":
            return _claude(settings)
        case "command":
            if role.command:
                return Chosen("command")
            return Chosen("command", problem="no `command` is set", remedy=_COMMAND)
        case _:
            return Chosen(role.backend)


def has_model(config: Config, settings: Settings, role: str = DRIVER) -> bool:
    """Whether this role works with a model."""
    found = config.agents.find(role)
    if found is None:
        return False
    chosen = choose(role, found, settings)
    return chosen.kind in MODELS and not chosen.problem


CAN = frozenset({"claude", "command"})
"""Backends that can carry tasks out; a model's API alone cannot touch files."""


def executors(config: Config, settings: Settings) -> frozenset[str]:
    """Execution roles with a backend that carries tasks out, as far as the configuration says."""
    return frozenset(
        name
        for name, role in config.agents.roles.items()
        if role.kind == "execution" and _can(name, role, settings)
    )


def _can(name: str, role: Role, settings: Settings) -> bool:
    chosen = choose(name, role, settings)
    return chosen.kind in CAN and not chosen.problem


_COMMAND = "Name the program: `command: [/path/to/program]` in agents.yaml."
_CLAUDE = "Install Claude Code, or the extra: pip install 'knowledge-router[claude]'."


def _automatic(name: str, role: Role, settings: Settings) -> Chosen:
    """A model if there is a key for one, else the handbook."""
    if role.kind == "execution" and name != REVIEWER:
        return Chosen("none")  # writing files is never a matter of course
    if role.base_url:
        return _llm(name, role, settings)
    if role.command:
        return Chosen("command")
    known = sources(settings)
    wire: Wire | None = split(role.model)[0] if role.model else None
    wanted: list[Wire] = list(known)
    if wire is not None:
        wanted = [wire]
    for one in wanted:
        if _value(known[one].key):
            return Chosen("llm", one, one)
    if wire in {None, "anthropic"} and known["anthropic"].usable and find_claude():
        return Chosen("claude", "anthropic")
    return Chosen("retrieval" if role.kind == "knowledge" else "none")


def _llm(name: str, role: Role, settings: Settings) -> Chosen:
    named = split(role.model)[0] if role.model else None
    if role.base_url:
        missing = role.key is not None and not os.environ.get(role.key)
        problem = f"{role.key} is not set" if missing else ""
        remedy = f"Set {role.key}, or take `key` out." if missing else ""
        return Chosen("llm", f"role:{name}", named or "openai", problem, remedy)
    known = sources(settings)
    wire = named or _first_with_key(known)
    if not _value(known[wire].key):
        variable = known[wire].variable
        return Chosen("llm", wire, wire, f"{variable} is not set", f"Set {variable}.")
    return Chosen("llm", wire, wire)


def _first_with_key(known: Mapping[Wire, Source]) -> Wire:
    for wire, source in known.items():
        if _value(source.key):
            return wire
    return "anthropic"


def _claude(settings: Settings) -> Chosen:
    if find_claude() is None:
        return Chosen("claude", "anthropic", problem="Claude Code is not here", remedy=_CLAUDE)
    if not sources(settings)["anthropic"].usable:
        return Chosen(
            "claude",
            "anthropic",
            problem="neither ANTHROPIC_API_KEY nor CLAUDE_CODE_OAUTH_TOKEN is set",
            remedy="Set one of them; `claude setup-token` makes the second.",
        )
    return Chosen("claude", "anthropic")
