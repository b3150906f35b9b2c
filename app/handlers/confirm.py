"""`/confirm [Q]`: the tentative answer is right (specs/1, US3.1)."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.commands import Confirm
from app.events import Commented
from app.features.model import Question
from app.handlers.asking import BARON, settle
from app.handlers.outcome import (
    DONE,
    Outcome,
    find,
    may_settle,
    not_allowed,
    refusal,
    waits_for_a_person,
)
from app.handlers.turn import Turn
from app.questions.model import QuestionState
from app.texts import replies

SLACK = timedelta(seconds=5)
"""How far our clock and GitHub's may be apart."""


def _older_than_what_it_confirms(question: Question, event: Commented) -> bool:
    """A comment that comes late must not confirm an answer that its writer never saw."""
    if not event.at or not question.changed_at:
        return False
    try:
        written = datetime.fromisoformat(event.at.replace("Z", "+00:00"))
    except ValueError:
        return False
    if written.tzinfo is None:
        return False
    return written + SLACK < datetime.fromisoformat(question.changed_at)


def confirm(turn: Turn, command: Confirm, event: Commented) -> Outcome:
    """Settle with the agent's answer, or with @baron's recommendation where no agent was asked."""
    question = find(turn, "confirm", command.question, waits_for_a_person)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("confirm", question)
    if not waits_for_a_person(question):
        return refusal("confirm", replies.not_waiting(question))
    if _older_than_what_it_confirms(question, event):
        return refusal("confirm", replies.stale(question))
    choice = question.choice(question.recommended)
    if question.tentative is not None:
        answer, source = question.tentative.content, question.tentative.agent
    elif choice is not None:
        answer, source = f"{choice.letter}: {choice.text}", BARON
    else:
        return refusal("confirm", replies.nothing_to_confirm(question))
    if question.others and question.tentative is not None and command.question is None:
        return refusal("confirm", replies.say_which_answer(question))
    turn.record(
        "human",
        f"@{event.sender.login}",
        question,
        action="confirm",
        text=command.text,
        tentative=answer,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    question = turn.question(question.number) or question
    settle(
        turn,
        question,
        QuestionState.CONFIRMED,
        answer=answer,
        source=source,
        by=event.sender.login,
    )
    return DONE
