"""What the check runs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.scopes.pulls import Allowance, Judged, Trespass
from app.texts.safe import cell, code, harmless, one_line, visible

LIMIT = 60_000
"""Characters of a summary; GitHub takes 65,535."""


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


def unreadable_summary(why: str) -> str:
    """Of `baron/scope`, where neither GitHub nor git shows all of it."""
    return (
        "GitHub lists 3,000 files and 250 commits of a pull request, and this one has more, or more"
        f" than 100 commits by several hands. From git it could not be read: {one_line(why, 300)}."
        " Split it: what cannot be seen cannot be let through."
    )


def undecided_summary() -> str:
    """Of `baron/scope`, after errors of our own."""
    return (
        "Something went wrong inside; the operator finds it in the log of the service. A push, or"
        " closing and reopening the pull request, has it judged again."
    )


def scope_title(judged: Judged, paths: int) -> str:
    """One line."""
    if judged.flaws:
        return "The scope file cannot be read, so nothing is in anybody's scope"
    count = len({one.path for one in judged.trespasses})
    if not count:
        return "1 path, in scope" if paths == 1 else f"{paths} paths, all in scope"
    return f"{count} of {paths} paths outside the scope of {'its' if count == 1 else 'their'} agent"


def scope_summary(judged: Judged, *, own: bool, allowed: Sequence[Allowance] = ()) -> str:
    """The summary of `baron/scope`; `own` says whether the base branch has a scope file."""
    file = "`.github/AGENT_SCOPES` of the base branch" if own else "the scopes that come with it"
    lines = [f"Held against {file}.", ""]
    if judged.flaws:
        lines += ["| Line | What |", "|---|---|"]
        lines += [f"| {flaw.line} | {cell(flaw.reason, 300)} |" for flaw in judged.flaws[:100]]
        return "\n".join([*lines, "", "Correct these lines on the base branch."])
    lines += _allowances(allowed)
    if not judged.trespasses:
        return _bounded([*lines, "All else is in scope."]) if allowed else "\n".join(lines).rstrip()
    lines += ["| Path | Agent | Whose it is | Rule |", "|---|---|---|---|"]
    lines += [
        f"| {code(one.path)} | {_agent(one.agent)} | {_owners(one.owners)} | {_rule(one.line)} |"
        for one in judged.trespasses[:200]
    ]
    more = len(judged.trespasses) - 200
    lines += ["", f"… and {more} more."] if more > 0 else []
    lines += [
        "",
        "Take these changes out, or have whoever they belong to make them. An owner of a path (by"
        " CODEOWNERS, else whoever may maintain here) lets this commit change it with"
        " `/allow path reason`.",
    ]
    return _bounded(lines)


def _bounded(lines: list[str]) -> str:
    """GitHub refuses a longer one, and a check that never reports would block for ever."""
    kept: list[str] = []
    left = LIMIT - len(lines[-1]) - 100
    for line in lines[:-1]:
        left -= len(line) + 1
        if left < 0:
            kept += ["", "… and more; the annotations name them."]
            break
        kept.append(line)
    return "\n".join([*kept, "", lines[-1]])


def _allowances(allowed: Sequence[Allowance]) -> list[str]:
    if not allowed:
        return []
    rows = [
        f"| {code(one.path)} | {cell(one.by)} | {cell(harmless(one.reason, 300))} | {one.until} |"
        for one in allowed[:100]
    ]
    return ["Allowed for this commit:", "", "| Path | By | Why | Until |", "|---|---|---|---|",
            *rows, ""]  # fmt: skip


def trespass(one: Trespass, may_allow: Sequence[str] = ()) -> str:
    """The annotation on a path: rule, line, owner, and who may allow it."""
    owners = " ".join(one.owners) or "nobody"
    rule = f"line {one.line} gives it to {owners}" if one.line else "no line names it"
    who = " or ".join(may_allow) or "Whoever may maintain here"
    return (
        f"{one.why}: {rule}. Take the change out, or have {owners} make it."
        f" {who} can let this commit change it: /allow {one_line(visible(one.path), 200)} <reason>"
    )


def allowed(one: Allowance, head: str) -> str:
    """The answer to `/allow`."""
    return (
        f"👍 {code(one.path)} may be changed by commit `{head[:10]}`, until {one.until}."
        " A new push asks again."
    )


def not_yours(path: str, owners: Sequence[str]) -> str:
    who = ", ".join(owner.lstrip("@") for owner in owners) or "people who may maintain here"
    return f"that is for an owner of {code(path)}: {who}."


def not_outside(path: str, outside: Sequence[str]) -> str:
    if not outside:
        return f"{code(path)} needs no leave: nothing here is out of scope."
    named = ", ".join(code(one) for one in outside[:8])
    return f"{code(path)} is not what is out of scope here; that is {named}."


def _agent(name: str) -> str:
    return f"`@{name}`" if name else "—"


def _owners(owners: Sequence[str]) -> str:
    return " ".join(code(owner) for owner in owners) or "nobody"


def _rule(line: int | None) -> str:
    return f"line {line}" if line else "none"
