"""The marker `needs`: skipped without the part, failed where every test has to run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from tests import conftest


def _item(*parts: str) -> pytest.Item:
    markers = [pytest.mark.needs(*parts).mark]
    return cast(pytest.Item, SimpleNamespace(iter_markers=lambda name: markers, nodeid="a test"))


@pytest.fixture(autouse=True)
def _parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(conftest.PARTS, "here", lambda: True)
    monkeypatch.setitem(conftest.PARTS, "gone", lambda: False)
    monkeypatch.delenv("KR_REQUIRE_ALL", raising=False)


def test_a_part_that_is_here_changes_nothing() -> None:
    conftest.pytest_runtest_setup(_item("here"))


def test_a_missing_part_skips() -> None:
    with pytest.raises(pytest.skip.Exception, match="missing on this machine: gone"):
        conftest.pytest_runtest_setup(_item("here", "gone"))


def test_a_missing_part_fails_where_everything_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KR_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="KR_REQUIRE_ALL=1"):
        conftest.pytest_runtest_setup(_item("gone"))


def test_an_unknown_part_is_a_mistake() -> None:
    with pytest.raises(pytest.UsageError, match=r"'chronium'; known parts: .*chromium"):
        conftest.pytest_collection_modifyitems([_item("chronium")])
