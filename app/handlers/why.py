"""`/why Q`: the whole chain, from the log."""

from __future__ import annotations

from app.commands import Why
from app.handlers.outcome import Outcome, named
from app.handlers.turn import Turn
from app.texts.why import why_text


def why(turn: Turn, command: Why) -> Outcome:
    """Rule, agent, sources, confidence, threshold, times, cost."""
    question = named(turn, "why", command.question)
    if isinstance(question, Outcome):
        return question
    lines = [line for line in turn.facts.lines if line.question == question.name]
    return Outcome(why_text(question, lines))
