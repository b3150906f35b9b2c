"""Topics: dot-separated names in lower case, `security.tokens.refresh`.

A topic comes from people and from models, so nothing is taken for granted. One that cannot be
read has no levels at all: only `**`, which matches any topic, can match it.
"""

from __future__ import annotations

import re

MAX_LENGTH = 200

UNKNOWN = "unknown topic"
"""The note on a question that nothing could place."""

_TOPIC = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)*")


def normalise(topic: str) -> str | None:
    """The topic in lower case without blanks around it, or None if it is not a topic."""
    if len(topic) > MAX_LENGTH:
        return None
    lowered = topic.strip().lower()
    return lowered if _TOPIC.fullmatch(lowered) else None


def levels(topic: str | None) -> tuple[str, ...]:
    """The levels of a normalised topic; none for a topic that could not be read."""
    return tuple(topic.split(".")) if topic else ()


def shown(topic: str) -> str:
    """How a topic is shown: as it is matched, or as it came (one short line) if unreadable."""
    return normalise(topic) or " ".join(topic[: MAX_LENGTH * 2].split())[:MAX_LENGTH]
