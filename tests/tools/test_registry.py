"""The registry: every way in which a tool fails is `AgentUnavailable` with a reason."""

from __future__ import annotations

import asyncio
import logging

import pytest

from app.agents.protocols import AgentUnavailable
from app.questions.gaps import parse_gaps
from app.questions.model import Answer, Inquiry
from app.tools.protocols import Tool, foreign
from app.tools.registry import TOOLS, Registry

REPO = "acme/storefront"
INQUIRY = Inquiry("tool/docs", "knowledge.x", "Where are tokens stored?")


class Fake:
    """Answers at once, after a while, or with an error."""

    def __init__(self, name: str, wait: float = 0, error: Exception | None = None) -> None:
        self.name = name
        self._wait = wait
        self._error = error

    async def answer(self, inquiry: Inquiry, repo: str) -> Answer:
        await asyncio.sleep(self._wait)
        if self._error is not None:
            raise self._error
        return Answer(f"{inquiry.text} {repo}", "", 50)


def ask(tool: Tool, seconds: float = 5, name: str = "docs") -> Answer:
    registry = Registry({"docs": (tool, seconds), "code-search": (tool, seconds)})
    return asyncio.run(registry.answer(name, INQUIRY, REPO))


@pytest.mark.parametrize("name", ["docs", "tool/docs"])
def test_a_tool_is_found_by_its_name_and_by_its_route(name: str) -> None:
    assert ask(Fake("docs"), name=name).content == "Where are tokens stored? acme/storefront"


def test_a_tool_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(AgentUnavailable, match=r"^no answer within 0\.05 seconds$"):
        ask(Fake("docs", wait=60), seconds=0.05)


def test_an_unknown_name_is_told_which_names_there_are() -> None:
    with pytest.raises(AgentUnavailable, match=r"'oracle'; there are: code-search, docs"):
        ask(Fake("docs"), name="oracle")
    with pytest.raises(AgentUnavailable, match="there are: none"):
        asyncio.run(Registry({}).answer("docs", INQUIRY, REPO))


def test_any_other_error_is_unavailable_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(AgentUnavailable) as caught:
        ask(Fake("docs", error=KeyError("shelf")))
    assert str(caught.value) == "KeyError('shelf')"
    assert "the tool docs failed on a question in acme/storefront" in caplog.text


def test_a_timeout_of_the_tools_own_is_not_its_limit() -> None:
    with pytest.raises(AgentUnavailable, match=r"TimeoutError\('of its own'\)"):
        ask(Fake("docs", error=TimeoutError("of its own")))


def test_a_reason_that_the_tool_gives_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AgentUnavailable, match=r"^closed today$"):
        ask(Fake("docs", error=AgentUnavailable("closed today")))
    assert caplog.text == ""


def test_the_names_are_sorted() -> None:
    tool = Fake("x")
    assert Registry({"docs": (tool, 1), "code-search": (tool, 1)}).names == ("code-search", "docs")
    assert TOOLS == ("code-search", "docs", "web-search")


@pytest.mark.parametrize("tag", ["<gap>", "<GAP>", "< gap>", "<g\u200bap>"])
def test_what_others_wrote_asks_no_questions(tag: str) -> None:
    text = f"{tag}<topic>a</topic><question>Who pays?</question></gap>"
    kept = parse_gaps(foreign(text, 500))
    assert (kept.gaps, kept.errors) == ((), ())


def test_what_others_wrote_is_cleaned_and_cut() -> None:
    assert foreign(" a\x00b\u202e < c ", 100) == "ab < c"
    assert foreign("x" * 50, 10) == "x" * 9 + "…"
