"""From label to merged: @marie and @dede are real Claude Code processes behind both walls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents.scripted import Scene, ScriptedModel, Seen, hangs
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
]

TEST = "def test_export():\\n    assert True\\n"
CODE = "def export():\\n    return ''\\n"


def work(seen: Seen) -> tuple[str, ...]:
    if "You are @marie" in seen.system:
        return (f'printf "{TEST}" > tests/test_export.py',)
    return (f'printf "{CODE}" > src/storefront/export.py',)


def words(seen: Seen) -> Scene:
    """Whatever is slow never ends by itself."""
    return hangs() if "src/storefront/slow.py" in seen.said else acting(work)(seen)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(script=words) as model:
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


@pytest.fixture(scope="module")
def built(town: Town) -> int:
    """A feature whose tasks are done."""
    number = specified(town)
    go(town, number)
    wait_ready(town, number)
    return number


def test_from_label_to_merged(town: Town, built: int) -> None:
    number, pull = built, wait_ready(town, built)
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


def test_a_task_that_is_stopped_ends_at_once_and_the_rest_goes_on(
    town: Town, model: ScriptedModel
) -> None:
    slow = (
        "# Tasks\n\n- [ ] T001 Write `src/storefront/slow.py`\n"
        "- [ ] T002 Write `src/storefront/export.py`\n"
    )
    number = specified(town, slow)
    go(town, number)
    until(lambda: "T001" in town.status(number) and "at work" in town.status(number), 30, "idle")
    until(lambda: any("slow.py" in seen.said for seen in model.requests), 60, "nobody was asked")
    town.client.as_user("mara").comment(REPO, number, "/stop T001 It takes too long.")
    pull = wait_ready(town, number)
    assert "mara gave it up" in town.status(number)
    assert [one.data["task"] for one in entries(town, number, "task.ran")] == ["T002"]
    assert "- [ ] T001" in pull["body"]


@pytest.mark.usefixtures("built")
def test_what_the_agents_were_told_and_what_it_cost(model: ScriptedModel) -> None:
    """FR-019 and FR-023 on the wire: dede knows his task, its tests, and no other task."""
    by = [seen for seen in model.requests if "You are @dede" in seen.system]
    assert by
    for seen in by:
        assert seen.body["model"].startswith("claude-sonnet")
        assert KEY not in str(seen.body)
        assert "T003 Review everything" not in seen.said
    assert any("tests/test_export.py" in seen.said for seen in by)
