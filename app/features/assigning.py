"""Who does which task: by the paths it names, else by its words (specs/1, US5 and FR-020). Pure.

A task whose paths are nobody's, or of several agents, goes to a person, and says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.features.dispatch import ExecutionTask, Listed, TaskState
from app.features.tasks import Task, parse_tasks
from app.features.types import TypeSpec
from app.scopes import Scopes

QA, DEVELOPER, DEVOPS, REVIEWER = "qa", "developer", "devops", "reviewer"
MOST = 500
"""Tasks of one feature that are taken; what stands below them is told."""

_REVIEW = re.compile(r"^\W*(?:code[- ]?)?review(?:s|ing)?\b|\bcode review\b", re.IGNORECASE)
_TESTS = re.compile(r"\b(?:unit |integration |contract |e2e |failing )*tests?\b|\btest[- ]suite\b",
                    re.IGNORECASE)  # fmt: skip
_TESTED = re.compile(
    r"\b(?:make|until|so that|run|keep|pass(?:es|ing)?)\b[^.;]{0,40}\btests?\b"
    r"|\btests?\b[^.;]{0,20}\bpass(?:es)?\b",
    re.IGNORECASE,
)
"""Tests as a measure of the work, not as the work."""
_DEPLOY = re.compile(
    r"\b(?:deploy\w*|rollouts?|roll out|kubernetes|k8s|helm|argo ?cd|kustomize|manifests?|ingress|"
    r"replicas?|autoscal\w*|ci|ci/cd|workflows?|github actions?|pipelines?|terraform|grafana|"
    r"prometheus|alloy|loki|infrastructure|cluster|namespace|node pools?|environment variables?|"
    r"feature flags?|config ?maps?)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\bQ(\d{1,4})\b")
_DECISIONS = re.compile(r"\((Q\d{1,4}(?:\s*,\s*Q\d{1,4})*)\)")
_MAGIC = re.compile(r"[*?{}\[\]]")


@dataclass(frozen=True, slots=True)
class Roster:
    """Who takes part: the feature's type, and role → handle."""

    spec: TypeSpec
    handles: Mapping[str, str]

    def takes_part(self, role: str) -> bool:
        """Types without code have no @marie and no @dede; deployment may be part of any."""
        return role in self.handles and (role in self.spec.execution or role == DEVOPS)


def listed(text: str, scopes: Scopes, roster: Roster) -> Listed:
    """The tasks of a tasks.md with who does each; boxes that are ticked count as done."""
    parsed = parse_tasks(text)
    errors = [f"line {error.line}: {error.reason}" for error in parsed.errors]
    found: dict[str, ExecutionTask] = {}
    for task in parsed.tasks:
        if task.id is None:
            if not any(error.line == task.line for error in parsed.errors):
                errors.append(f"line {task.line}: the task has no id, so nobody can be sent: T001")
        elif _name(task.id) in found:
            continue  # the parser has told of the second one
        elif len(found) == MOST:
            errors.append(f"line {task.line}: more than {MOST} tasks; make it another feature")
            break
        elif task.description:
            found[_name(task.id)] = _task(task, len(found) + 1, scopes, roster)
    return Listed(tuple(found.values()), tuple(errors))


def _name(text: str) -> str:
    """T1 and T001 are the same task."""
    digits = re.match(r"\d+", text[1:])
    number = digits[0] if digits else "0"
    return f"T{int(number):03d}{text[1 + len(number) :].lower()}"


def _task(task: Task, place: int, scopes: Scopes, roster: Roster) -> ExecutionTask:
    role, why = who(task, scopes, roster)
    named = [number for group in _DECISIONS.findall(task.description)
             for number in _QUESTION.findall(group)]  # fmt: skip
    named += re.findall(r"^\s*-\s*Q(\d{1,4}):", task.details, re.MULTILINE)
    return ExecutionTask(
        name=_name(task.id or ""),
        place=place,
        text=task.description[:2000],
        details=task.details[:8000],
        paths=task.paths[:50],
        depends_on=tuple(_name(one) for one in task.depends_on),
        parallel=task.parallel,
        story=task.story or "",
        phase=(task.phase or "")[:200],
        decisions=tuple(dict.fromkeys(f"Q{int(number)}" for number in named)),
        role=role,
        agent=roster.handles.get(role, ""),
        why=why,
        state=TaskState.DONE if task.done else TaskState.WAITING,
    )


def who(task: Task, scopes: Scopes, roster: Roster) -> tuple[str, str]:
    """The role that does it and why; the role is empty for a person."""
    if task.paths:
        return _by_paths(task.paths, scopes, roster)
    return _by_words(task.description, roster)


def _by_paths(paths: Iterable[str], scopes: Scopes, roster: Roster) -> tuple[str, str]:
    if scopes.flaws:
        return "", f"line {scopes.flaws[0].line} of .github/AGENT_SCOPES cannot be read"
    roles = {handle.casefold(): role for role, handle in roster.handles.items()}
    owners: dict[str, str] = {}
    for path in paths:
        named = scopes.owners(_inside(path)).owners
        handle = next((one for one in named if one.casefold() in roles), "")
        if not handle:
            return "", f"`{path}` is in no agent's scope"
        owners.setdefault(handle.casefold(), path)
    if len(owners) > 1:
        parts = " and ".join(f"`{path}` is {handle}'s" for handle, path in owners.items())
        return "", f"{parts}; split the task"
    ((handle, path),) = owners.items()
    role = roles[handle]
    if not roster.takes_part(role):
        return "", f"`{path}` is {handle}'s, who takes no part in a {roster.spec.title} feature"
    return role, f"`{path}` is in its scope"


def _inside(path: str) -> str:
    """A file that the path stands for: one in the folder, one that the pattern means."""
    plain = _MAGIC.sub("x", path.removeprefix("./"))
    return f"{plain}x" if plain.endswith("/") else plain


def _by_words(text: str, roster: Roster) -> tuple[str, str]:
    if _REVIEW.search(text) and roster.takes_part(REVIEWER):
        return REVIEWER, "it is a review"
    measured = _TESTED.sub("", text)
    if _TESTS.search(measured) and roster.takes_part(QA):
        return QA, "it is about tests"
    if _DEPLOY.search(text) and roster.takes_part(DEVOPS):
        return DEVOPS, "it is about deployment"
    if roster.takes_part(DEVELOPER):
        return DEVELOPER, "it is code"
    if roster.takes_part(DEVOPS) and DEVOPS in roster.spec.execution:
        return DEVOPS, f"a {roster.spec.title} feature is its work"
    return "", "nobody of the roster does such work"
