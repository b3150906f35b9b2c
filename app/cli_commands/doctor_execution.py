"""What `kr doctor` says of execution: who does tasks here, behind which walls, what holds them."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.agents.choosing import CAN, MODELS, REVIEWER, choose, executors
from app.agents.trying import Tried
from app.cli_commands.doctor_checks import Failed
from app.config.loader import load_config
from app.config.models import Role
from app.config.shipped import config_folder
from app.execution.walls import SandboxMissing, Walls, decide, open_without, walls_here
from app.github.client import AppClient, GitHubError
from app.github.installed import repositories
from app.github.required import required_checks
from app.handlers.pulls import SCOPE

if TYPE_CHECKING:
    from app.settings import Settings

MOST = 20
"""Repositories that are looked at."""
ROLES_REMEDY = "Run `kr config check` and correct the lines."
SANDBOX_REMEDY = "Install bubblewrap, or set KR_SANDBOX to what works here."
SCOPE_REMEDY = (
    "Require it on GitHub: the repository's Settings → Rules → Rulesets → a ruleset for the default"
    f" branch → require status checks → `{SCOPE}`."
)
_GITHUB_REMEDY = "Correct KR_GITHUB_API_URL, the App's number and its key, and try again."
_BACKEND = (
    "Set `backend: claude` or `command` in agents.yaml, or `none`: people are offered its tasks."
)


def execution_roles(settings: Settings) -> list[Tried]:
    """Every execution role, and who does its tasks. Raises `ConfigInvalid`, `OSError`."""
    roles = load_config(config_folder(settings)).agents.roles
    return [_role(name, role, settings) for name, role in roles.items() if role.kind == "execution"]


def _role(name: str, role: Role, settings: Settings) -> Tried:
    chosen, who = choose(name, role, settings), role.handle
    if chosen.problem:
        return Tried(name, "", f"{who} ({chosen.kind}): {chosen.problem}", chosen.remedy)
    if chosen.kind == "command" and shutil.which(role.command[0]) is None:
        problem = f"{who} (command): there is no program {role.command[0]} that may be executed"
        return Tried(name, "", problem, "Correct its `command` in agents.yaml.")
    if name == REVIEWER:
        beside = f", {chosen.kind} beside them" if chosen.kind in MODELS else " alone"
        return Tried(name, f"{who}: rules review pull requests{beside}")
    if chosen.kind in CAN:
        return Tried(name, f"{who}: {chosen.kind} carries its tasks out here")
    if chosen.kind == "none":
        return Tried(name, f"{who}: none, its tasks are offered to people")
    return Tried(name, "", f"{who} ({chosen.kind}): that cannot carry tasks out", _BACKEND)


def sandbox(settings: Settings) -> str:
    """The walls that are wanted, those that work, what is open. Raises `Failed`."""
    here = walls_here()
    told = f"KR_SANDBOX={settings.sandbox}; {_works('bubblewrap', 'bwrap' in here)}, "
    told += _works("Landlock", "landlock" in here)
    try:
        walls = decide(settings.sandbox, here)
    except SandboxMissing as missing:
        if executors(load_config(config_folder(settings)), settings):
            value, walls = _best(here)
            told += f"; with KR_SANDBOX={value} would be {_open(walls)}"
            raise Failed(told, str(missing)) from None
        return f"{told}; no role carries tasks out here, so no wall is missed"
    return f"{told}; {_open(walls)}"


def _works(name: str, works: bool) -> str:
    return f"{name} {'works' if works else 'does not work here'}"


def _open(walls: Walls) -> str:
    return f"open: {'; '.join(open_without(walls)) or 'nothing'}"


def _best(here: frozenset[str]) -> tuple[str, Walls]:
    """The best that there is, and the value of `KR_SANDBOX` for it."""
    if len(here) > 1:
        return "strict", Walls.BOTH
    if "landlock" in here:
        return "landlock", Walls.LANDLOCK
    return ("bwrap", Walls.BWRAP) if here else ("none", Walls.NONE)


@dataclass(slots=True)
class _Required:
    """Names of repositories by what is known of their default branch."""

    yes: list[str] = field(default_factory=list)
    no: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    more: bool = False

    def __str__(self) -> str:
        parts = [
            f"required on {', '.join(self.yes)}" if self.yes else "",
            f"not required on {', '.join(self.no)}: it warns, but blocks nobody" if self.no else "",
            f"cannot be seen on {', '.join(self.unseen)}" if self.unseen else "",
            f"only the first {MOST} repositories were looked at" if self.more else "",
        ]
        return "; ".join(filter(None, parts)) or "the App is installed in no repository"


def scope_required(settings: Settings) -> str:
    """Whether `baron/scope` has to pass before anything is merged. Raises `Failed`."""
    try:
        app = AppClient(settings)
    except (ValueError, OSError):
        return "cannot be seen without the App's key"
    try:
        found = asyncio.run(_required(app, settings))
    except GitHubError as error:
        raise Failed(f"GitHub did not answer as it should: {error}", _GITHUB_REMEDY) from None
    if found.no and executors(load_config(config_folder(settings)), settings):
        raise Failed(f"{found}, although agents carry tasks out here", SCOPE_REMEDY)
    return str(found)


async def _required(app: AppClient, settings: Settings) -> _Required:
    found, count = _Required(), 0
    async for client, branch in repositories(app, settings.github_api_url):
        if count == MOST:
            found.more = True
            break
        count += 1
        required = await required_checks(client, branch)
        known = found.unseen if required is None else found.yes if SCOPE in required else found.no
        known.append(f"{client.owner}/{client.name}")
    return found
