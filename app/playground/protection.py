"""Which checks a branch requires, and whether a pull request has them."""

from __future__ import annotations

from app.playground.state import Repo, visible
from app.playground.state_pulls import Pull

RULES, CLASSIC = "rules", "classic"
KINDS = (RULES, CLASSIC)
PASSING = ("success", "neutral", "skipped")
"""Conclusions that satisfy a requirement, as GitHub's documentation lists them."""


def required(repo: Repo, branch: str) -> list[str]:
    """Names of the checks that the branch requires, by rules and by classic protection."""
    names = [name for kind in KINDS for name in repo.required.get((kind, branch), [])]
    return list(dict.fromkeys(names))


def obstacle(repo: Repo, pull: Pull) -> str | None:
    """Why a check forbids to merge, in GitHub's words; None if no check does.

    The latest run of a name on the head counts.
    """
    runs = {run.name: run for run in visible(repo.checks) if run.head_sha == pull.head_sha}
    for name in required(repo, pull.base):
        run = runs.get(name)
        if run is None:
            return f'Required status check "{name}" is expected.'
        if run.conclusion is None:
            return f'Required status check "{name}" is {run.status.replace("_", " ")}.'
        if run.conclusion not in PASSING:
            return f'Required status check "{name}" is failing.'
    return None
