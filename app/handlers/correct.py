"""`/correct [Q] text`: a person gives the answer (specs/1, US3.2)."""

from __future__ import annotations

import re

from app.commands import Correct
from app.events import Commented
from app.handlers.asking import settle
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
from app.texts.safe import visible

_LETTER = re.compile(r"[A-Za-z][.):]?")


def correct(turn: Turn, command: Correct, event: Commented) -> Outcome:
    """Settle with the person's answer; a letter stands for its option."""
    question = find(turn, "correct", command.question, waits_for_a_person)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("correct", question)
    if not (waits_for_a_person(question) or question.settled):
        return refusal("correct", replies.not_waiting(question))
    answer = visible(command.text).strip()
    if _LETTER.fullmatch(answer) and question.choices:
        choice = question.choice(answer)
        if choice is None:
            return refusal("correct", replies.no_such_option(question, answer[0].upper()))
        answer = f"{choice.letter}: {choice.text}"
    tentative = question.tentative
    turn.record(
        "human",
        f"@{event.sender.login}",
        question,
        action="correct",
        text=answer,
        before=question.answer or None,
        tentative=tentative.content if tentative else None,
        tentative_by=tentative.agent if tentative else None,
        confidence=tentative.confidence if tentative else None,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    question = turn.question(question.number) or question
    login = event.sender.login
    settle(
        turn,
        question,
        QuestionState.CORRECTED,
        answer=answer,
        source=f"@{login}",
        by=login,
    )
    return DONE
