"""What a backend and a question generator are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.features.types import FeatureRequest
from app.questions.model import Answer, Draft, Inquiry


class AgentUnavailable(Exception):
    """The agent timed out, crashed or cannot be reached; the text says which, for the log."""


class Backend(Protocol):
    """Answers questions for a role: a handbook, a model, a program."""

    async def ask(self, inquiry: Inquiry) -> Answer:
        """Answer one question. Raises `AgentUnavailable`."""
        ...


class QuestionGenerator(Protocol):
    """@baron's way of finding what an issue leaves open."""

    async def generate(self, request: FeatureRequest, limit: int) -> Sequence[Draft]:
        """At most `limit` questions, most worth asking first; none that the issue answers.

        Raises `AgentUnavailable`.
        """
        ...
