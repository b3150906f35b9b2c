"""What a review looks at, and what it finds (specs/1, US5.5)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from app.features.tasks import Task
from app.scopes.pulls import Trespass


class Severity(StrEnum):
    """How much a finding weighs; only a blocking one fails the check."""

    BLOCKING = "blocking"
    IMPORTANT = "important"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Changed:
    """A file of a pull request, as GitHub lists it."""

    path: str
    status: str = "modified"
    """`added`, `removed`, `modified`, `renamed`, `copied`, `changed` or `unchanged`."""
    old_path: str = ""
    patch: str | None = None
    """Unified diff without its head; None for a binary file, a very large one, or no change."""
    added: int = 0
    deleted: int = 0
    size: int | None = None
    """Bytes at the head; None if nobody asked."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A commit, and the tasks that its trailers name (`Task: T003`)."""

    sha: str
    agents: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """All that a review needs to know; documents are None where the branch has none."""

    files: tuple[Changed, ...]
    commits: tuple[Signed, ...] = ()
    trespasses: tuple[Trespass, ...] = ()
    """What `baron/scope` objects to."""
    tasks: tuple[Task, ...] | None = None
    spec: str | None = None
    spec_path: str = ""
    tasks_path: str = ""
    draft: bool = False
    """Tasks are still being worked on: an open one is no fault yet."""
    complete: bool = True
    """False where the pull request is larger than GitHub shows."""
    judged: bool = True
    """False where GitHub does not tell enough to say whose each change is."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to be said. `line` counts in the new file; None means the file, or all of it."""

    rule: str
    """Short name: `secret`, `scope`, `untested` …; `model` for what a model says."""
    severity: Severity
    message: str
    """What is wrong, one sentence."""
    reason: str
    """Why it matters."""
    path: str = ""
    line: int | None = None
    excerpt: str = ""
    """The line's text without its surroundings, so that a line that moved is the same finding."""
    suggestion: str | None = None
    """What the line had better be; None where it is not that simple."""
    by: str = ""
    """The model that says so; empty for a rule."""

    @property
    def key(self) -> str:
        """Sixteen hex digits that stay while the matter stays."""
        about = self.excerpt.strip() or ("" if self.rule != "model" else self.message)
        said = "\x00".join((self.rule, self.path, about))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
