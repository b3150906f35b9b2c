"""The single checks of `kr doctor`: each returns a detail, or raises what is wrong."""

from __future__ import annotations

import asyncio
import importlib
import os
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from app.embedded import Servers

if TYPE_CHECKING:
    from app.github.apps import Named
    from app.settings import Settings

PRIVATE_KEY_REMEDY = (
    "Create a private key in the App's settings on GitHub and set KR_GITHUB_PRIVATE_KEY_PATH, "
    "or let /setup create the App."
)
APPS_REMEDY = "Correct `apps:` in agents.yaml and the variables KR_APP_… (docs/APPS.md)."
SECRET_REMEDY = "Set KR_GITHUB_WEBHOOK_SECRET to the App's webhook secret."  # noqa: S105
DATABASE_REMEDY = "Start it (`kr up`), or correct KR_DATABASE_URL."
REDIS_REMEDY = "Start it (`kr up`), or correct KR_REDIS_URL. Until then work waits for the timer."
WORKERS_REMEDY = "Start the workers: `kr up`, or `kr worker`."
MODEL_REMEDY = "Install the package again, or correct KR_EMBEDDING_MODEL."
FAILURES_REMEDY = "Mend what the line names; `/status` on the issue draws its comments again."
AGENTS_REMEDY = (
    "Correct the key or the model in agents.yaml; `backend: retrieval` answers without a model."
)
_NEEDED = ("events", "outbox", "agents")


class Failed(Exception):
    """A check that failed; `remedy` replaces the usual one if it is set."""

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__(detail)
        self.remedy = remedy


class Addresses:
    """Where the servers are, found once; nothing is started."""

    def __init__(self, settings: Settings) -> None:
        self._servers = Servers(settings.data_dir, settings.database_url, settings.redis_url)

    @cached_property
    def _found(self) -> tuple[str | None, str | None]:
        return self._servers.find()

    @property
    def database_url(self) -> str:
        """Raises `Failed` if none is set and ours does not run."""
        if self._found[0] is None:
            raise Failed("the embedded PostgreSQL does not run")
        return self._found[0]

    @property
    def redis_url(self) -> str:
        """Raises `Failed` if none is set and ours does not run."""
        if self._found[1] is None:
            raise Failed("the embedded Redis does not run")
        return self._found[1]


def private_key(settings: Settings) -> str:
    """The App's key is there and is an RSA key."""
    from app.github.apps import rsa_bits

    text = settings.private_key()
    if text is None:
        raise Failed("no private key is set")
    if settings.github_app_id is None:
        raise Failed("there is a key, but KR_GITHUB_APP_ID is not set", "Set KR_GITHUB_APP_ID.")
    try:
        bits = rsa_bits(text)
    except ValueError as error:
        raise Failed(str(error)) from None
    return f"RSA, {bits} bits, App {settings.github_app_id}"


def apps(settings: Settings) -> str:
    """Each App of `apps:` in agents.yaml has a key that GitHub takes, and the slug named there."""
    from app.config.loader import load_config
    from app.config.shipped import config_folder
    from app.github.apps import Unusable, further

    found = further(settings, load_config(config_folder(settings)), os.environ)
    told, wrong = list[str](), list[tuple[str, str]]()
    for one in found:
        try:
            if isinstance(one, Unusable):
                raise Failed(one.problem.rstrip("."), one.remedy)
            told.append(f"{one.name} is {asyncio.run(_slug(one))}[bot] for {_listed(one.roles)}")
        except Failed as failure:
            wrong.append((f"{one.name}: {failure}", failure.remedy))
    if wrong:
        raise Failed("; ".join(what for what, _ in wrong), " ".join(how for _, how in wrong))
    return "; ".join(told) or "none, all roles speak under the first App"


async def _slug(named: Named) -> str:
    """The App's slug as GitHub has it. Raises `Failed`."""
    from app.github.client import GitHubError

    try:
        slug = await named.client.slug()
    except GitHubError as error:
        if error.status in {401, 404}:
            remedy = "Set the number and the private key of one and the same App (docs/APPS.md)."
            raise Failed(f"GitHub refuses its number or key: {error}", remedy) from None
        raise Failed(f"GitHub cannot be asked: {error}", "Try again later.") from None
    if named.slug and named.slug != slug:
        remedy = f"Write `slug: {slug}` in agents.yaml, or give this App's number and key."
        raise Failed(f"its slug is {slug}, agents.yaml says {named.slug}", remedy)
    return slug


def _listed(roles: tuple[str, ...]) -> str:
    return ", ".join(roles) or "no role"


def webhook_secret(settings: Settings) -> str:
    """A secret is set."""
    secret = settings.github_webhook_secret
    if secret is None or not secret.get_secret_value():
        raise Failed("no webhook secret is set; webhooks are answered with 503")
    return "set"


def database(where: Addresses) -> str:
    """The database answers and has this version's schema."""
    from app.store.migrate import pending

    if pending(where.database_url):
        raise Failed("it answers, but a migration is missing", "Run `kr migrate`.")
    return "answers, migrated"


def redis(where: Addresses) -> str:
    """Redis answers."""
    from redis import Redis

    with Redis.from_url(where.redis_url, socket_timeout=3, socket_connect_timeout=3) as client:
        client.ping()
    return "answers"


def workers(where: Addresses) -> str:
    """There is a living process of each kind."""
    alive = _alive(where)
    missing = [kind for kind in _NEEDED if kind not in alive]
    if missing:
        raise Failed(f"no living process for: {', '.join(missing)}")
    return ", ".join(f"{alive.count(kind)} {kind}" for kind in _NEEDED)


def timer(where: Addresses) -> str:
    """The timer lives."""
    if "timer" not in _alive(where):
        raise Failed("the timer does not live: nothing that was left behind is found again")
    return "alive"


def config(settings: Settings) -> str:
    """The server's configuration may come into force."""
    from app.config.loader import load_config
    from app.config.problems import ConfigInvalid
    from app.config.shipped import config_folder

    folder = config_folder(settings)
    try:
        loaded = load_config(folder)
    except ConfigInvalid as invalid:
        first = str(invalid.errors[0]) if invalid.errors else str(invalid)
        raise Failed(f"{len(invalid.errors)} errors, the first: {first}") from None
    return f"{folder}: valid, {len(loaded.warnings)} warnings"


def deliveries(where: Addresses) -> str:
    """When GitHub last spoke to us, and how that went."""
    from app.store.deliveries import newest
    from app.store.engine import connect

    engine = connect(where.database_url, pool=1)
    try:
        with engine.connect() as connection:
            last = newest(connection)
    finally:
        engine.dispose()
    if last is None:
        return "none yet"
    age = int((datetime.now(UTC) - last["received_at"]).total_seconds())
    return f"the last one ({last['event']}, {last['state']}) {age} s ago"


def failures(where: Addresses) -> str:
    """Nothing failed for good within a day: notifications, writes to GitHub, deliveries."""
    from app.store.engine import connect
    from app.store.health import failures as found_failures

    engine = connect(where.database_url, pool=1)
    try:
        with engine.connect() as connection:
            found = found_failures(connection)
    finally:
        engine.dispose()
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Failed(f"{found[0]}{more}")
    return "none within a day"


def embedding_model(settings: Settings) -> str:
    """The model for semantic selection is there and unchanged."""
    verify = getattr(importlib.import_module("app.embeddings"), "verify_model", None)
    if verify is None:
        raise Failed("this version cannot verify the embedding model")
    return str(verify(settings))


def _alive(where: Addresses) -> list[str]:
    from app.store.health import worker_heartbeats

    return [beat.kind for beat in worker_heartbeats(where.database_url) if beat.alive]
