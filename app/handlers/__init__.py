"""Start reading here: `handle(event, facts)` decides what is done about an event. Pure."""

from __future__ import annotations

from typing import assert_never

from app.actions import Action
from app.events import (
    AgentAnswered,
    Closed,
    Commented,
    EffectFailed,
    Event,
    FilesCommitted,
    Labeled,
    QuestionsGenerated,
    Reopened,
    Unlabeled,
    Vanished,
)
from app.handlers import answers, comments, lifecycle, start, writing
from app.handlers.facts import Facts


def handle(event: Event, facts: Facts) -> list[Action]:
    """What to do about `event`, given `facts`. Nothing is done here."""
    match event:
        case Labeled():
            return start.labeled(event, facts)
        case Unlabeled():
            return lifecycle.unlabeled(event, facts)
        case Closed():
            return lifecycle.closed(event, facts)
        case Reopened():
            return lifecycle.reopened(event, facts)
        case Vanished():
            return lifecycle.vanished(event, facts)
        case Commented():
            return comments.commented(event, facts)
        case QuestionsGenerated():
            return start.generated(event, facts)
        case AgentAnswered():
            return answers.answered(event, facts)
        case FilesCommitted():
            return writing.committed(event, facts)
        case EffectFailed():
            return writing.failed(event, facts)
        case _:
            assert_never(event)
