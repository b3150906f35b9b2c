"""What a runner is told: annotations, the step's summary, outputs.

Paths, lines and whatever a model says are data: none of it begins a command of the runner's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.actions import Note, ShowCheck
from app.texts.safe import harmless, one_line, visible

_MOST = 50
"""Annotations; a runner shows no more of a job."""
_LONGEST = 1000

Level = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a mode came to."""

    check: ShowCheck | None = None
    """None where there was nothing to look at."""
    found: int = 0
    notes: tuple[str, ...] = ()
    """What people should know of how it went."""
    failed: bool = False
    """GitHub did not take what was to be written; the check stands all the same."""


def report(verdict: Verdict, env: Mapping[str, str], secrets: Collection[str] = ()) -> None:
    """Write all of it, and none of the `secrets`."""
    check = verdict.check
    for note in verdict.notes:
        say("warning", note, secrets)
    if check is None:
        print("Nothing to check here.")
        _outputs(env, "success", "Nothing to check here", 0)
        return
    title = one_line(without(check.title, secrets), 200)
    print(_plain(f"{check.name}: {title}"))
    level: Level = "error" if check.conclusion == "failure" else "warning"
    for one in check.notes[:_MOST]:
        print(_annotation(one, level, secrets))
    summary = [f"## {check.name}: {title}", check.summary]
    summary += [f"> {harmless(one_line(note, _LONGEST), 2 * _LONGEST)}" for note in verdict.notes]
    text = without("\n\n".join(summary), secrets)
    _append(env.get("GITHUB_STEP_SUMMARY"), f"{text}\n")
    _outputs(env, str(check.conclusion), title, verdict.found)


def say(level: Level, text: str, secrets: Collection[str] = ()) -> None:
    """A sentence that belongs to no line."""
    print(f"::{level}::{_escaped(one_line(without(text, secrets), _LONGEST))}")


def _annotation(note: Note, level: Level, secrets: Collection[str]) -> str:
    """A workflow command; nothing in a path or a message begins another one."""
    path = _escaped(without(note.path, secrets)).replace(":", "%3A").replace(",", "%2C")
    message = _escaped(visible(without(note.message, secrets)))
    return f"::{level} file={path},line={note.line}::{message}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _plain(text: str) -> str:
    """The runner's older form of commands counts anywhere in a line."""
    return text.replace("##[", "## [")


def without(text: str, secrets: Collection[str]) -> str:
    """The text with stars in the place of the secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _outputs(env: Mapping[str, str], conclusion: str, title: str, found: int) -> None:
    said: Sequence[str] = (f"conclusion={conclusion}", f"title={title}", f"found={found}")
    _append(env.get("GITHUB_OUTPUT"), "".join(f"{one}\n" for one in said))


def _append(path: str | None, text: str) -> None:
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:  # the check stands all the same
        say("warning", f"{Path(path).name} cannot be written: {error.strerror}")
