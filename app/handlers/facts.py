"""What a handler may know: loaded before it decides, never asked for while it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Protocol

from app.features.model import Feature, Question
from app.questions.model import Routed


class Permission(IntEnum):
    """What somebody may do in a repository, in GitHub's order."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class Routes(Protocol):
    """Decides who answers: `app.questions.routing.Router`."""

    def route(self, topic: str, target: str | None = None) -> Routed:
        """By precedence: override, route, suggested target, default."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What the configuration says about this repository."""

    routes: Routes
    handles: Mapping[str, str]
    """Role → handle with its `@`: `{"architect": "@duc"}`."""
    question_limit: int = 6
    comments: str = "all"
    """`all`, `outcomes` (no comment for a single question) or `none` (only the status)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """`permission` is the sender's; `next_seq` the number of the next log entry."""

    now: datetime
    policy: Policy
    bot: str = "baron[bot]"
    permission: Permission = Permission.NONE
    feature: Feature | None = None
    questions: tuple[Question, ...] = field(default_factory=tuple)
    next_seq: int = 1
