"""The third wall: what a pull request changes, held against who says to have changed it.

Agents sign their commits with a trailer, `Agent: dede`. Each path that such a commit touches must
lie in that agent's scope, as the base branch has it (specs/1, US5). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.scopes.rules import Flaw
from app.scopes.scopes import DEFAULT, Scopes, check, is_guarded, parse

SCOPE_FILE = ".github/AGENT_SCOPES"
DRIVER = "baron"
"""Writes the documents of a feature, and nothing else."""
_TRAILER = re.compile(r"^Agent:[ \t]*@?([A-Za-z0-9][A-Za-z0-9_-]{0,59})[ \t]*$", re.MULTILINE)
_DOCUMENTS = re.compile(r"specs/[0-9]{3,}-[a-z0-9-]{1,120}/[^/]+\.md")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the pull request; `agents` are the names in its trailers, in small letters."""

    sha: str
    agents: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Old and new names of what it touches."""


@dataclass(frozen=True, slots=True)
class Pull:
    """What a pull request changes in all, and by which commits."""

    paths: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    scopes: str | None = None
    """The scope file of the base branch; None if it has none."""
    ours: bool = False
    """The service itself opened it."""
    complete: bool = True
    """False where it is larger than GitHub shows."""


@dataclass(frozen=True, slots=True)
class Trespass:
    """A path outside its agent's scope; `line` is that of the rule, None where none matches."""

    path: str
    agent: str
    owners: tuple[str, ...]
    line: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What is wrong: with the scope file, and with paths. Both empty: it is all in scope."""

    trespasses: tuple[Trespass, ...] = ()
    flaws: tuple[Flaw, ...] = ()


def agents_in(message: str) -> tuple[str, ...]:
    """The agents that a commit's message names in its last paragraph, in small letters."""
    last = message.replace("\r\n", "\n").strip().rpartition("\n\n")[2]
    return tuple(dict.fromkeys(name.casefold() for name in _TRAILER.findall(last)))


def is_by_agents(pull: Pull) -> bool:
    """Whether scopes bind it: the service opened it, or a commit says that an agent wrote it."""
    return pull.ours or any(commit.agents for commit in pull.commits)


def judge(pull: Pull) -> Judged:
    """Every path, by the agents that touched it; one that nobody signed is nobody's."""
    scopes = parse(DEFAULT if pull.scopes is None else pull.scopes)
    if scopes.flaws:
        return Judged(flaws=scopes.flaws)
    by = _writers(pull.commits)
    found = (one for path in dict.fromkeys(pull.paths) for one in _judge(path, by, scopes))
    return Judged(tuple(found))


def _writers(commits: Iterable[Commit]) -> Mapping[str, tuple[str, ...]]:
    """Path → who touched it; "" is somebody who did not sign as an agent."""
    by: dict[str, dict[str, None]] = {}
    for commit in commits:
        for path in commit.paths:
            by.setdefault(path, {}).update(dict.fromkeys(commit.agents or ("",)))
    return {path: tuple(agents) for path, agents in by.items()}


def _judge(path: str, by: Mapping[str, tuple[str, ...]], scopes: Scopes) -> Iterator[Trespass]:
    for agent in by.get(path, ("",)):
        verdict = scopes.owners(path)
        if agent == DRIVER and _DOCUMENTS.fullmatch(path):
            continue
        if not agent:
            why = "no agent signed the commit that changes it"
        elif is_guarded(path):
            why = "no agent may write what decides who may write"
        elif check(scopes, f"@{agent}", [path]):
            why = f"it is not in the scope of @{agent}"
        else:
            continue
        yield Trespass(path, agent, verdict.owners, verdict.line, why)
