"""What a person sees of it in a real browser: `/go`, the tasks, the pull request, the merge."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_thread import say
from tests.flows.building import TASKS, by_shell, configured, pull_of, specified, wait_ready
from tests.recovery.town import REPO, Town, until

pytestmark = [
    pytest.mark.needs("chromium", "git", "landlock", "bubblewrap"),
]
WORK = """
if grep -q 'Write failing tests'; then
    echo 'def test_export(): assert True' > tests/test_export.py
else
    mkdir -p src/storefront
    printf 'def export():\\n    breakpoint()\\n' > src/storefront/export.py
    echo 'replicas: 9' > k8s/evil.yaml || true
fi
echo done
"""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("pull-page")
    configs = configured(folder, qa=by_shell(WORK), developer=by_shell(WORK))
    with Town(folder / "town", env={"KR_CONFIG_DIR": str(configs)}) as made:
        yield made


def test_from_go_to_the_merge_in_the_browser(town: Town, page: Page) -> None:
    number = specified(town, TASKS)
    page.goto(f"{town.github}/{REPO}/issues/{number}")
    say(page, "/go")
    pull = wait_ready(town, number)
    here = f"{town.github}/{REPO}/pull/{pull['number']}"

    page.goto(here)
    expect(page.get_by_text(f"Closes #{number}").first).to_be_visible()
    expect(page.get_by_text("Decisions", exact=True).first).to_be_visible()
    until(lambda: "halts the program" in _text(page, here), 30, "the review says nothing")
    assert "<!--" not in page.inner_text("body")

    commits = _text(page, f"{here}/commits")
    assert "T001 Write failing tests" in commits
    assert "T002 Implement the export" in commits

    until(lambda: "baron/review" in _text(page, f"{here}/checks"), 30, "no review")
    checks = _text(page, f"{here}/checks")
    assert "baron/scope" in checks
    assert "all in scope" in checks

    page.goto(here)
    page.get_by_role("button", name="Merge pull request").click()
    until(lambda: (pull_of(town, number) or {}).get("merged_at"), 20, "not merged")
    until(lambda: "the pull request was merged" in town.status(number), 20, "not told")
    issue = f"{town.github}/{REPO}/issues/{number}"
    until(lambda: "added the label baron:done" in _text(page, issue), 20, "no label")


def _text(page: Page, url: str) -> str:
    page.goto(url)
    return " ".join(page.inner_text("body").split())
