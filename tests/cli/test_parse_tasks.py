"""`kr parse tasks`: the contract's JSON, lines for people, and exit codes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from app.cli_commands import parse

GOOD = """\ufeff# Tasks: CSV

## Phase 1: Setup

- [x] T001 Create `src/csv/`
- [ ] T002 [P] [US1] Test it in tests/csv/ (depends on T001)
  - Q1: commas
- [ ] Tidy up
"""


def call(*words: str) -> int:
    parser = argparse.ArgumentParser()
    parse.add_arguments(parser)
    return parse.run(parser.parse_args(["tasks", *words]))


def test_the_document(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "tasks.md"
    file.write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert call(str(file), "--json") == 0
    document = json.loads(capsysbinary.readouterr().out.decode())
    assert document["errors"] == []
    assert document["tasks"][1] == {
        "id": "T002",
        "done": False,
        "parallel": True,
        "story": "US1",
        "phase": "Phase 1: Setup",
        "description": "Test it in tests/csv/ (depends on T001)",
        "paths": ["tests/csv/"],
        "depends_on": ["T001"],
        "line": 6,
        "details": "- Q1: commas",
    }
    ids = [(task["id"], task["done"], task["story"]) for task in document["tasks"]]
    assert ids == [("T001", True, None), ("T002", False, "US1"), (None, False, None)]


def test_lines_for_people(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "tasks.md"
    file.write_text(GOOD, encoding="utf-8")
    assert call(str(file)) == 0
    assert capsysbinary.readouterr().out.decode().splitlines() == [
        "line 5: [x] T001 Create `src/csv/`",
        "line 6: [ ] T002 [P] [US1] Test it in tests/csv/ (depends on T001) (after T001)",
        "line 8: [ ] Tidy up",
    ]


def test_what_cannot_be_read(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "tasks.md"
    file.write_text("- [] T001 a\n", encoding="utf-8")
    assert call(str(file)) == 1
    shown = capsysbinary.readouterr().out.decode().splitlines()
    assert shown[0] == "no tasks"
    assert shown[1].startswith("line 1: “[] ” is no box")
    file.write_text("", encoding="utf-8")
    assert call(str(file), "--json") == 0
    assert json.loads(capsysbinary.readouterr().out) == {"tasks": [], "errors": []}
    assert call(str(tmp_path / "none.md")) == 2
