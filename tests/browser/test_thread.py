"""What a person does in a real browser: label, read, confirm, correct, add context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.recovery.town import REPO, Town, until

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with Town(Path(tmp_path_factory.mktemp("town"))) as made:
        yield made


def say(page: Page, text: str) -> None:
    """Type into the comment box and send it."""
    box = page.locator("textarea[name=body]").last
    box.fill(text)
    page.get_by_role("button", name="Comment", exact=True).click()


def test_a_person_settles_a_feature_in_the_browser(town: Town, page: Page) -> None:
    mara = town.client.as_user("mara")
    body = "They should find them in their account and download each."
    number = int(mara.open_issue(REPO, "Let customers download their invoices", body)["number"])
    page.goto(f"{town.github}/{REPO}/issues/{number}")
    mara.label(REPO, number, "feature")
    expect(page.get_by_text("project manager").first).to_be_visible()
    expect(page.get_by_text("is asked").first).to_be_visible()
    until(lambda: town.waits_for_people(number), 20, "nobody is asked")
    page.reload()
    text = page.inner_text("body")
    assert "Sources" in text
    assert "<!--" not in text
    names = [fields["question"] for fields in town.escalated(number)]
    say(page, f"/confirm {names[0]}")
    until(
        lambda: names[0] not in {f["question"] for f in town.escalated(number)}, 20, "not confirmed"
    )
    expect(page.get_by_text("confirmed by mara").first).to_be_visible()
    for name in names[1:]:
        say(page, f"/correct {name} As the plan says.")
        until(lambda n=name: n not in {f["question"] for f in town.escalated(number)}, 20, name)
    until(lambda: town.done(number), 30, "no specification")
    branch = f"{number:03d}-let-customers-download-their"
    page.goto(f"{town.github}/{REPO}/blob/{branch}/specs/{branch}/spec.md")
    expect(page.get_by_text("Feature Specification").first).to_be_visible()


def test_the_overview_of_the_service(town: Town, page: Page) -> None:
    page.goto(town.service)
    expect(page.get_by_text("Processes")).to_be_visible()
    expect(page.get_by_text("outbox").first).to_be_visible()
