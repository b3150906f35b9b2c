"""Start reading here: `handle(event, facts)` decides what is done about an event. Pure."""

from __future__ import annotations

from typing import assert_never

from app.actions import Action
from app.events import (
    AgentAnswered,
    AgentsSuggested,
    AllowanceEnded,
    ClockStruck,
    Closed,
    Commented,
    DocumentsWritten,
    EffectFailed,
    Event,
    FilesCommitted,
    Labeled,
    Notified,
    PullChanged,
    PullClosed,
    PullJudged,
    PullShown,
    Pushed,
    QuestionAsked,
    QuestionsGenerated,
    Reopened,
    Reviewed,
    TaskLanded,
    TaskRan,
    ToPeople,
    Unlabeled,
    Vanished,
)
from app.handlers import (
    answers,
    clock,
    comments,
    lifecycle,
    outlets,
    proposals,
    pulls,
    requests,
    reviewing,
    start,
    suggestions,
    tasking,
    writing,
)
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
        case PullChanged():
            return pulls.changed(event, facts)
        case PullClosed():
            return proposals.closed(event, facts)
        case Pushed():
            return tasking.pushed(event, facts)
        case QuestionsGenerated():
            return start.generated(event, facts)
        case AgentAnswered():
            return answers.answered(event, facts)
        case AgentsSuggested():
            return suggestions.suggested(event, facts)
        case QuestionAsked():
            return requests.asked(event, facts)
        case ToPeople():
            return requests.to_people(event, facts)
        case ClockStruck():
            return clock.struck(event, facts)
        case Notified():
            return outlets.notified(event, facts)
        case DocumentsWritten():
            return writing.documents(event, facts)
        case FilesCommitted():
            return writing.committed(event, facts)
        case TaskRan():
            return tasking.ran(event, facts)
        case TaskLanded():
            return tasking.landed(event, facts)
        case PullShown():
            return proposals.shown(event, facts)
        case PullJudged():
            return pulls.judged(event, facts)
        case AllowanceEnded():
            return pulls.ended(event, facts)
        case Reviewed():
            return reviewing.reviewed(event, facts)
        case EffectFailed():
            return writing.failed(event, facts)
        case _:
            assert_never(event)
