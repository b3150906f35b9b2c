"""`/correct [Q] text` and `/answer Q text`: a person gives the answer (specs/1, US3.2; specs/2)."""

from __future__ import annotations

import re
from dataclasses import replace

from app.commands import Answer, Correct
from app.events import Commented
from app.features.model import Added, Question
from app.handlers.asking import settle
from app.handlers.outcome import (
    Outcome,
    find,
    may_settle,
    not_allowed,
    refusal,
    waits_for_a_person,
)
from app.handlers.reopening import resting_on
from app.handlers.turn import Turn
from app.questions.model import QuestionState
from app.texts import replies
from app.texts.rests import rests_reply
from app.texts.safe import visible

_LETTER = re.compile(r"[A-Za-z][.):]?")


def correct(turn: Turn, command: Correct | Answer, event: Commented) -> Outcome:
    """Settle with the person's answer; a letter stands for its option.

    While an agent is at work the answer waits until that one is through, so that the log has both.
    """
    question = find(turn, command.name, command.question, waits_for_a_person)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed(command.name, question)
    if question.state is QuestionState.CANCELLED:
        return refusal(command.name, replies.not_waiting(question))
    answer = visible(command.text).strip()
    if _LETTER.fullmatch(answer) and question.choices:
        choice = question.choice(answer)
        if choice is None:
            return refusal(command.name, replies.no_such_option(question, answer[0].upper()))
        answer = f"{choice.letter}: {choice.text}"
    if question.state is QuestionState.ASKING:
        return _queue(turn, question, answer, event)
    _record(turn, question, "correct", answer, event)
    question = turn.question(question.number) or question
    login = event.sender.login
    changed = question.answer and question.answer != answer
    said = rests_reply(question.name, resting_on(turn, question.name)) if changed else ""
    settle(turn, question, QuestionState.CORRECTED, answer=answer, source=f"@{login}", by=login)
    return Outcome(said, changed=True)


def _record(turn: Turn, question: Question, action: str, answer: str, event: Commented) -> None:
    tentative = question.tentative
    turn.record(
        "human",
        f"@{event.sender.login}",
        question,
        action=action,
        text=answer,
        before=question.answer or None,
        tentative=tentative.content if tentative else None,
        tentative_by=tentative.agent if tentative else None,
        confidence=tentative.confidence if tentative else None,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )


def _queue(turn: Turn, question: Question, answer: str, event: Commented) -> Outcome:
    login = event.sender.login
    _record(turn, question, "correct", answer, event)
    question = turn.question(question.number) or question
    turn.put(replace(question, queued=Added(login, answer)))
    return Outcome(replies.queued(question), changed=True)
