"""Who might know: the roster's descriptions against a question whose topic names nobody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.agents.retrieval import Embed
from app.questions.model import Candidate

LEAST = 0.08
"""Cosine below which a description has nothing to do with the question."""
_SHARED = 0.08
"""What each word counts that both have."""
_WORD = re.compile(r"[a-z]{4,}")
_COMMON = frozenset(
    "what which when where should would could does have with this that from they their there"
    " about into than then will been every question decision".split()
)


@dataclass(frozen=True, slots=True)
class Described:
    """A knowledge role, its persona, and what it says that it knows."""

    role: str
    handle: str
    description: str


class Suggester:
    """Compares by words and by meaning."""

    def __init__(self, roles: Mapping[str, Described], embed: Embed) -> None:
        self._roles = tuple(roles.values())
        self._embed = embed

    def suggest(self, topic: str, text: str) -> tuple[Candidate, ...]:
        """At most two roles, the likelier first, each with the reason; blocks for milliseconds."""
        if not self._roles:
            return ()
        question = f"{topic.replace('.', ' ')}: {text}"[:2000]
        vectors = self._embed([question, *(role.description for role in self._roles)])
        close = vectors[1:] @ vectors[0]
        scored = []
        for role, fit in zip(self._roles, np.asarray(close).tolist(), strict=True):
            shared = sorted(_words(question) & _words(role.description))
            score = fit + _SHARED * len(shared)
            if score >= LEAST:
                scored.append((score, Candidate(role.role, role.handle, _because(shared, fit))))
        scored.sort(key=lambda pair: -pair[0])
        return tuple(candidate for _, candidate in scored[:2])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON


def _because(shared: list[str], fit: float) -> str:
    if shared:
        return f"its description has {', '.join(shared[:4])} ({fit:.0%} alike)"
    return f"its description is {fit:.0%} alike"
