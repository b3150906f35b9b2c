"""What the processes are made of: built once from the settings, handed down, never global."""

from __future__ import annotations

from dataclasses import dataclass

from app.config.loader import load_config
from app.config.shipped import config_folder
from app.handlers.facts import Policy
from app.questions.routing import Router
from app.queue import Bell
from app.settings import Settings
from app.store.engine import Engine, connect
from app.store.lanes import Limits


@dataclass(frozen=True, slots=True)
class Deps:
    """The database, the bell, and what the configuration says."""

    settings: Settings
    engine: Engine
    bell: Bell
    policy: Policy
    limits: Limits


def policy_of(settings: Settings) -> Policy:
    """What the handlers know of the configuration. Raises `ConfigInvalid`."""
    config = load_config(config_folder(settings))
    return Policy(
        routes=Router(config),
        handles=config.agents.handles(),
        question_limit=config.baron.questions.limit,
        comments=config.baron.comments,
    )


def build_deps(settings: Settings) -> Deps:
    """Connects lazily: nothing is asked of a server here.

    Raises `ValueError` if a server's URL is missing, `ConfigInvalid` for a bad configuration.
    """
    if not settings.database_url or not settings.redis_url:
        raise ValueError(
            "KR_DATABASE_URL and KR_REDIS_URL are needed here; `kr up` starts servers of its own"
            " and sets them."
        )
    return Deps(
        settings=settings,
        engine=connect(settings.database_url),
        bell=Bell(settings.redis_url),
        policy=policy_of(settings),
        limits=Limits(
            settings.github_writes_per_minute,
            settings.github_writes_per_hour,
            settings.github_writes_burst,
        ),
    )
