"""A repository's own templates: its headings, our contents, and no example that becomes a task."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.features.tasks import parse_tasks
from app.features.templates import NOTHING, fit

SPEC = """\
# Feature Specification: Export

**Feature Branch**: `012-export`

## Overview

> As a file.

## Requirements *(mandatory)*

- **FR-001**: As CSV (Q1)

## Success Criteria *(mandatory)*

- **SC-001**: It works.
"""
TEMPLATE = """\
# Feature Specification: [FEATURE NAME]

**Input**: "$ARGUMENTS"

## Success Criteria
<!-- ACTION REQUIRED: fill this -->
- **SC-001**: [Measurable metric]

## Security Review

Every change that touches payments is shown to the security team.

## Requirements

- **FR-001**: System MUST [specific capability]

## Assumptions

- [Assumption about target users]
"""
TASKS = """\
# Tasks: export

## Phase 1: Setup

- [ ] T001 Write `src/a.py`

## Phase 2: Polish

- [ ] T002 Write `src/b.py`
"""
TASKS_TEMPLATE = """\
# Tasks: [FEATURE NAME]

## Format

Name the file in every task.

## Phase 1: Setup

- [ ] T001 Create project structure per implementation plan

## Phase 3: User Story 1 - [Title]

- [ ] T010 [P] [US1] Contract test for [endpoint]

## Notes

- Commit after each task
"""


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_our_contents_stand_under_their_headings_in_their_order() -> None:
    found = fit(SPEC, TEMPLATE)
    assert headings(found) == [
        "## Success Criteria", "## Security Review", "## Requirements", "## Assumptions",
        "## Overview",
    ]  # fmt: skip
    assert found.startswith("# Feature Specification: Export")
    assert "- **FR-001**: As CSV (Q1)" in found
    assert "MUST [specific" not in found
    assert "shown to the security team" in found
    assert f"## Assumptions\n\n{NOTHING}" in found


def test_no_example_of_a_template_becomes_a_task() -> None:
    found = fit(TASKS, TASKS_TEMPLATE)
    assert [task.id for task in parse_tasks(found).tasks] == ["T001", "T002"]
    assert "Write `src/a.py`" in found
    assert "Contract test" not in found
    assert "Name the file in every task." in found
    assert headings(found)[0] == "## Format"
    assert headings(found)[-1] == "## Notes"


def test_a_template_without_headings_changes_nothing() -> None:
    assert fit(SPEC, "Write something.") == SPEC
    assert fit(SPEC, "") == SPEC


@given(st.text(max_size=400))
def test_nothing_of_ours_is_lost_whatever_the_template(template: str) -> None:
    found = fit(SPEC, template + "\n## Requirements\n\nx\n## Other\n\ny\n")
    for line in SPEC.splitlines():
        assert not line.startswith("-") or line in found
