"""What a runner is told: annotations, the step's summary, outputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.actions import Note, ShowCheck
from app.texts.safe import one_line, visible

_MOST = 50
"""Annotations; a runner shows no more of a job."""


def report(check: ShowCheck | None, env: Mapping[str, str]) -> None:
    """Write all of it; without a check there was nothing to look at."""
    if check is None:
        print("Nothing to check here.")
        _append(env.get("GITHUB_OUTPUT"), "conclusion=success\ntitle=Nothing to check here\n")
        return
    title = one_line(visible(check.title), 200)
    print(f"{check.name}: {title}")
    for note in check.notes[:_MOST]:
        print(_annotation(note))
    _append(env.get("GITHUB_STEP_SUMMARY"), f"## {check.name}: {title}\n\n{check.summary}\n")
    _append(env.get("GITHUB_OUTPUT"), f"conclusion={check.conclusion}\ntitle={title}\n")


def _annotation(note: Note) -> str:
    """A workflow command; nothing in a path or a message begins another one."""
    path = _escaped(note.path).replace(":", "%3A").replace(",", "%2C")
    return f"::error file={path},line={note.line}::{_escaped(note.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
