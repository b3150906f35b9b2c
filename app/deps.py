"""What the processes are made of: built once from the settings, handed down, never global."""

from __future__ import annotations

from dataclasses import dataclass

from app.outlets.stream import Stream
from app.policies import Policies
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
    stream: Stream
    policies: Policies
    limits: Limits


def build_deps(settings: Settings) -> Deps:
    """Connects lazily: nothing is asked of a server here.

    Raises `ValueError` if a server's URL is missing, `ConfigInvalid` for a bad configuration.
    """
    if not settings.database_url or not settings.redis_url:
        raise ValueError(
            "KR_DATABASE_URL and KR_REDIS_URL are needed here; `kr up` starts servers of its own"
            " and sets them."
        )
    engine = connect(settings.database_url)
    return Deps(
        settings=settings,
        engine=engine,
        bell=Bell(settings.redis_url),
        stream=Stream(settings.redis_url),
        policies=Policies(settings, engine),
        limits=Limits(
            settings.github_writes_per_minute,
            settings.github_writes_per_hour,
            settings.github_writes_burst,
        ),
    )
