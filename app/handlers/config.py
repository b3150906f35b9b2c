"""`/config`: what is in force here, and where each part of it was written."""

from __future__ import annotations

from app.handlers.facts import Facts
from app.handlers.outcome import Outcome


def config(facts: Facts) -> Outcome:
    return Outcome(facts.policy.explained or "The server's defaults are in force.")
