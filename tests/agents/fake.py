"""A model that says what a test tells it to, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from app.agents.protocols import AgentUnavailable, Completion, Malformed, Request, T
from app.questions.model import Cost


class SaidModel:
    """Replies in turn; an exception is raised, a dict has to fit the form."""

    name = "said"

    def __init__(self, *replies: dict[str, Any] | AgentUnavailable) -> None:
        self._replies: Sequence[dict[str, Any] | AgentUnavailable] = replies
        self.asked: list[Request[Any]] = []

    async def complete(self, request: Request[T]) -> Completion[T]:
        reply = self._replies[min(len(self.asked), len(self._replies) - 1)]
        self.asked.append(request)
        if isinstance(reply, AgentUnavailable):
            raise reply
        try:
            value = request.shape.model_validate(reply)
        except ValidationError as error:
            raise Malformed(str(error)) from None
        return Completion(value, "said-1", Cost(0.01, 100, 10, 1))
