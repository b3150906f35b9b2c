"""plan.md in spec-kit's form, from the settled answers and the feature's type, without a model.

Headings after spec-kit's plan template; who works where is specs/1, Feature Types and FR-018.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.features.document import LONGEST
from app.features.model import Feature, Question
from app.features.types import FeatureType
from app.questions.model import QuestionState
from app.texts.safe import harmless, one_line, slug_words

AREAS: dict[str, tuple[str, ...]] = {
    "behaviour": ("scope", "flows", "completion", "terms", ""),
    "data": ("data",),
    "integrations": ("integrations",),
    "quality": ("quality",),
    "limits": ("edge-cases", "edge", "constraints"),
}
"""Parts of the work, and the categories of questions that belong to each."""

_ALL = 120_000
"""Characters that all answers together may take in a document."""

_CONTEXT = {
    "behaviour": "Scale/Scope",
    "data": "Storage",
    "integrations": "Primary Dependencies",
    "quality": "Performance Goals",
    "limits": "Constraints",
}
_CODE = frozenset({FeatureType.FULL_STACK, FeatureType.BACKEND})
_FOLDERS = {
    "qa": ("tests/",),
    "developer": ("src/",),
    "devops": ("k8s/", ".github/workflows/"),
}
_PHASES = {
    "qa": "tests in `tests/`, which fail at first",
    "developer": "code in `src/`, until the tests pass",
    "devops": "manifests in `k8s/`, checks and delivery in `.github/workflows/`",
    "reviewer": "review of everything that was changed, by comments only",
}


def plan(feature: Feature, questions: Sequence[Question]) -> str:
    """The whole document. A line that rests on an answer names its question."""
    settled = [question for question in questions if question.settled]
    lines = [
        f"# Implementation Plan: {title(feature)}",
        "",
        f"**Branch**: `{feature.branch}` | **Date**: {feature.started_on} | **Spec**: `spec.md`  ",
        f"**Input**: issue #{feature.place.number} of {feature.place.repo} ({feature.spec.title})",
        "",
        "## Summary",
        "",
        *_summary(feature, settled),
        "## Technical Context",
        "",
        *_context(feature, settled),
        "## Constitution Check",
        "",
        *_check(questions, settled),
        "## Project Structure",
        "",
        *_structure(feature),
        "## Phases",
        "",
        *_phases(feature),
        "## Risks",
        "",
        *_risks(questions, settled),
    ]
    return "\n".join(lines).rstrip() + "\n"


def title(feature: Feature) -> str:
    """The feature's title, harmless, on one line."""
    return harmless(one_line(feature.title, 300), 400) or "the feature"


def name(feature: Feature) -> str:
    """The feature in names of files: a few words of its title."""
    return slug_words(feature.title, 4)


def area(question: Question) -> str:
    """The part of the work that an answer bears upon."""
    found = (area for area, categories in AREAS.items() if question.category in categories)
    return next(found, "behaviour")


def answer(question: Question, many: int, longest: int = LONGEST) -> str:
    """The answer, harmless, on one line; the more (`many`) there are, the shorter it is."""
    limit = min(longest, _ALL // max(1, many))
    return harmless(one_line(question.answer, limit), limit + limit // 10)


def asked(question: Question, many: int) -> str:
    """The question, harmless, on one line; shorter where there are many."""
    limit = min(200, _ALL // 4 // max(1, many))
    return harmless(one_line(question.text, limit), limit + limit // 5)


def _summary(feature: Feature, settled: Sequence[Question]) -> list[str]:
    lines = [f"A {feature.spec.title} feature: {title(feature)}.", ""]
    scope = [question for question in settled if question.category == "scope"]
    lines += [
        f"- {answer(question, 2 * len(settled), 600)} ({question.name})" for question in scope
    ]
    return [*lines, ""] if scope else lines


def _context(feature: Feature, settled: Sequence[Question]) -> list[str]:
    lines = ["**Language/Version**: that of the repository  "]
    tests = "tests come first" if feature.type in _CODE else "the manifests are checked"
    lines += [f"**Testing**: {tests}  ", f"**Project Type**: {feature.spec.title}", ""]
    for key, label in _CONTEXT.items():
        chosen = [question for question in settled if area(question) == key]
        told = [
            f"- {asked(question, len(settled))} →"
            f" {answer(question, 2 * len(settled))} ({question.name})"
            for question in chosen
        ]
        lines += [f"**{label}**:", "", *(told or ["- Nothing was asked; as it is today."]), ""]
    return lines


def _check(questions: Sequence[Question], settled: Sequence[Question]) -> list[str]:
    waiting = [question for question in questions if not question.ended]
    warned = [question for question in settled if question.warning]
    return [
        f"- Every question is settled: {_verdict(waiting)}",
        f"- Every answer was given or accepted in time: {_verdict(warned)}",
        "- Every agent writes in its own folders only: checked on each change",
        "",
    ]


def _verdict(against: Sequence[Question]) -> str:
    return f"no ({names(against)})" if against else "yes"


def names(questions: Sequence[Question]) -> str:
    """`Q3, Q5`."""
    return ", ".join(question.name for question in questions)


def _structure(feature: Feature) -> list[str]:
    roles = feature.spec.execution
    folders = [folder for role in roles for folder in _FOLDERS.get(role, ())]
    return [
        "### Documentation",
        "",
        "```text",
        f"{feature.folder}/",
        *("├── spec.md", "├── plan.md", "└── tasks.md"),
        "```",
        "",
        "### Source Code",
        "",
        "```text",
        *folders,
        "```",
        "",
    ]


def _phases(feature: Feature) -> list[str]:
    lines = ["1. setup: the folders of the feature"]
    lines += [
        f"{number}. {role}: {_PHASES[role]}"
        for number, role in enumerate(feature.spec.execution, start=2)
    ]
    return [*lines, ""]


def _risks(questions: Sequence[Question], settled: Sequence[Question]) -> list[str]:
    lines = []
    for question in questions:
        if not question.ended:
            text, state = asked(question, len(questions)), question.state.value
            lines.append(f"- [NEEDS CLARIFICATION: {text}] ({question.name}, {state})")
    for question in settled:
        if question.warning:
            warning = harmless(one_line(question.warning, 100), 120)
            lines.append(f"- Used with a warning: {warning} ({question.name})")
        elif question.state is QuestionState.ACCEPTED and question.tentative:
            reasons = "; ".join(question.tentative.uncertainty_reasons[:3])
            if reasons:
                lines.append(f"- {harmless(one_line(reasons, 300), 350)} ({question.name})")
    return lines or ["- None was named."]
