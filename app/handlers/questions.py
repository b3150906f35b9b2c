"""`/questions [status|Q]`: what was asked here."""

from __future__ import annotations

from datetime import datetime

from app.commands import Questions
from app.features.model import Question
from app.handlers.outcome import Outcome, refusal
from app.handlers.turn import Turn
from app.texts import replies


def questions(turn: Turn, command: Questions) -> Outcome:
    """A table of the questions with a status (pending ones by default), or one in full."""
    if command.question is not None:
        for question in turn.questions:
            if command.question.number == question.number or command.question.gid == question.gid:
                return Outcome(replies.question_reply(question))
        return refusal("questions", replies.no_such_question(str(command.question), turn.questions))
    shown = [question for question in turn.questions if not _old(turn, question)]
    return Outcome(replies.questions_reply(shown, command.status or "pending"))


def _old(turn: Turn, question: Question) -> bool:
    """Settled so long ago that the list leaves it out; open ones never are."""
    if not question.settled or not question.settled_at:
        return False
    return datetime.fromisoformat(question.settled_at) + turn.facts.policy.keep < turn.facts.now
