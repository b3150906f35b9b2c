"""tasks.md without a language model, from settled answers and feature type (specs/1, US5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.features.model import Feature, Question
from app.features.plan import AREAS, answer, area, asked, name, names, title
from app.features.types import FeatureType

_SHORT = 600
"""Characters of an answer below a task; the specification has all of it."""

_ABOUT = {
    "behaviour": "behaviour",
    "data": "data",
    "integrations": "integrations",
    "quality": "quality goals",
    "limits": "edge cases and limits",
}


@dataclass(slots=True)
class _List:
    """Tasks get their numbers as they are added; a text is what stands after the markers."""

    settled: Sequence[Question]
    lines: list[str]
    count: int = 0

    def phase(self, number: int, about: str, who: str) -> None:
        self.lines += ["", f"## Phase {number}: {about}", "", f"**Role**: {who}", ""]

    def add(
        self, text: str, marks: str = "", after: Sequence[str] = (), rest: Sequence[Question] = ()
    ) -> str:
        """Returns the id. `after` are the ids that it waits for, `rest` what it rests on."""
        self.count += 1
        waits = f" (depends on {', '.join(after)})" if after else ""
        basis = f" ({names(rest)})" if rest else ""
        task = f"T{self.count:03d}"
        self.lines.append(f"- [ ] {task} {marks}{text}{waits}{basis}")
        for question in rest:
            said = answer(question, 2 * len(self.settled), _SHORT)
            words = f"  - {question.name}: {asked(question, 2 * len(self.settled))} → {said}"
            # what people write must not read as a dependency of this task
            self.lines.append(_TASK_NAME.sub("&#8203;", words))
        return task

    def areas(self) -> dict[str, list[Question]]:
        """The parts that have answers; the behaviour is always one."""
        chosen = {key: [one for one in self.settled if area(one) == key] for key in AREAS}
        return {key: rest for key, rest in chosen.items() if rest or key == "behaviour"}


_TASK_NAME = re.compile(r"(?<=[Tt])(?=\d)")


def tasklist(feature: Feature, questions: Sequence[Question]) -> str:
    """tasks.md for the feature's type. A task names files of one role, and its questions."""
    head = [
        f"# Tasks: {title(feature)}",
        "",
        f"**Input**: issue #{feature.place.number} of {feature.place.repo}"
        f" ({feature.spec.title}), and the specification of branch `{feature.branch}`",
    ]
    made = _List([question for question in questions if question.settled], head)
    if "developer" in feature.spec.execution:
        _code(made, name(feature), feature.type is FeatureType.FULL_STACK)
    elif feature.type is FeatureType.INFRA:
        _infrastructure(made, name(feature))
    else:
        _change(made, name(feature), feature.type, "reviewer" in feature.spec.execution)
    return "\n".join(made.lines) + "\n"


def _code(made: _List, slug: str, interface: bool) -> None:
    made.phase(1, "Setup", "developer, qa")
    code = made.add(f"Create the folder of the feature `src/{slug}/`")
    shared = made.add(f"Create the folder of its tests `tests/{slug}/`", "[P] ")
    areas = made.areas()
    made.phase(2, "Tests first", "qa")
    tests: dict[str, str] = {}
    for key, rest in areas.items():
        text = f"Write failing tests for the {_ABOUT[key]} in `tests/{slug}/{key}/`"
        tests[key] = made.add(text, "[P] [US1] ", [shared], rest)
    made.phase(3, "User Story 1 (Priority: P1)", "developer")
    done: dict[str, str] = {}
    for key in sorted(areas, key=lambda key: (key != "data", key != "behaviour")):
        first = [done[base] for base in ("data", "behaviour") if base in done]
        alone = "[P] " if key not in {"data", "behaviour"} else ""
        text = f"Implement the {_ABOUT[key]} in `src/{slug}/{key}/`"
        waits = [code, tests[key], *first[-1:]]
        done[key] = made.add(text, f"{alone}[US1] ", waits, areas[key])
    if interface:
        text = f"Build what people see and use in `src/{slug}/interface/`"
        done["interface"] = made.add(text, "[P] [US1] ", [code, done["behaviour"]])
    made.phase(4, "Polish", "qa, developer, reviewer")
    whole = made.add(f"Add tests of the whole in `tests/{slug}/whole/`", after=list(done.values()))
    tidy = made.add(f"Make all tests pass and tidy `src/{slug}/`", after=[whole])
    made.add("Review everything that was changed, and comment", after=[tidy])


def _infrastructure(made: _List, slug: str) -> None:
    made.phase(1, "Setup", "devops")
    base = made.add(f"Create the folder of the manifests `k8s/{slug}/`")
    made.phase(2, "Checks first", "devops")
    check = made.add(f"Check the manifests in `.github/workflows/{slug}-check.yml`", "[P] ")
    made.phase(3, "User Story 1 (Priority: P1)", "devops")
    parts = [
        made.add(f"Write the {_ABOUT[key]} in `k8s/{slug}/{key}.yaml`", "[P] [US1] ", [base], rest)
        for key, rest in made.areas().items()
    ]
    made.phase(4, "Deployment", "devops")
    text = f"Deliver the manifests by `.github/workflows/{slug}-deploy.yml`"
    last = made.add(text, "[US1] ", [check, *parts])
    made.phase(5, "Polish", "devops, reviewer")
    tidy = made.add(f"Try the way back, and tidy `k8s/{slug}/`", after=[last])
    made.add("Review everything that was changed, and comment", after=[tidy])


def _change(made: _List, slug: str, kind: FeatureType, reviewed: bool) -> None:
    what = "replicas and resources" if kind is FeatureType.CAPACITY else "settings and flags"
    made.phase(1, "Setup", "devops")
    now = made.add(f"Find the manifests in `k8s/` that hold the {what}")
    check = made.add(f"Check the manifests in `.github/workflows/{slug}-check.yml`", "[P] ")
    made.phase(2, "User Story 1 (Priority: P1)", "devops")
    text = f"Change the {what} in `k8s/`"
    change = made.add(text, "[US1] ", [now, check], made.settled)
    made.phase(3, "Polish", "devops, reviewer" if reviewed else "devops")
    tidy = made.add("Try the way back in `k8s/`", after=[change])
    if reviewed:
        made.add("Review everything that was changed, and comment", after=[tidy])
