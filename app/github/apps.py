"""Our further Apps, under whose names some roles speak: `apps:` in agents.yaml, keys beside it.

The keys come from the environment alone: `KR_APP_<NAME>_ID`, and `KR_APP_<NAME>_PRIVATE_KEY_PATH`
or `KR_APP_<NAME>_PRIVATE_KEY` (docs/APPS.md). What is missing is a value, for `kr doctor`: the
service goes on under its first App.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import SecretStr

from app.config.loader import Config
from app.config.models import Agents, App
from app.features.model import Place
from app.github.client import AppClient, GitHubError, RepoClient
from app.github.reviews import Ours
from app.settings import Settings

NOT_HERE = frozenset({401, 403, 404})
"""Its key is refused, or it is suspended, or it is not installed."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Named:
    """A further App that can be used. One for each event loop, like its client."""

    name: str
    """In agents.yaml."""
    slug: str
    """As agents.yaml has it; empty if it is not given there."""
    roles: tuple[str, ...]
    client: AppClient

    async def repository(self, place: Place) -> RepoClient:
        """A client under this App's name: found anew each time, as people install and remove it.

        Raises `GitHubError`; of `NOT_HERE` where the App is not installed.
        """
        found = await self.client.request("GET", f"/repos/{place.repo}/installation")
        return await self.client.repository(replace(place, installation=int(found["id"])))

    async def recogniser(self) -> Ours:
        """Tells what this App wrote; by the slug in agents.yaml if GitHub refuses the App.

        Raises `GitHubError` if GitHub cannot be asked.
        """
        try:
            return await self.client.recogniser()
        except GitHubError as error:
            if is_final(error):
                return self._by_slug
            raise

    def _by_slug(self, written: dict[str, Any]) -> bool:
        author = written.get("user") or {}
        by_bot = author.get("login") == f"{self.slug}[bot]" and author.get("type") == "Bot"
        return bool(self.slug) and by_bot


@dataclass(frozen=True, slots=True)
class Unusable:
    """An App of agents.yaml that cannot be used, why, and what a person does about it."""

    name: str
    problem: str
    remedy: str


class Apps:
    """The first App, and those that roles speak under."""

    def __init__(self, first: AppClient, named: Sequence[Named] = ()) -> None:
        self.first = first
        self._named = tuple(named)
        self._told: set[tuple[str, str]] = set()

    def of(self, role: str) -> Named | None:
        """The App under whose name a role speaks; None if that is the first."""
        return next((one for one in self._named if role in one.roles), None)

    async def recogniser(self) -> Ours:
        """Tells what any of the Apps wrote. Raises `GitHubError`."""
        return await ours_of((self.first, *self._named))

    def tell(self, named: Named, repo: str, error: GitHubError) -> None:
        """Log that an App cannot speak in a repository: once, not with every review."""
        if (named.name, repo) not in self._told:
            self._told.add((named.name, repo))
            logger.warning(
                "the App %s cannot write in %s (%s): the first App comments there instead."
                " Install it there with pull_requests: write; `kr doctor` tries its key.",
                *(named.name, repo, error),
            )


async def ours_of(apps: Iterable[AppClient | Named]) -> Ours:
    """Tells what any of these Apps wrote. Raises `GitHubError`."""
    tells = [await app.recogniser() for app in apps]
    return lambda written: any(tell(written) for tell in tells)


def open_apps(settings: Settings, config: Config, env: Mapping[str, str] = os.environ) -> Apps:
    """All Apps, for one event loop; those that cannot be used are logged and left out.

    Raises `ValueError` if there is not even a first one.
    """
    found = further(settings, config, env)
    for one in found:
        if isinstance(one, Unusable):
            logger.warning("the App %s is not used: %s %s", one.name, one.problem, one.remedy)
    return Apps(AppClient(settings), [one for one in found if isinstance(one, Named)])


def apps_of(settings: Settings, config: Config, env: Mapping[str, str]) -> Mapping[str, AppClient]:
    """Role → the App that it speaks under, for roles with one that can be used."""
    named = [one for one in further(settings, config, env) if isinstance(one, Named)]
    return {role: one.client for one in reversed(named) for role in one.roles}


def further(
    settings: Settings, config: Config, env: Mapping[str, str]
) -> tuple[Named | Unusable, ...]:
    """Every App of agents.yaml, in its order; nothing is asked of GitHub here."""
    agents = config.agents
    return tuple(_read(settings, agents, name, env) for name in agents.apps)


def _read(
    settings: Settings, agents: Agents, name: str, env: Mapping[str, str]
) -> Named | Unusable:
    prefix = f"KR_APP_{name.upper().replace('-', '_')}"
    number = env.get(f"{prefix}_ID", "").strip()
    key = _key(prefix, env)
    if isinstance(key, OSError):
        what = f"{prefix}_PRIVATE_KEY_PATH cannot be read: {key.strerror or key}."
        return Unusable(name, what, "Correct the path, or the rights of the file.")
    if not number:
        beside = "there is a key, but " if key else ""
        remedy = f"Set {prefix}_ID to the App's number, or take the App out of agents.yaml."
        return Unusable(name, f"{beside}{prefix}_ID is not set.", remedy)
    if not key:
        what = f"there is an id, but neither {prefix}_PRIVATE_KEY_PATH nor {prefix}_PRIVATE_KEY."
        return Unusable(name, what, "Create a private key in the App's settings on GitHub, set it.")
    if number == settings.github_app_id:
        remedy = "Create an App of its own: none may request changes on its own pull requests."
        return Unusable(name, f"{prefix}_ID is the number of the first App.", remedy)
    try:
        rsa_bits(key)
    except ValueError as error:
        return Unusable(name, f"{error}.", f"Correct {prefix}_PRIVATE_KEY_PATH.")
    given = {"github_app_id": number, "github_private_key": SecretStr(key)}
    client = AppClient(settings.model_copy(update={**given, "github_private_key_path": None}))
    app = agents.apps[name]
    return Named(name, app.slug or "", _roles(agents, app), client)


def _key(prefix: str, env: Mapping[str, str]) -> str | OSError:
    text = env.get(f"{prefix}_PRIVATE_KEY", "")
    path = env.get(f"{prefix}_PRIVATE_KEY_PATH", "")
    if text or not path:
        return text.replace("\\n", "\n")
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return error


def _roles(agents: Agents, app: App) -> tuple[str, ...]:
    """Its roles; of an alias the role's own name."""
    own = {alias: name for name, role in agents.roles.items() for alias in role.aliases}
    return tuple(role if role in agents.roles else own.get(role, role) for role in app.roles)


def rsa_bits(text: str) -> int:
    """How long an App's key is, in bits. Raises `ValueError` that says what is wrong with it."""
    try:
        key = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError):
        raise ValueError("the private key is not a PEM key without a passphrase") from None
    if not isinstance(key, RSAPrivateKey):
        raise ValueError("the private key is not an RSA key")
    return key.key_size


def is_final(error: GitHubError) -> bool:
    """Whether an App is refused: not now alone, but until a person does something about it."""
    return error.status in NOT_HERE and not error.rate_limited
