"""`/context [Q] text`: the agent is asked again, knowing more (specs/1, US3.3)."""

from __future__ import annotations

from dataclasses import replace

from app.commands import Context
from app.events import Commented
from app.features.model import Added, Question
from app.handlers.asking import ask_agent
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
from app.texts import replies
from app.texts.safe import visible


def context(turn: Turn, command: Context, event: Commented) -> Outcome:
    """Append what the person knows, and ask the original agent again.

    Where no agent was asked, the context is shown to whoever decides.
    """
    question = find(turn, "context", command.question, waits_for_a_person)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("context", question)
    if not waits_for_a_person(question):
        return refusal("context", replies.not_waiting(question))
    login = event.sender.login
    text = visible(command.text).strip()
    turn.record(
        "human",
        f"@{login}",
        question,
        action="add_context",
        text=text,
        tentative=question.tentative.content if question.tentative else None,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    question = turn.question(question.number) or question
    question = turn.put(replace(question, added=(*question.added, Added(login, text)), tried=()))
    role = _original_agent(question)
    if role is not None:
        ask_agent(turn, question, role)
    return DONE


def _original_agent(question: Question) -> str | None:
    if question.ask_role is None or question.routed is None:
        return None
    return question.routed.answerer.removeprefix("agent/")
