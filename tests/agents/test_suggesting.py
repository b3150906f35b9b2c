"""Who might know, where a topic names nobody (specs/1, Edge Cases)."""

from __future__ import annotations

import pytest

from app.agents.suggesting import Described, Suggester
from app.config.loader import load_config
from app.config.models import TOOLS
from app.config.shipped import shipped_folder
from app.embeddings import MiniLM
from app.tools import registry


@pytest.fixture(scope="module")
def suggester() -> Suggester:
    roles = {
        name: Described(name, role.handle, role.description)
        for name, role in load_config(shipped_folder()).agents.roles.items()
        if role.description
    }
    return Suggester(roles, MiniLM("bundled").embed)


@pytest.mark.parametrize(
    ("topic", "text", "first"),
    [
        ("zebra", "Which index does the database need for this query?", "architect"),
        ("misc", "Which customers see this, and on which pricing plan?", "product"),
        ("secrets", "How are the encryption keys rotated?", "architect"),
    ],
)
def test_the_likelier_one_comes_first_with_a_reason(
    suggester: Suggester, topic: str, text: str, first: str
) -> None:
    found = suggester.suggest(topic, text)
    assert found[0].role == first
    assert len(found) <= 2
    assert all("description" in one.because for one in found)


def test_nobody_is_suggested_for_what_nobody_knows(suggester: Suggester) -> None:
    assert suggester.suggest("qqq", "Zxcv bnm?") == ()


def test_the_configuration_knows_the_tools_there_are() -> None:
    assert frozenset(registry.TOOLS) == TOOLS
