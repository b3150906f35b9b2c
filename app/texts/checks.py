"""What the check runs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.scopes.pulls import Judged, Trespass
from app.texts.safe import cell, one_line, visible


class WrongLike(Protocol):
    """A mistake in a configuration."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def where(self) -> str: ...
    @property
    def what(self) -> str: ...


def config_summary(wrong: Sequence[WrongLike]) -> str:
    """The summary of `baron/config`."""
    if not wrong:
        return "It takes effect within ten seconds of the merge. `/config` shows what is in force."
    rows = [
        f"| `{one_line(one.file, 120)}:{one.line}` | {cell(one_line(one.where, 120))}"
        f" | {cell(one_line(one.what, 300))} |"
        for one in wrong[:200]
    ]
    lines = ["| Line | Key | What |", "|---|---|---|", *rows, ""]
    lines.append("Merged like this, the last good configuration stays in force.")
    return "\n".join(lines)


def people_summary() -> str:
    """Of `baron/scope`, where no agent had a hand in it."""
    return (
        "No commit is signed by an agent (`Agent: dede` in its last lines), and the service did"
        " not open this pull request. Nothing was held against the scopes."
    )


def too_large_summary() -> str:
    """Of `baron/scope`, where GitHub does not list all of it."""
    return (
        "GitHub lists 3,000 files and 250 commits of a pull request, and this one has more, or more"
        " than 100 commits by several hands. Split it: what cannot be seen cannot be let through."
    )


def scope_title(judged: Judged, paths: int) -> str:
    """One line."""
    if judged.flaws:
        return "The scope file cannot be read, so nothing is in anybody's scope"
    count = len({one.path for one in judged.trespasses})
    if not count:
        return "1 path, in scope" if paths == 1 else f"{paths} paths, all in scope"
    return f"{count} of {paths} paths outside the scope of {'its' if count == 1 else 'their'} agent"


def scope_summary(judged: Judged, *, own: bool) -> str:
    """The summary of `baron/scope`; `own` says whether the base branch has a scope file."""
    file = "`.github/AGENT_SCOPES` of the base branch" if own else "the scopes that come with it"
    lines = [f"Held against {file}.", ""]
    if judged.flaws:
        lines += ["| Line | What |", "|---|---|"]
        lines += [f"| {flaw.line} | {cell(flaw.reason, 300)} |" for flaw in judged.flaws[:100]]
        return "\n".join([*lines, "", "Correct these lines on the base branch."])
    if not judged.trespasses:
        return "\n".join(lines).rstrip()
    lines += ["| Path | Agent | Whose it is | Rule |", "|---|---|---|---|"]
    lines += [
        f"| {_code(one.path)} | {_agent(one.agent)} | {_owners(one.owners)} | {_rule(one.line)} |"
        for one in judged.trespasses[:200]
    ]
    more = len(judged.trespasses) - 200
    lines += ["", f"… and {more} more."] if more > 0 else []
    lines += ["", "Take these changes out, or have whoever they belong to make them."]
    return "\n".join(lines)


def trespass(one: Trespass) -> str:
    """The annotation on a path: rule, line, owner."""
    owners = " ".join(one.owners) or "nobody"
    rule = f"line {one.line} gives it to {owners}" if one.line else "no line names it"
    return f"{one.why}: {rule}. Take the change out, or have {owners} make it."


def _code(path: str) -> str:
    return f"`{one_line(visible(path), 200).replace('`', chr(39)).replace('|', chr(0x2502))}`"


def _agent(name: str) -> str:
    return f"`@{name}`" if name else "—"


def _owners(owners: Sequence[str]) -> str:
    return " ".join(_code(owner) for owner in owners) or "nobody"


def _rule(line: int | None) -> str:
    return f"line {line}" if line else "none"
