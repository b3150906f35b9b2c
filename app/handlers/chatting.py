"""A conversation with @baron about one question only (specs/1, US3.4, FR-012)."""

from __future__ import annotations

from dataclasses import replace

from app.actions import AskAgent, ShowComment
from app.events import AgentAnswered
from app.features.model import Added, Question
from app.handlers import gaps
from app.handlers.asking import inquiry
from app.handlers.clocks import stamp
from app.handlers.escalating import BARON
from app.handlers.spending import count, logged
from app.handlers.turn import Turn
from app.questions.model import Answer
from app.texts import chat as texts
from app.texts.safe import visible

LEAST = 60
"""Confidence from which an answer in a conversation may become the proposed one."""
LONGEST = 40
"""Turns of one conversation; whoever needs more needs a meeting."""


def partner(turn: Turn, question: Question) -> str | None:
    """The role that @baron has answer: the question's own, else the first of the feature's."""
    role = question.ask_role or ""
    if role and not role.startswith("tool/"):
        return role
    roles = (*turn.feature.spec.knowledge, "architect")
    return next((role for role in roles if role in turn.facts.policy.handles), None)


def say(turn: Turn, question: Question, who: str, text: str, comment: int) -> None:
    """A person's turn: log it, and have it answered."""
    text = visible(text).strip()
    turn.record("chat", f"@{who}", question, text=text, comment=comment)
    question = turn.question(question.number) or question
    question = turn.put(replace(question, chat=(*question.chat, Added(who, text))))
    role, number = partner(turn, question), len(question.chat)
    if role is None:
        return
    wanted = inquiry(turn, question, role)
    said = tuple(one.text for one in question.chat if one.by == who)
    turn.do(
        AskAgent(
            key=f"f{turn.feature.id}:{question.name}:chat:{number}",
            feature_id=turn.feature.id,
            question=question.number,
            ask_round=question.ask_round,
            inquiry=replace(wanted, added_context=(*wanted.added_context, *said)),
            repo=turn.place.repo,
            installation=turn.place.installation,
            chat=number,
            person=who,
            model=role not in turn.facts.policy.without_model,
        )
    )


def answered(turn: Turn, question: Question, event: AgentAnswered) -> None:
    """@baron's turn: one reply; a surer answer becomes the one that `/confirm` takes."""
    if not question.chat_with:
        return  # ended meanwhile
    handle = turn.facts.policy.handles.get(event.role, f"@{event.role}")
    answer = replace(event.answer, agent=handle) if event.answer else None
    if answer is not None:
        answer = gaps.take_out(turn, question, answer)
        question = turn.question(question.number) or question
    count(turn, event.spending)
    turn.record(
        "chat",
        BARON,
        question,
        cost=logged(event.spending.cost),
        text=answer.content if answer else "",
        agent=handle,
        confidence=answer.confidence if answer else None,
        error=event.error or None,
    )
    question = turn.question(question.number) or question
    better = answer is not None and _surer(answer, question.tentative)
    said = Added(BARON, answer.content if answer else "")
    question = turn.put(
        replace(
            question,
            chat=(*question.chat, said),
            tentative=answer if better else question.tentative,
            changed_at=stamp(turn.facts.now) if better else question.changed_at,
        )
    )
    key = f"f{turn.feature.id}:{question.name}:chat:{event.chat}:reply"
    body = texts.chat_reply(turn.feature, question, answer, takes=better, key=key)
    turn.do(ShowComment(key, turn.feature.id, turn.place, body))


def _surer(answer: Answer, before: Answer | None) -> bool:
    """Whether `/confirm` is to take this one; a guess does not take a recommendation's place."""
    least = LEAST if before is None else before.confidence
    return answer.confidence >= least
