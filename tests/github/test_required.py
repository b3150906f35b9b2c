"""Which checks a branch requires, as far as GitHub lets us see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.github.client import GitHubError, repository_with_token
from app.github.required import required_checks
from tests.github.conftest import Work
from tests.playground.conftest import REPO, Running

Run = Callable[[Work], Any]
HIDDEN = GitHubError("403 Resource not accessible by integration", 403)
POLICY = {"contexts": ["ci"], "checks": [{"context": "ci", "app_id": None}]}


def ask(github: Run, branch: str = "main") -> Any:
    return github(lambda client, _: required_checks(client, branch))


def test_rules_and_classic_protection_count_both(playground: Running, github: Run) -> None:
    assert ask(github) == frozenset()
    playground.client.require_checks(REPO, "main", ["baron/scope"])
    assert ask(github) == {"baron/scope"}
    playground.client.require_checks(REPO, "main", ["ci", "baron/review"], "classic")
    assert ask(github) == {"baron/scope", "ci", "baron/review"}
    playground.client.require_checks(REPO, "main", [])
    assert ask(github) == {"ci", "baron/review"}


def test_a_branch_of_which_nothing_is_known(playground: Running, github: Run) -> None:
    assert ask(github, "nowhere") == frozenset()
    playground.client.require_checks(REPO, "release/1", ["ci"])
    assert ask(github, "release/1") == {"ci"}


def test_an_administrator_sees_it_at_once(playground: Running) -> None:
    playground.client.require_checks(REPO, "main", ["ci"], "classic")

    async def run(login: str) -> Any:
        client = repository_with_token(playground.api, f"ghp_{login}", REPO)
        return await required_checks(client, "main")

    assert asyncio.run(run("ada")) == {"ci"}
    assert asyncio.run(run("mara")) == {"ci"}


class FakeClient:
    """Answers, or refuses, by the end of the path."""

    def __init__(self, rules: Any, classic: Any, branch: Any) -> None:
        self._answers = {"rules": rules, "classic": classic, "branch": branch}

    async def pages(self, path: str) -> Any:
        return self._give("rules")

    async def call(self, method: str, path: str) -> Any:
        return self._give("classic" if path.endswith("status_checks") else "branch")

    def _give(self, name: str) -> Any:
        answer = self._answers[name]
        if isinstance(answer, Exception):
            raise answer
        return answer


def branch(**protection: Any) -> dict[str, Any]:
    return {"protected": True, "protection": {"enabled": True, **protection}}


@pytest.mark.parametrize(
    ("rules", "classic", "shown", "names"),
    [
        (HIDDEN, POLICY, None, None),
        ([], HIDDEN, HIDDEN, None),
        ([], HIDDEN, branch(), None),
        ([], HIDDEN, branch(required_status_checks=POLICY), {"ci"}),
        ([], HIDDEN, {"protected": False}, set()),
        ([], HIDDEN, branch(enabled=False), set()),
        ([], GitHubError("404 Not Found", 404), branch(), None),
        ([], GitHubError("404 Branch not protected", 404), branch(), set()),
        (GitHubError("404 Not Found", 404), {"contexts": ["old"]}, None, {"old"}),
        ([{"type": "deletion"}], POLICY, None, {"ci"}),
    ],
)
def test_what_is_hidden_is_not_said_to_be_nothing(
    rules: Any, classic: Any, shown: Any, names: set[str] | None
) -> None:
    client: Any = FakeClient(rules, classic, shown)
    assert asyncio.run(required_checks(client, "main")) == names


@pytest.mark.parametrize(
    "error",
    [
        GitHubError("502", 502),
        GitHubError("no answer"),
        GitHubError("403 secondary rate limit", 403, {"retry-after": "60"}),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_trouble_is_not_taken_for_an_answer(error: GitHubError, place: int) -> None:
    answers: list[Any] = [[], POLICY, None]
    answers[place] = error
    client: Any = FakeClient(*answers)
    with pytest.raises(GitHubError):
        asyncio.run(required_checks(client, "main"))
