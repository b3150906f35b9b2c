"""The third wall: what a pull request changes, held against who says to have changed it.

Agents sign their commits with a trailer, `Agent: dede`. Each path that such a commit touches must
lie in that agent's scope, as the base branch has it, and so must the place that a symbolic link
leads to (specs/1, US5). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from app.scopes.links import leads_to, shown
from app.scopes.rules import Flaw, read
from app.scopes.scopes import DEFAULT, Scopes, Verdict, check, ends, is_guarded, parse

SCOPE_FILE = ".github/AGENT_SCOPES"
DRIVER = "baron"
"""Writes the documents of a feature, and nothing else."""
_TRAILER = re.compile(
    r"^Agent[ \t]*:[ \t]*@?([A-Za-z0-9][A-Za-z0-9_-]{0,59})[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_TRAILERS = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]{0,40}[ \t]*:.*(?:\n|\Z))+\Z")
_SUBMODULE = "a submodule brings code of others; a person has to add it"
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
    links: Mapping[str, str] = field(default_factory=dict)
    """Path → what the link there says: the changed ones, and those on the way of these."""
    submodules: tuple[str, ...] = ()
    """Paths at which it has a submodule, new or changed."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """An owner let a path be changed; `until` is ISO 8601, UTC."""

    path: str
    by: str
    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class Trespass:
    """A path outside its agent's scope; `line` is that of the rule, None where none matches.

    Of a link that leads out of scope, `owners` and `line` are those of where it leads.
    """

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
    """The agents that a commit's message names in its trailers, in small letters.

    Every paragraph of trailers counts: GitHub puts those of all commits into a squash, and adds
    paragraphs of its own. The subject is none.
    """
    first, *others = re.split(r"\n[ \t]*\n", message.replace("\r\n", "\n").strip())
    found = [name for part in others or [first] if _TRAILERS.match(part.strip())
             for name in _TRAILER.findall(part)]  # fmt: skip
    return tuple(dict.fromkeys(name.casefold() for name in found))


def is_by_agents(pull: Pull) -> bool:
    """Whether scopes bind it: the service opened it, or a commit says that an agent wrote it."""
    return pull.ours or any(commit.agents for commit in pull.commits)


def is_bound(pull: Pull) -> bool:
    """Whether anything of it is held against the scopes."""
    return is_by_agents(pull) or pull.members is not None


def judge(pull: Pull, allowed: Collection[str] = ()) -> Judged:
    """Every path, by whoever touched it, but for those that an owner `allowed`.

    People are bound only where the repository asks for it; a path that neither an agent signed nor
    a person wrote is nobody's. Who that person is GitHub takes from the e-mail address in the
    commit, which whoever pushes chooses: it stops agents that sign, not one that poses as a person.
    """
    scopes = parse(DEFAULT if pull.scopes is None else pull.scopes)
    if scopes.flaws:
        return Judged(flaws=scopes.flaws)
    by = _writers(pull)
    paths = [path for path in dict.fromkeys(pull.paths) if path not in allowed]
    hands = ((path, hand) for path in paths for hand in by.get(path, (_Writer(),)))
    found = (_judge(path, hand, scopes, pull) for path, hand in hands)
    return Judged(tuple(one for one in found if one is not None))


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


def _judge(path: str, hand: _Writer, scopes: Scopes, pull: Pull) -> Trespass | None:
    if hand.person and pull.members is None:
        return None
    if hand.agent and (path in pull.submodules or _names_submodules(path)):
        return Trespass(path, hand.agent, (), None, _SUBMODULE)
    if why := _objection(path, hand, scopes, pull):
        return _trespass(path, path, hand, scopes, why)
    if (target := pull.links.get(path)) is None:
        return None
    who = f"@{hand.agent}" if hand.agent else hand.person
    place = leads_to(path, target, pull.links)
    if place is None:
        why = f"it links to {shown(target)}, outside of the repository"
        return Trespass(path, hand.agent or hand.person, (), None, why)
    for end in ends(scopes, place):
        if _objection(end, hand, scopes, pull):
            why = f"it links to {shown(place) or 'the whole repository'}, where {who} may not write"
            return _trespass(path, end, hand, scopes, why)
    return None


def _trespass(path: str, place: str, hand: _Writer, scopes: Scopes, why: str) -> Trespass:
    verdict = scopes.owners(place)
    return Trespass(path, hand.agent or hand.person, verdict.owners, verdict.line, why)


def _names_submodules(path: str) -> bool:
    return path.rpartition("/")[2].casefold() == ".gitmodules"


def _objection(path: str, hand: _Writer, scopes: Scopes, pull: Pull) -> str:
    if hand.person:
        return _of_person(hand.person, scopes.owners(path), pull.members)
    return _of_agent(hand.agent, path, scopes)


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
    """Who may allow a change there, by CODEOWNERS; empty for whoever maintains the repository.

    A line that cannot be read is left out, as GitHub does.
    """
    if pull.owners is None:
        return ()
    rules, _ = read(pull.owners)
    return tuple(owner for owner in Scopes(rules).owners(path).owners if owner[:1] == "@")
