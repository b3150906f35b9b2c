"""From label to merged: @marie and @dede are real Claude Code processes behind both walls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents.scripted import ScriptedModel, Seen
from tests.flows.building import (
    KEY,
    acting,
    branch_of,
    by_claude,
    checked,
    commits,
    configured,
    entries,
    go,
    specified,
    text_at,
    wait_ready,
)
from tests.recovery.town import REPO, Town, until

pytestmark = [
    pytest.mark.needs("claude", "git", "landlock", "bubblewrap"),
    pytest.mark.xdist_group("building"),
]

TEST = "def test_export():\\n    assert True\\n"
CODE = "def export():\\n    return ''\\n"


def work(seen: Seen) -> tuple[str, ...]:
    if "You are @marie" in seen.system:
        return (f'printf "{TEST}" > tests/test_export.py',)
    return (f'printf "{CODE}" > src/storefront/export.py',)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(script=acting(work)) as model:
        yield model


@pytest.fixture(scope="module")
def town(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("building")
    configs = configured(folder, qa=by_claude(), developer=by_claude(), devops=by_claude())
    env = {
        "KR_CONFIG_DIR": str(configs),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": model.url,
    }
    with Town(folder / "town", env=env) as town:
        yield town


def test_from_label_to_merged(town: Town, model: ScriptedModel) -> None:
    number = specified(town)
    go(town, number)
    pull = wait_ready(town, number)
    branch = branch_of(town, number)
    assert "def export" in str(text_at(town, "src/storefront/export.py", branch))
    assert "def test_export" in str(text_at(town, "tests/test_export.py", branch))
    by = [message for message in commits(town, number) if "Task: " in message]
    assert ["Agent: marie" in by[0], "Agent: dede" in by[1]] == [True, True]
    assert len(by) == 2
    assert checked(town, number, "baron/scope")["conclusion"] == "success"
    assert checked(town, number, "baron/review")["conclusion"] == "success"
    assert f"Closes #{number}" in pull["body"]

    merge = f"/repos/{REPO}/pulls/{pull['number']}/merge"
    town.client.as_user("mara").call("PUT", merge, json={})
    until(lambda: "the pull request was merged" in town.status(number), 30, town.status(number))
    town.nothing_twice(number)
    assert [one.data["task"] for one in entries(town, number, "task.ran")] == ["T001", "T002"]
