"""`docs/REQUIREMENTS.md` names a test for everything that was asked for, and each one exists."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.project.repository import files, read

TABLE = "docs/REQUIREMENTS.md"
SCENARIOS = "tests/flows/test_scenarios.py"
STORIES = {1: 3, 2: 3, 3: 4, 4: 3, 5: 5, 6: 3, 8: 3}
"""User story → how many acceptance scenarios it has."""
SECTIONS = """
    why /ask /questions /answer gaps gap-fields configuration route-fields patterns
    agent team human tool sla flow answerer timeout message-flow subjects lifecycle
"""
"""Sections of specs/2, and its commands."""
IDS = [
    *(f"FR-{number:03d}" for number in range(1, 25)),
    *(f"US{story}.{n}" for story, count in STORIES.items() for n in range(1, count + 1)),
    *(f"Edge {number}" for number in range(1, 7)),
    *(f"Error {number}" for number in range(1, 5)),
    *(f"SC-{number:03d}" for number in (1, 2, 3, 4, 7, 8)),
    *(f"2 {name}" for name in SECTIONS.split()),
]
_ROW = re.compile(r"\| (?P<id>[^|`]+?) \| (?P<what>[^|]+) \| (?P<tests>[^|]+) \|")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> list[tuple[str, str]]:
    """(id, tests) of every row of the tables, without their heads."""
    found = [match for line in read(TABLE).splitlines() if (match := _ROW.fullmatch(line))]
    return [(row["id"], row["tests"]) for row in found if row["id"] not in {"Id", "---"}]


def named() -> list[tuple[str, str]]:
    """(file, function) of every test that the document names."""
    return sorted(set(_TEST.findall(read(TABLE))))


@cache
def defined_in(path: str) -> frozenset[str]:
    """The tests that a file defines; none if there is no such file."""
    if path not in files():
        return frozenset()
    tree = ast.parse(read(path), path)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = (node.name for node in ast.walk(tree) if isinstance(node, kinds))
    return frozenset(name for name in names if name.startswith("test_"))


def test_everything_that_was_asked_for_has_one_row() -> None:
    assert sorted(name for name, _ in rows()) == sorted(IDS)


@pytest.mark.parametrize("name", IDS)
def test_every_row_names_a_test(name: str) -> None:
    assert _TEST.search(dict(rows())[name]), f"{name} has no test"


@pytest.mark.parametrize(("path", "test"), named())
def test_every_named_test_exists(path: str, test: str) -> None:
    assert test in defined_in(path), f"{path} has no {test}: has it a new name?"


def test_a_test_that_is_not_there_is_found_out() -> None:
    assert "test_every_row_names_a_test" in defined_in("tests/project/test_requirements.py")
    assert "rows" not in defined_in("tests/project/test_requirements.py")
    assert defined_in("tests/project/test_that_nobody_wrote.py") == frozenset()


def test_every_scenario_stands_in_the_document() -> None:
    assert defined_in(SCENARIOS) - {test for path, test in named() if path == SCENARIOS} == set()


PLAYED = [
    one for one in IDS if one.startswith(("US", "Edge", "Error")) and not one.startswith("US5.")
]
"""Those with a conversation of their own; tasks (US5) are done in other files."""


@pytest.mark.parametrize("name", PLAYED)
def test_a_scenario_has_the_test_that_is_named_after_it(name: str) -> None:
    prefix = f"test_{re.sub('[ .]', '_', name.lower())}_"
    tests = [test for path, test in _TEST.findall(dict(rows())[name]) if path == SCENARIOS]
    assert any(test.startswith(prefix) for test in tests), f"{name} has no {prefix}…"
