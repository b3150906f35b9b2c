"""spec.md in spec-kit's form, from the issue and the settled answers."""

from __future__ import annotations

from collections.abc import Sequence

from app.features.model import Feature, Question
from app.questions.model import QuestionState
from app.texts.safe import harmless, one_line

_SECTIONS = (
    ("Functional Requirements", ("scope", "flows", "integrations", "")),
    ("Data", ("data",)),
    ("Quality Attributes", ("quality",)),
)
_EDGES = ("edge-cases", "edge", "constraints")
_TERMS = ("terms",)
_SUCCESS = ("completion",)


def specification(feature: Feature, questions: Sequence[Question]) -> str:
    """The whole document. Every answer says who it comes from and who settled it."""
    settled = [question for question in questions if question.settled]
    lines = [
        f"# Feature Specification: {harmless(one_line(feature.title, 300), 400)}",
        "",
        f"**Feature Branch**: `{feature.branch}`  ",
        f"**Created**: {feature.started_on}  ",
        "**Status**: Draft  ",
        f"**Input**: issue #{feature.place.number} of {feature.place.repo}"
        f" ({feature.spec.title}), started by {feature.started_by}",
        "",
        "## Overview",
        "",
        *_quoted(feature.body or "The issue has no description.", 20_000),
        "",
        *_clarifications(feature, settled),
        "## User Scenarios & Testing *(mandatory)*",
        "",
        *_scenarios(feature, settled),
        "### Edge Cases",
        "",
        *_points(settled, _EDGES, "No edge case was raised."),
        "## Requirements *(mandatory)*",
        "",
        *_requirements(settled),
        "### Key Entities and Terms",
        "",
        *_points(settled, _TERMS, "The terms are those of the issue."),
        "## Success Criteria *(mandatory)*",
        "",
        *_success(settled),
        *_open(questions),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _quoted(text: str, limit: int) -> list[str]:
    return [f"> {line}".rstrip() for line in harmless(text, limit).splitlines()]


LONGEST = 4000
"""Characters of an answer in the document."""


def _answer(question: Question) -> str:
    text = harmless(one_line(question.answer, LONGEST), LONGEST + 400)
    return f"{text} (shortened; the log has all of it)" if len(question.answer) > LONGEST else text


def _clarifications(feature: Feature, settled: Sequence[Question]) -> list[str]:
    lines = ["## Clarifications", "", f"### Session {feature.started_on}", ""]
    if not settled:
        lines += ["- The issue left nothing open.", ""]
        return lines
    for question in settled:
        text = harmless(one_line(question.text, 600), 700)
        lines.append(f"- {question.name}: {text} → {_answer(question)} *({_who(question)})*")
    return [*lines, ""]


def _who(question: Question) -> str:
    confidence = question.tentative.confidence if question.tentative else 0
    match question.state:
        case QuestionState.CONFIRMED:
            return (
                f"source: {question.source}; validated by: human;"
                f" confirmed by @{question.settled_by}"
            )
        case QuestionState.CORRECTED:
            return f"source: {question.source}; validated by: human"
        case _:
            verdict = f"used with a warning: {question.warning}" if question.warning else "accepted"
            return f"source: {question.source}, {confidence} % sure, {verdict}"


def _scenarios(feature: Feature, settled: Sequence[Question]) -> list[str]:
    title = harmless(one_line(feature.title, 300), 400)
    lines = [f"### User Story 1 - {title} (Priority: P1)", ""]
    lines += [f"As described in #{feature.place.number}, with the answers above.", ""]
    flows = [question for question in settled if question.category in {"flows", "scope"}]
    if flows:
        lines += ["**Acceptance Scenarios**:", ""]
        for number, question in enumerate(flows, start=1):
            text = harmless(one_line(question.text, 400), 500)
            lines.append(
                f"{number}. **Given** the question “{text}”, **When** the feature is used,"
                f" **Then** it behaves so: {_answer(question)}"
            )
        lines.append("")
    return lines


def _requirements(settled: Sequence[Question]) -> list[str]:
    lines: list[str] = []
    number = 0
    known = {category for _, group in _SECTIONS for category in group}
    known |= {*_EDGES, *_TERMS, *_SUCCESS}
    for title, categories in _SECTIONS:
        chosen = [
            question
            for question in settled
            if question.category in categories
            or ("" in categories and question.category not in known)
        ]
        if not chosen:
            continue
        lines += [f"### {title}", ""]
        for question in chosen:
            number += 1
            lines.append(f"- **FR-{number:03d}**: {_answer(question)} ({question.name})")
        lines.append("")
    return lines or ["- **FR-001**: What the overview says.", ""]


def _points(settled: Sequence[Question], categories: tuple[str, ...], none: str) -> list[str]:
    points = [
        f"- {harmless(one_line(question.text, 400), 500)} {_answer(question)} ({question.name})"
        for question in settled
        if question.category in categories
    ]
    return [*(points or [f"- {none}"]), ""]


def _success(settled: Sequence[Question]) -> list[str]:
    chosen = [question for question in settled if question.category in _SUCCESS]
    if not chosen:
        return ["- **SC-001**: Every requirement above has a passing test.", ""]
    return [
        *(
            f"- **SC-{number:03d}**: {_answer(question)} ({question.name})"
            for number, question in enumerate(chosen, start=1)
        ),
        "",
    ]


def _open(questions: Sequence[Question]) -> list[str]:
    left = [question for question in questions if not question.settled]
    if not left:
        return []
    lines = ["## Open", ""]
    lines += [
        f"- [NEEDS CLARIFICATION: {harmless(one_line(question.text, 400), 500)}]"
        f" ({question.name}, {question.state.value})"
        for question in left
    ]
    return [*lines, ""]
