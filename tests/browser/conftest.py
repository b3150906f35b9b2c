"""A real browser, in front of the town of each file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.recovery.town import Town

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000


@pytest.fixture
def page(town: Town) -> Iterator[Page]:
    """A browser page, acting as the maintainer."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(found for name in names if (found := shutil.which(name)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 1600})
        context.add_cookies([{"name": "playground_user", "value": "mara", "url": town.github}])
        made = context.new_page()
        made.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield made
        browser.close()
