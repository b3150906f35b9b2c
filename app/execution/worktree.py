"""What a task is given to work in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.execution.git import Place
from app.execution.repository import Mirror


@dataclass(slots=True)
class Worktree:
    """The files of a commit, for one task. Whoever works in it needs and gets no git."""

    repo: str
    path: Path
    """Where the files are."""
    branch: str
    base: str
    """The commit that was checked out, and that all changes are judged against."""
    head: str
    """The last commit on the task's branch; the base until there is one."""
    mirror: Mirror
    index: str = ""
    """A hash of git's index as we have left it; empty where we have not."""

    @property
    def place(self) -> Place:
        """Where git finds it: never by what is written in the worktree."""
        return Place(self.mirror.path / "worktrees" / self.path.name, self.path)
