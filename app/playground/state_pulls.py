"""What the playground remembers of pull requests: reviews, comments on lines, check runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from app.playground.state import Json, Reaction, User, now, shown_from, visible


@dataclass
class Review:
    """A review of a pull request; `state` as GitHub writes it, in capitals."""

    id: int
    user: User
    state: str
    body: str
    commit: str
    submitted: datetime = field(default_factory=now)


@dataclass(eq=False)
class ReviewComment:
    """A comment on a line of a pull request. Each is equal only to itself."""

    id: int
    user: User
    body: str
    path: str
    line: int | None
    commit: str
    review_id: int
    side: str = "RIGHT"
    reply_to: int | None = None
    resolved: bool = False
    """Of a thread, so of its first comment."""
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)
    reactions: list[Reaction] = field(default_factory=list)
    visible_from: float = field(default_factory=shown_from)


@dataclass
class Pull:
    """What makes an issue a pull request; both branches are in its own repository."""

    id: int
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool = False
    merged: datetime | None = None
    merged_by: User | None = None
    merge_sha: str | None = None
    reviews: list[Review] = field(default_factory=list)
    comments: list[ReviewComment] = field(default_factory=list)

    def threads(self) -> dict[ReviewComment, list[ReviewComment]]:
        """The first comment of each thread, the oldest first, with the replies to it."""
        seen = visible(self.comments)
        return {
            first: [reply for reply in seen if reply.reply_to == first.id]
            for first in seen
            if first.reply_to is None
        }


@dataclass
class CheckRun:
    """A check run on a commit."""

    id: int
    suite: int
    name: str
    head_sha: str
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    details_url: str | None = None
    started: datetime = field(default_factory=now)
    completed: datetime | None = None
    output: Json = field(default_factory=dict)
    annotations: list[Json] = field(default_factory=list)
    visible_from: float = field(default_factory=shown_from)
