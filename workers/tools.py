"""The tools of `app.tools`, with what they need of the database and of GitHub."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.agents.handbook import Handbook
from app.agents.protocols import AgentUnavailable
from app.agents.retrieval import Embed
from app.deps import Deps
from app.features.model import Place
from app.github.client import AppClient, GitHubError
from app.store import threads
from app.tools.code_search import CodeSearch, Hit, Search
from app.tools.docs import Docs, Settled
from app.tools.protocols import Tool
from app.tools.registry import Registry
from app.tools.web_search import WebSearch

_SECONDS = {"docs": 30.0, "code-search": 20.0, "web-search": 20.0}
_FRAGMENT = 1000


def build_tools(deps: Deps) -> Callable[[Mapping[str, Handbook], Embed], Registry]:
    """Makes the registry, once the handbooks and the model are there."""

    def build(handbooks: Mapping[str, Handbook], embed: Embed) -> Registry:
        settings = deps.settings
        tools: dict[str, Tool] = {
            "docs": Docs(handbooks, embed, _settled(deps)),
            "code-search": CodeSearch(_search(AppClient(settings))),
            "web-search": WebSearch(settings.web_search_url, settings.web_search_key),
        }
        return Registry({name: (tool, _SECONDS[name]) for name, tool in tools.items()})

    return build


def _settled(deps: Deps) -> Callable[[str], Sequence[Settled]]:
    def settled(repo: str) -> list[Settled]:
        with deps.engine.connect() as connection:
            found = threads.settled_in(connection, repo)
        return [
            Settled(
                question=question.text,
                answer=question.answer,
                by=question.source,
                validated=question.validated_by == "human",
                ref=f"{feature} {question.name}",
            )
            for feature, question in found
        ]

    return settled


def _search(app: AppClient) -> Search:
    async def search(repo: str, words: str) -> list[Hit]:
        try:
            client = await app.repository(Place(0, 0, repo, 0))
            found = await client.search_code(words)
        except GitHubError as error:
            raise AgentUnavailable(f"the code cannot be searched: {error}") from error
        return [
            Hit(
                str(item.get("path", "")),
                str(item.get("html_url", "")),
                "\n".join(str(one.get("fragment", "")) for one in item.get("text_matches", []))[
                    :_FRAGMENT
                ],
            )
            for item in found
        ]

    return search
