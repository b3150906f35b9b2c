"""`/ask topic "question"`: anybody who may use it has a question routed (specs/2, Commands)."""

from __future__ import annotations

from app.commands import Ask
from app.events import Commented
from app.features.model import FULL, FeatureState, Question, global_id
from app.handlers.facts import Permission
from app.handlers.outcome import DONE, Outcome, refusal
from app.handlers.turn import Turn
from app.texts import replies
from app.texts.safe import visible

OPEN_AT_MOST = 20
"""Questions that one person may have open on one issue."""
OF_OUTSIDERS = 3
"""The same for an author without rights: anybody may open an issue, and people are asked."""


def may_ask(turn: Turn, event: Commented) -> bool:
    """The issue's author, and triage and above."""
    by_author = event.sender.login.lower() == event.issue.author.lower()
    return by_author or turn.facts.permission >= Permission.TRIAGE


def ask(turn: Turn, command: Ask, event: Commented) -> Outcome:
    """Create the question; `advance` asks it."""
    if not may_ask(turn, event):
        return refusal("ask", replies.may_not("the issue's author and people who may triage here"))
    if turn.feature.state is FeatureState.STOPPED:
        return refusal("ask", replies.paused(turn.feature))
    login = event.sender.login
    if len(turn.questions) >= FULL:
        return refusal("ask", replies.issue_is_full(FULL))
    theirs = [q for q in turn.questions if q.asker == login and not q.ended]
    most = OPEN_AT_MOST if turn.facts.permission >= Permission.TRIAGE else OF_OUTSIDERS
    if len(theirs) >= most:
        return refusal("ask", replies.too_many_open(most))
    if not turn.feature.run:
        turn.update(author=event.issue.author, title=visible(event.issue.title))
    number = max((question.number for question in turn.questions), default=0) + 1
    question = turn.put(
        Question(
            number=number,
            gid=global_id(turn.feature.id, number),
            topic=command.topic,
            text=visible(command.text).strip(),
            asker=login,
        )
    )
    turn.record(
        "question",
        f"@{login}",
        question,
        id=question.gid,
        topic=question.topic,
        target=None,
        text=question.text,
        comment=event.comment_id,
    )
    return DONE
