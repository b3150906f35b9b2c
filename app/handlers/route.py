"""`/route Q @agent`: somebody else is to answer; counts as a correction of the routing."""

from __future__ import annotations

from dataclasses import replace

from app.commands import Route
from app.events import Commented
from app.handlers.asking import ask
from app.handlers.outcome import DONE, Outcome, find, may_settle, not_allowed, refusal
from app.handlers.turn import Turn
from app.questions.model import Answer, QuestionState
from app.texts import replies


def route(turn: Turn, command: Route, event: Commented) -> Outcome:
    """Ask that agent or tool; what was answered before is kept and compared."""
    question = find(turn, "route", command.question, lambda question: True)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("route", question)
    if question.state is QuestionState.CANCELLED:
        return refusal("route", replies.not_waiting(question))
    policy, name = turn.facts.policy, command.agent.removeprefix("@")
    is_tool = name.startswith("tool/") and name.removeprefix("tool/") in policy.tools
    answerer = name if is_tool else policy.routes.answerer(name)
    if answerer is None or not answerer.startswith(("agent/", "tool/")):
        known = sorted({*policy.handles.values(), *(f"tool/{tool}" for tool in policy.tools)})
        return refusal("route", replies.no_such_agent(command.agent, known))
    login = event.sender.login
    before = question.routed.answerer if question.routed else None
    turn.record(
        "human",
        f"@{login}",
        question,
        action="route",
        to=answerer,
        before=before,
        text=command.text,
        counts_as="correction",
        comment=event.comment_id,
        permission=turn.facts.permission.name.lower(),
    )
    question = turn.question(question.number) or question
    others = question.others
    if question.tentative is not None:
        others = (*others, question.tentative)
    elif question.settled:
        others = (*others, Answer(question.answer, "", 100, agent=question.source))
    question = turn.put(
        replace(
            question,
            rerouted=answerer,
            rerouted_by=login,
            others=others,
            tentative=None,
            shown=True,
            rung=0,
        )
    )
    ask(turn, question)
    return DONE
