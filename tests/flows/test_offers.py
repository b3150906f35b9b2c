"""Without an execution backend: tasks are offered to people, and their pushes end them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.building import (
    ISSUE,
    TASKS,
    branch_of,
    checked,
    entries,
    go,
    pull_of,
    remove,
    specified,
    text_at,
    wait_ready,
    write,
)
from tests.flows.test_conversation import labels, replies, say
from tests.recovery.test_kills import settle
from tests.recovery.town import REPO, Town, until

pytestmark = [pytest.mark.needs("git")]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """One of its own: these features are merged, and main is another one then."""
    with Town(Path(tmp_path_factory.mktemp("offers")) / "town") as made:
        yield made


def offers(town: Town, number: int) -> str:
    return "\n".join(f["comment"]["body"] for f in town.ours(number) if ":ask:" in f["key"])


def test_tasks_are_offered_with_branch_scope_and_criteria_and_a_push_ends_them(
    town: Town,
) -> None:
    number = specified(town, TASKS)
    branch = branch_of(town, number)
    go(town, number)
    until(lambda: "T001" in offers(town, number), 20, "no offer")
    assert f"branch `{branch}`" in offers(town, number)
    assert "Scope: `tests/test_export.py`" in offers(town, number)
    assert "Acceptance criteria" in offers(town, number)
    until(lambda: "baron:building" in labels(town, number), 15, "no label")
    until(lambda: pull_of(town, number), 20, "no pull request")
    assert (pull_of(town, number) or {})["draft"]

    write(town, branch, "tests/test_export.py", "def test_export():\n    assert True\n")
    until(lambda: "T002" in offers(town, number), 20, "the push ended nothing")
    say(town, number, "/assign T002 @rosa")
    until(lambda: "@rosa, this is yours" in offers(town, number), 20, "rosa was not asked")
    write(town, branch, "src/storefront/export.py", "def export():\n    return ''\n")
    assert "❌" not in town.status(number)
    say(town, number, "/assign T002 @mara")
    write(town, branch, "src/storefront/export.py", "def export():\n    return '1'\n")
    pull = wait_ready(town, number, 30)
    until(lambda: "baron:review" in labels(town, number), 15, "no label")
    assert checked(town, number, "baron/scope")["conclusion"] == "success"
    assert checked(town, number, "baron/review")["conclusion"] == "success"
    until(lambda: "✅" in town.status(number) or "[x] T003" in town.status(number), 20, "open")

    mara = town.client.as_user("mara")
    mara.call("PUT", f"/repos/{REPO}/pulls/{pull['number']}/merge", json={})
    until(lambda: "baron:done" in labels(town, number), 20, town.status(number))
    until(lambda: town.client.issue(REPO, number)["state"] == "closed", 10, "still open")


def test_a_correction_names_what_rested_on_it(town: Town) -> None:
    number = specified(town, TASKS.replace("test_export.py`", "test_export.py` (Q1)"))
    go(town, number)
    until(lambda: "T001" in offers(town, number), 20, "no offer")
    before = len(entries(town, number, "written"))
    say(town, number, "/correct Q1 Something else altogether.")
    said = until(lambda: [r for r in replies(town, number) if "On Q1 rested" in r], 15, "no reply")
    assert "`spec.md` line" in said[0]
    assert "T001" in said[0]
    said_already: set[str] = set()

    def written_again() -> bool:
        for fields in town.escalated(number):  # what rested on it is asked again
            if fields["question"] not in said_already:
                said_already.add(fields["question"])
                say(town, number, f"/correct {fields['question']} As the plan says.")
        return len(entries(town, number, "written")) > before

    until(written_again, 40, "not written again")
    branch = branch_of(town, number)
    assert "Something else altogether." in str(text_at(town, f"specs/{branch}/spec.md", branch))
    kept = str(text_at(town, f"specs/{branch}/tasks.md", branch))
    assert kept.startswith("# Tasks: export")  # what people made of it is not written over


def test_the_repositorys_own_templates_are_filled(town: Town) -> None:
    template = "# Tasks: [FEATURE NAME]\n\n## House rules\n\nKeep it small.\n\n## Phase 1: x\n"
    own = ".specify/templates/tasks-template.md"
    write(town, "main", own, template)
    number = town.open(*ISSUE)
    settle(town, number)
    remove(town, "main", own)
    branch = branch_of(town, number)
    tasks = str(text_at(town, f"specs/{branch}/tasks.md", branch))
    assert "## House rules\n\nKeep it small." in tasks
    assert "- [ ] T001" in tasks
    assert "T001" in town.status(number)


def test_plan_tasks_and_mistakes(town: Town) -> None:
    number = specified(town, TASKS)
    say(town, number, "/plan")
    say(town, number, "/tasks")
    until(lambda: any("The plan" in reply for reply in replies(town, number)), 10, "no plan")
    until(lambda: any("@marie" in reply for reply in replies(town, number)), 10, "no table")
    say(town, number, "/go", by="sol", wait="confused")
    say(town, number, "/assign T099 @rosa", wait="confused")
    say(town, number, "/retry T001", wait="confused")
    until(lambda: any("`/go` begins" in one for one in replies(town, number)), 10, "no reason")
