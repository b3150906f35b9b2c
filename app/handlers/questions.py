"""`/questions [status|Q]`: what was asked here."""

from __future__ import annotations

from app.commands import Questions
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
    return Outcome(replies.questions_reply(turn.questions, command.status or "pending"))
