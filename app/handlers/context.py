"""`/context [Q] text`: the agent is asked again, knowing more (specs/1, US3.3)."""

from __future__ import annotations

from dataclasses import replace

from app.commands import Context
from app.events import Commented
from app.features.model import Added, Question
from app.handlers.answers import to_a_person
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

    Where no agent was asked, the context is shown to whoever decides. On a settled question it
    reopens it, and what rests on it if the answer turns out otherwise.
    """
    question = find(turn, "context", command.question, waits_for_a_person)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("context", question)
    if not (question.waits_for_a_person or question.settled):
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
        reopens=question.settled or None,
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    settled = question.settled
    question = turn.question(question.number) or question
    question = turn.put(
        replace(
            question,
            added=(*question.added, Added(login, text)),
            tried=(),
            rung=0,
            others=(),
            since_round=question.ask_round + 1,
            shown=True,
        )
    )
    role = _original_agent(question)
    if role is not None:
        ask_agent(turn, question, role)
    elif settled:
        to_a_person(turn, question, f"{login} knows more than was known when it was settled")
    return DONE


def _original_agent(question: Question) -> str | None:
    """Who was asked first; people in the rule's place are not asked by machine."""
    if question.ask_role is None or question.routed is None:
        return None
    first = question.routed.answerer
    if first.startswith(("agent/", "tool/")):
        return first.removeprefix("agent/")
    return question.ask_role
