"""The tools there are, and how long each may take."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.protocols import AgentUnavailable
from app.questions.model import Answer, Inquiry
from app.tools.protocols import Tool

logger = logging.getLogger(__name__)

TOOLS = ("code-search", "docs", "web-search")
"""The names that a route may use after `tool/`."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Has tools answer; every way of failing is `AgentUnavailable` with a reason."""

    tools: Mapping[str, tuple[Tool, float]]
    """Name → the tool, and the seconds it may take."""

    @property
    def names(self) -> tuple[str, ...]:
        """In alphabetical order."""
        return tuple(sorted(self.tools))

    async def answer(self, name: str, inquiry: Inquiry, repo: str) -> Answer:
        """Have `docs` (or `tool/docs`) answer within its time. Raises `AgentUnavailable`."""
        found = self.tools.get(name.removeprefix("tool/"))
        if found is None:
            there_are = ", ".join(self.names) or "none"
            raise AgentUnavailable(f"there is no tool {name[:100]!r}; there are: {there_are}")
        tool, seconds = found
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await tool.answer(inquiry, repo)
        except AgentUnavailable:
            raise
        except Exception as error:
            if limit.expired():
                raise AgentUnavailable(f"no answer within {seconds:g} seconds") from None
            logger.exception("the tool %s failed on a question in %s", tool.name, repo)
            raise AgentUnavailable(repr(error)[:500]) from error
