"""The third wall: what a pull request changes, held against who says to have changed it.

Agents sign their commits with a trailer, `Agent: dede`. Each path that such a commit touches must
lie in that agent's scope, as the base branch has it (specs/1, US5). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from app.scopes.rules import Flaw
from app.scopes.scopes import DEFAULT, Scopes, Verdict, check, is_guarded, parse

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
    person: str = ""
    """The login of the person who wrote it, as GitHub knows; empty for Apps and for strangers."""


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
    members: Mapping[str, tuple[str, ...]] | None = None
    """Where people are bound, too: login → handles that mean them, `@login` and their teams."""
    owners: str | None = None
    """CODEOWNERS of the base branch; None if it has none."""
    emails: Mapping[str, str] = field(default_factory=dict)
    """Address in commits → login, as far as GitHub told."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """An owner let a path be changed; `until` is ISO 8601, UTC."""

    path: str
    by: str
    reason: str
    until: str


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


def is_bound(pull: Pull) -> bool:
    """Whether anything of it is held against the scopes."""
    return is_by_agents(pull) or pull.members is not None


def judge(pull: Pull, allowed: Collection[str] = ()) -> Judged:
    """Every path, by whoever touched it, but for those that an owner `allowed`.

    People are bound only where the repository asks for it; a path that neither an agent signed nor
    a person wrote is nobody's.
    """
    scopes = parse(DEFAULT if pull.scopes is None else pull.scopes)
    if scopes.flaws:
        return Judged(flaws=scopes.flaws)
    by = _writers(pull)
    paths = [path for path in dict.fromkeys(pull.paths) if path not in allowed]
    return Judged(tuple(one for path in paths for one in _judge(path, by, scopes, pull.members)))


@dataclass(frozen=True, slots=True)
class _Writer:
    agent: str = ""
    person: str = ""


def _writers(pull: Pull) -> Mapping[str, tuple[_Writer, ...]]:
    """Path → who touched it."""
    by: dict[str, dict[_Writer, None]] = {}
    for commit in pull.commits:
        hands = [_Writer(agent) for agent in commit.agents] or [_Writer(person=commit.person)]
        for path in commit.paths:
            by.setdefault(path, {}).update(dict.fromkeys(hands))
    return {path: tuple(hands) for path, hands in by.items()}


def _judge(
    path: str,
    by: Mapping[str, tuple[_Writer, ...]],
    scopes: Scopes,
    members: Mapping[str, tuple[str, ...]] | None,
) -> Iterator[Trespass]:
    for hand in by.get(path, (_Writer(),)):
        verdict = scopes.owners(path)
        why = _of_person(hand.person, verdict, members) if hand.person else _of_agent(
            hand.agent, path, scopes
        )  # fmt: skip
        if why:
            yield Trespass(path, hand.agent or hand.person, verdict.owners, verdict.line, why)


def _of_agent(agent: str, path: str, scopes: Scopes) -> str:
    """Why it may not write there; empty if it may."""
    if agent == DRIVER and _DOCUMENTS.fullmatch(path):
        return ""
    if not agent:
        return "no agent signed the commit that changes it, and GitHub knows no person who wrote it"
    if is_guarded(path):
        return "no agent may write what decides who may write"
    return f"it is not in the scope of @{agent}" if check(scopes, f"@{agent}", [path]) else ""


def _of_person(login: str, verdict: Verdict, members: Mapping[str, tuple[str, ...]] | None) -> str:
    if members is None:
        return ""
    theirs = {handle.casefold() for handle in members.get(login, (f"@{login}",))}
    if theirs.isdisjoint(owner.casefold() for owner in verdict.owners):
        return f"it is not in the scope of {login}"
    return ""


def owners_of(pull: Pull, path: str) -> tuple[str, ...]:
    """Who may allow a change there, by CODEOWNERS; empty for whoever maintains the repository."""
    if pull.owners is None:
        return ()
    return tuple(owner for owner in parse(pull.owners).owners(path).owners if owner[:1] == "@")
