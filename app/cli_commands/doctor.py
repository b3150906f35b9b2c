"""`kr doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from app.cli_commands import CommandError, load_settings, print_json
from app.cli_commands import doctor_checks as checks

if TYPE_CHECKING:
    from app.agents.trying import Tried
    from app.settings import Settings


@dataclass(frozen=True)
class Check:
    """One finding; `remedy` is empty where nothing is to be done."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(args: argparse.Namespace) -> int:
    """Print the findings. 0 if all is well, else 1."""
    found = examine()
    ok = all(check.ok for check in found)
    if args.json:
        print_json({"ok": ok, "checks": [asdict(check) for check in found]})
    else:
        for check in found:
            print(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.detail}")
            if check.remedy:
                print(f"      → {check.remedy}")
    return 0 if ok else 1


def examine() -> list[Check]:
    """All findings; only those about the settings if these cannot be read."""
    try:
        settings = load_settings()
    except CommandError as error:
        return [Check("settings", False, str(error), "Correct these environment variables.")]
    where = checks.Addresses(settings)
    plan: list[tuple[str, Callable[[], str], str]] = [
        ("private_key", lambda: checks.private_key(settings), checks.PRIVATE_KEY_REMEDY),
        ("webhook_secret", lambda: checks.webhook_secret(settings), checks.SECRET_REMEDY),
        ("database", lambda: checks.database(where), checks.DATABASE_REMEDY),
        ("redis", lambda: checks.redis(where), checks.REDIS_REMEDY),
        ("workers", lambda: checks.workers(where), checks.WORKERS_REMEDY),
        ("timer", lambda: checks.timer(where), checks.WORKERS_REMEDY),
        ("apps", lambda: checks.apps(settings), checks.APPS_REMEDY),
        ("config", lambda: checks.config(settings), "Run `kr config check` and correct the lines."),
        ("deliveries", lambda: checks.deliveries(where), checks.DATABASE_REMEDY),
        ("failures", lambda: checks.failures(where), checks.FAILURES_REMEDY),
        ("embedding_model", lambda: checks.embedding_model(settings), checks.MODEL_REMEDY),
    ]
    return [
        Check("settings", True, _summary(settings)),
        *(_probe(name, probe, remedy) for name, probe, remedy in plan),
        *_agents(settings),
        *_execution(settings),
    ]


def _agents(settings: Settings) -> list[Check]:
    """Every role's backend, tried with the smallest question there is."""
    from app.agents.trying import try_roles

    return _tried(("agents", "agent"), lambda: try_roles(settings), checks.AGENTS_REMEDY)


def _execution(settings: Settings) -> list[Check]:
    """Who does tasks, behind which walls, and whether a check holds them."""
    from app.cli_commands import doctor_execution as execution

    scope, names = execution.SCOPE_REMEDY, ("execution", "execution")
    return [
        *_tried(names, lambda: execution.execution_roles(settings), execution.ROLES_REMEDY),
        _probe("sandbox", lambda: execution.sandbox(settings), execution.SANDBOX_REMEDY),
        _probe("scope_required", lambda: execution.scope_required(settings), scope),
    ]


def _tried(names: tuple[str, str], look: Callable[[], Sequence[Tried]], remedy: str) -> list[Check]:
    """A finding for each role; one for all of them, the first of `names`, if none can be seen."""
    whole, each = names
    try:
        tried = look()
    except Exception as error:
        first = next(iter(str(error).strip().splitlines()), "")
        return [Check(whole, False, f"{type(error).__name__}: {first}", remedy)]
    return [
        Check(
            f"{each}_{one.role}",
            not one.problem,
            one.problem or one.detail,
            (one.remedy or remedy) if one.problem else "",
        )
        for one in tried
    ]


def _summary(settings: Settings) -> str:
    return f"GitHub at {settings.github_url}, data in {settings.data_dir}"


def _probe(name: str, probe: Callable[[], str], remedy: str) -> Check:
    try:
        return Check(name, True, probe())
    except checks.Failed as failure:
        return Check(name, False, str(failure), failure.remedy or remedy)
    except Exception as error:  # whatever it is, it is a finding
        first = next(iter(str(error).strip().splitlines()), "")
        return Check(name, False, f"{type(error).__name__}: {first}".rstrip(": "), remedy)
