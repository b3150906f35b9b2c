"""Whose a path is, and which paths an agent may not write (specs/1, US5 and FR-018)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.scopes.matching import NONE, Matcher
from app.scopes.patterns import shape
from app.scopes.rules import Flaw, Rule, read

DEFAULT = """\
# Who may write where. The last line that matches a path counts.
# Knowledge agents and reviewers have no line: they write nothing.
/tests/ @marie
/src/ @dede
/k8s/ @gustave
/argocd/ @gustave
/kustomize/ @gustave
/helm/ @gustave
/.github/workflows/ @gustave
"""
"""The scopes of a repository that has no file of its own (specs/1, FR-018)."""

_GUARDED = frozenset(
    {
        (".github", "agent_scopes"),
        (".github", "codeowners"),
        ("codeowners",),
        ("docs", "codeowners"),
    }
)
_GIT = frozenset({".git", "git~1"})
"""Git's own folder, also by the short name that Windows gives it."""

_IGNORABLE = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
"""Characters that macOS leaves out when it compares names; git guards its folder likewise."""

MAX_PATH = 4096
"""Characters; Linux opens no longer one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whose a path is, by which line, counted from 1; None where no rule matches."""

    path: str
    owners: tuple[str, ...]
    line: int | None


class Scopes:
    """The rules of a scope file. With a single flaw in it, every path is nobody's."""

    def __init__(self, rules: tuple[Rule, ...], flaws: tuple[Flaw, ...] = ()) -> None:
        self.rules = rules
        self.flaws = flaws
        good = () if flaws else rules
        self._owners = {rule.line: rule.owners for rule in good}
        shapes = ((rule.line, shape(rule.pattern)) for rule in good)
        self._matcher = Matcher((line, found) for line, found in shapes if found)

    def owners(self, path: str) -> Verdict:
        """The owners by the last rule that matches; nobody if the path is not a plain one."""
        line = self._matcher.line(path) if _is_plain(path) else NONE
        return Verdict(path, self._owners[line], line) if line else Verdict(path, (), None)


def parse(text: str) -> Scopes:
    """The scopes of a file in CODEOWNERS syntax. What cannot be read is in `flaws`."""
    return Scopes(*read(text))


def check(scopes: Scopes, agent: str, paths: Iterable[str]) -> tuple[Verdict, ...]:
    """The paths that an agent (`@dede`) may not write, in their order.

    A path is allowed if the last rule that matches names the agent, in any case of letters, and if
    it is not guarded.
    """
    handle = _handle(agent)
    verdicts = map(scopes.owners, paths)
    return tuple(found for found in verdicts if not _allows(found, handle))


def ends(scopes: Scopes, place: str) -> tuple[str, ...]:
    """The paths by which the place is judged to which a link leads.

    It may be a folder, and rules for what is in it do not match its own name. What a later rule
    says of that counts, too.
    """
    inside = f"{place}/_"
    later = (scopes.owners(inside).line or 0) > (scopes.owners(place).line or 0)
    return (place, inside) if later else (place,)


def is_guarded(path: str) -> bool:
    """Whether a path decides who may write, or is git's own: no rule gives it to an agent.

    Looks through the ways in which Windows and macOS take different names for the same file.
    """
    levels = tuple(_folded(level) for level in path.split("/"))
    if levels == (".github",) or not _GIT.isdisjoint(levels):
        return True
    # what is below one of the files would take its place
    return levels[:1] in _GUARDED or levels[:2] in _GUARDED


def _folded(level: str) -> str:
    return level.translate(_IGNORABLE).casefold().split(":")[0].rstrip(" .")


def _handle(agent: str) -> str:
    name = agent.strip().casefold()
    return name if "@" in name else f"@{name}"


def _allows(verdict: Verdict, handle: str) -> bool:
    named = any(owner.casefold() == handle for owner in verdict.owners)
    return named and not is_guarded(verdict.path)


def _is_plain(path: str) -> bool:
    """Whether a path has one reading only, from the root of the repository down."""
    odd = "\\" in path or "\0" in path or "\ufffd" in path  # that stands for any other name
    if odd or path[1:2] == ":" or len(path) > MAX_PATH:
        return False
    closed = f"/{path}/"
    if "//" in closed or "/./" in closed or "/../" in closed:
        return False
    return path.isascii() or _is_unicode(path)


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # bytes that are no UTF-8 come as lone surrogates
        return False
    return True
