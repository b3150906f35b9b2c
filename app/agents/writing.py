"""@baron's documents from a model: a draft made by machine, turned into something worth reading.

What does not have the form of the document, or has lost an answer, is asked for again, at most
twice; then the draft is the document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.actions import WriteDocuments
from app.agents.fences import Fence
from app.agents.prompting import Prompts
from app.agents.protocols import (
    NOBODY,
    Account,
    AgentUnavailable,
    Malformed,
    Model,
    Request,
)
from app.events import Written
from app.texts.safe import cut

DRAFT = 120_000
REQUEST = 30_000
ANSWERS = 60_000
ANSWER = 4_000
"""Characters: of the draft, the request, all answers together, and one of them."""
LONGEST_DRAFT = 40_000
"""Characters; what is longer does not fit into an answer."""
TOKENS = 16_000
"""Tokens of a document."""
TRIES = 3

Problems = Callable[[str], tuple[str, ...]]
"""What is wrong with a document's form, each a sentence that says what to do."""


class Document(BaseModel):
    """The whole document."""

    model_config = ConfigDict(extra="ignore")

    text: Annotated[str, Field(min_length=1, max_length=250_000)] = Field(
        description="The document in Markdown, from its title to its end"
    )


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of document is: its problems, and rules for whoever writes it."""

    problems: Problems
    rules: tuple[str, ...] = ()


class ModelWriter:
    """Writes documents of the known forms, by file name."""

    def __init__(
        self,
        model: Model,
        prompts: Prompts,
        forms: Mapping[str, Form],
        usual: str | None = None,
        seconds: float = 300.0,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._forms = forms
        self._usual = usual
        self._seconds = seconds

    async def write(self, wanted: WriteDocuments, account: Account = NOBODY) -> list[Written]:
        """All documents, side by side; the draft where the model cannot write one."""
        return list(
            await asyncio.gather(
                *(self._one_or_draft(wanted, name, text, account) for name, text in wanted.drafts)
            )
        )

    async def _one_or_draft(
        self, wanted: WriteDocuments, name: str, draft: str, account: Account
    ) -> Written:
        try:
            return await self._one(wanted, name, draft, account)
        except AgentUnavailable as error:
            return Written(name, draft, error=str(error))

    async def _one(
        self, wanted: WriteDocuments, name: str, draft: str, account: Account
    ) -> Written:
        if len(draft) > LONGEST_DRAFT:
            raise AgentUnavailable(f"the draft of {name} is too long for a model to write it anew")
        form = self._forms[name]
        problems: tuple[str, ...] = ()
        for _ in range(TRIES):
            prompt = self._prompts.render(
                "document", {"name": name, "rules": form.rules}, _user(wanted, draft, problems)
            )
            done = await self._model.complete(
                Request(prompt, Document, self._usual, account, self._seconds, TOKENS)
            )
            text = _unwrapped(done.value.text)
            problems = (*form.problems(text), *_lost(wanted, draft, text))[:12]
            if not problems:
                return Written(name, text, done.model, prompt.version)
        raise Malformed(f"{name} did not have its form: {problems[0]}")


def _user(wanted: WriteDocuments, draft: str, problems: Sequence[str]) -> dict[str, object]:
    fence = Fence()
    answers = "\n\n".join(
        f"{name}: {cut(question, 600)}\n{cut(answer, ANSWER)}\n({who})"
        for name, question, answer, who in wanted.answers
    )
    request = f"{wanted.request.title}\n\n{wanted.request.body}"
    return {
        "request": fence.data("request", request, REQUEST),
        "answers": fence.data("answers", answers or "None: nothing was open.", ANSWERS),
        "draft": fence.data("draft", draft, DRAFT),
        "problems": [cut(problem, 300) for problem in problems],
    }


def _unwrapped(text: str) -> str:
    """Without the code fence that models like to put around a whole document."""
    lines = text.strip().splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "\n".join(lines).strip() + "\n"


def _lost(wanted: WriteDocuments, draft: str, text: str) -> list[str]:
    """Every settled answer must still be named: the document is built on them."""
    names = [name for name, *_ in wanted.answers if f"({name})" in draft]
    return [
        f"no line names ({name}) any more; say where that answer went"
        for name in names
        if f"({name})" not in text and f"{name}:" not in text
    ]
