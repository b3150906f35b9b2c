"""`/chat [Q]`: talk with @baron about one question (specs/1, US3.4)."""

from __future__ import annotations

from dataclasses import replace

from app.commands import Chat
from app.events import Commented
from app.handlers import chatting
from app.handlers.outcome import (
    Outcome,
    find,
    may_settle,
    not_allowed,
    refusal,
    waits_for_a_person,
)
from app.handlers.turn import Turn
from app.texts import chat as texts
from app.texts import replies


def chat(turn: Turn, command: Chat, event: Commented) -> Outcome:
    """Open the conversation; one at a time for each person."""
    question = find(turn, "chat", command.question, waits_for_a_person)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("chat", question)
    if not question.waits_for_a_person:
        return refusal("chat", replies.not_waiting(question))
    login = event.sender.login
    if question.chat_with and question.chat_with != login:
        return refusal("chat", replies.talks_already(question))
    if chatting.partner(turn, question) is None:
        return refusal("chat", texts.nobody_to_talk_to(question))
    if len(question.chat) >= chatting.LONGEST:
        return refusal("chat", texts.said_enough(question, chatting.LONGEST))
    for other in turn.questions:
        if other.chat_with == login and other.number != question.number:
            turn.put(replace(other, chat_with=""))
    turn.record("chat.opened", f"@{login}", question, comment=event.comment_id)
    question = turn.question(question.number) or question
    question = turn.put(replace(question, chat_with=login))
    if command.text.strip():
        chatting.say(turn, question, login, command.text, event.comment_id)
    return Outcome(texts.opened(question), changed=True)
