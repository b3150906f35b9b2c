"""Who might answer a question of no clear topic: shown to whoever decides (specs/1, Edge Cases)."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action
from app.events import AgentsSuggested
from app.features.model import FeatureState
from app.handlers.drawing import draw
from app.handlers.escalating import BARON
from app.handlers.facts import Facts
from app.handlers.turn import Turn


def suggested(event: AgentsSuggested, facts: Facts) -> list[Action]:
    """Keep the two best; a person chooses with `/route`."""
    feature = facts.feature
    if feature is None or feature.state is FeatureState.GONE:
        return []
    turn = Turn(facts, feature)
    question = turn.question(event.question)
    if question is None or not event.candidates or question.ended:
        return []
    best = event.candidates[:2]
    turn.record(
        "candidates", BARON, question, candidates=[[one.handle, one.because] for one in best]
    )
    question = turn.question(question.number) or question
    turn.put(replace(question, candidates=best))
    draw(turn)
    return turn.actions()
