"""What a tool is, and how it treats text that others wrote."""

from __future__ import annotations

import re
from typing import Protocol

from app.questions.model import Answer, Inquiry
from app.texts.safe import cut, visible

_GAP = re.compile(r"<(?=\s*/?\s*gap\b)", re.IGNORECASE)


class Tool(Protocol):
    """Answers questions without a person and without a model that writes."""

    name: str

    async def answer(self, inquiry: Inquiry, repo: str) -> Answer:
        """Answer one question asked in `owner/name`. Raises `AgentUnavailable`."""
        ...


def foreign(text: str, limit: int) -> str:
    """Text of others for an answer: nothing invisible, at most `limit` characters.

    What a tool finds becomes part of an answer, and answers are searched for `<gap>` blocks: a
    page or a file must not be able to put questions of its own.
    """
    return cut(_GAP.sub("‹", visible(text)).strip(), limit)


def nothing(tool: str, reason: str, looked_in: tuple[str, ...]) -> Answer:
    """The answer of a tool that looked and found nothing: confidence 0, and why."""
    return Answer(
        content="Nothing was found that answers this.",
        rationale=reason,
        confidence=0,
        uncertainty_reasons=(reason,),
        agent=f"tool/{tool}",
        backend=tool,
        looked_in=looked_in,
    )
