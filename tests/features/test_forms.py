"""Whether a document has its form: one fault at a time, and what is no fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.forms import LONGEST_DOCUMENT, plan_problems, spec_problems, tasks_problems

SPEC = """# Feature Specification: Export orders

## Clarifications

- Q1: what? → commas

## User Scenarios & Testing *(mandatory)*

### User Story 1 - Export (Priority: P1)

## Requirements *(mandatory)*

### Functional Requirements

- **FR-001**: It exports.
- **FR-002**: It is quick.

## Success Criteria *(mandatory)*

- **SC-001**: Ten seconds.
"""
PLAN = """# Implementation Plan: Export orders

## Summary

One button.

## Technical Context

Python.

## Constitution Check

Passed.

## Project Structure

```text
src/
```

## Phases

1. all

## Risks

None.
"""
TASKS = """# Tasks: Export orders

- [ ] T001 Do it
"""


def test_good_documents_have_no_problems() -> None:
    assert spec_problems(SPEC) == plan_problems(PLAN) == tasks_problems(TASKS) == ()
    for check, text in ((spec_problems, SPEC), (plan_problems, PLAN), (tasks_problems, TASKS)):
        assert check("\ufeff" + text.replace("\n", "\r\n")) == ()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("# Feature Specification: Export orders", "", "“# Feature Specification: ”"),
        ("# Feature Specification: Export orders", "# Export", "“# Feature Specification: ”"),
        ("Export orders", "", "“# Feature Specification: ”"),
        ("Export orders", "[FEATURE NAME]", "instead of “[FEATURE NAME]”"),
        ("## Clarifications", "### Clarifications", "Add the section “## Clarifications”"),
        ("- Q1: what? → commas", "", "“## Clarifications”: it is empty"),
        ("## User Scenarios & Testing", "## Users", "“## User Scenarios & Testing”"),
        ("## Requirements", "## Needs", "Add the section “## Requirements”"),
        ("- **FR-", "- FR-", "“- **FR-001**: …”"),
        ("FR-002", "FR-001", "“FR-001” on line 16 is used twice"),
        ("FR-002", "FR-XXX", "“FR-XXX” on line 16 has no number"),
        ("FR-002", "FR-2", "“FR-2” on line 16 has no number"),
        ("## Success Criteria", "## Success", "Add the section “## Success Criteria”"),
        ("**SC-001**", "**OK**", "“- **SC-001**: …”"),
        ("It is quick.", "Made on [DATE].", "Replace “[DATE]” on line 16"),
        ("It is quick.", "[e.g., quick]", "Replace “[e.g., quick]”"),
        ("It is quick.", "$ARGUMENTS", "Replace “$ARGUMENTS”"),
        ("- **SC-001**: Ten seconds.", "- **SC-001**: a\n\n```\nx", "begins on line 22"),
        ("- **SC-001**: Ten seconds.", "- **SC-001**: a\n~~~\nx\n```", "begins on line 21"),
        ("- **FR-001**", "```\n- **FR-001**\n```\n\nx **FR-001**", ""),
    ],
)
def test_faults_of_a_specification(old: str, new: str, problem: str) -> None:
    found = spec_problems(SPEC.replace(old, new))
    if problem:
        assert len(found) == 1
        assert problem in found[0]
    else:
        assert found == ()


@pytest.mark.parametrize(
    "line",
    [
        "Dates are shown as `[DATE]`.",
        "> The issue says [DATE].",
        "- Q7: which format? → [DATE]",
        "[DATE](https://example.org) is a link.",
        "[NEEDS CLARIFICATION: which one?]",
        "```\n[DATE]\n```",
    ],
)
def test_what_is_no_placeholder(line: str) -> None:
    assert spec_problems(f"{SPEC}\n{line}\n") == ()


@pytest.mark.parametrize(
    "heading",
    ["Summary", "Technical Context", "Constitution Check", "Project Structure", "Phases", "Risks"],
)
def test_a_plan_needs_its_headings(heading: str) -> None:
    (problem,) = plan_problems(PLAN.replace(f"## {heading}", "### Other"))[:1]
    assert problem == f"Add the section “## {heading}”."


def test_a_plan_may_name_its_phases_and_principles_otherwise() -> None:
    text = PLAN.replace("## Phases", "## Phase 0: Research").replace("## Risks", "## Risks and X")
    assert plan_problems(text.replace("Constitution Check", "Principles")) == ()
    (problem,) = plan_problems(PLAN.replace("```\n\n## Phases", "\n## Phases"))[-1:]
    assert "code block that begins on line 17" in problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Tasks: x\n\nNothing.\n", "There is no task"),
        ("# Tasks: x\n\n- T001 Do it\n", "There is no task"),
        ("- [ ] T001 Do it\n", "“# Tasks: ”"),
        ("# Tasks: x\n\n- [ ] Do it\n", "task on line 3 an id"),
        ("# Tasks: x\n\n- [ ] T001 a\n- [] T002 b\n", "Line 4: “[] ” is no box"),
        ("# Tasks: x\n\n- [ ] T001 a (after T002)\n", "Line 3: T002 is no task"),
        ("# Tasks: x\n\n- [ ] T001 Do [DATE]\n", "Replace “[DATE]”"),
    ],
)
def test_faults_of_a_task_list(text: str, problem: str) -> None:
    (found,) = tasks_problems(text)
    assert problem in found


@pytest.mark.parametrize("check", [spec_problems, plan_problems, tasks_problems])
def test_a_document_has_a_longest(check: Callable[[str], tuple[str, ...]]) -> None:
    (problem,) = check("x" * (LONGEST_DOCUMENT + 1))
    assert "200001 characters" in problem


def test_a_thousand_faults_are_not_all_told() -> None:
    assert len(spec_problems(SPEC + "- **SC-001**: again\n" * 1000)) == 20
    assert len(tasks_problems(TASKS + "- [ ] T001 again\n" * 1000)) == 20


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    for check in (spec_problems, plan_problems, tasks_problems):
        assert all(problem.endswith(".") for problem in check(text))
        assert check(text)
