"""Whether a document that a language model wrote has spec-kit's form (specs/1, US1 and US5).

Each problem is one sentence that says what to do. What a document says is not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.features.tasks import parse_tasks
from app.texts.safe import one_line

LONGEST_DOCUMENT = 200_000
"""Characters."""

_MOST = 20
"""Problems of one kind that are told."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_POINT = re.compile(r"[-*+] +\*\*(FR|SC)-([^*\n]{0,40})\*\*")
_ANSWERED = re.compile(r"\bQ\d")
_PLACEHOLDER = re.compile(
    r"\[(?:FEATURE(?: NAME)?|DATE|link|###[^\[\]]{0,60}|Brief Title|Title|Name|Entity ?\d?"
    r"|Key Entity ?\d?|(?:e\.g\.|Describe|Explain|Extract|Document|Determined|Gates|Add more"
    r"|REMOVE|initial state|action|expected outcome|boundary condition|error scenario|specific"
    r"|Measurable|domain-specific|if applicable|What it|Brief description)[^\[\]]{0,200})\](?!\()"
    r"|\$ARGUMENTS|\{ARGS\}|ACTION REQUIRED",
)


def spec_problems(text: str) -> tuple[str, ...]:
    """What is wrong with a spec.md; empty if nothing is."""
    if len(text) > LONGEST_DOCUMENT:
        return (_too_long(text),)
    form = _Form.of(text)
    wanted = ("Clarifications", "User Scenarios & Testing", "Requirements", "Success Criteria")
    return (
        *form.titled("Feature Specification"),
        *(problem for name in wanted for problem in form.wants(name)),
        *form.points("FR", "Requirements"),
        *form.points("SC", "Success Criteria"),
        *form.leftovers(),
    )


def plan_problems(text: str) -> tuple[str, ...]:
    """What is wrong with a plan.md; empty if nothing is."""
    if len(text) > LONGEST_DOCUMENT:
        return (_too_long(text),)
    form = _Form.of(text)
    wanted = ("Summary", "Technical Context", "Project Structure", "Phases", "Risks")
    others = {"Phases": ("phase", "implementation phases"), "Risks": ("risk",)}
    return (
        *form.titled("Implementation Plan"),
        *(problem for name in wanted for problem in form.wants(name, *others.get(name, ()))),
        *form.wants("Constitution Check", "constitution", "principles", "gates"),
        *form.leftovers(),
    )


def tasks_problems(text: str) -> tuple[str, ...]:
    """What is wrong with a tasks.md; empty if nothing is."""
    if len(text) > LONGEST_DOCUMENT:
        return (_too_long(text),)
    form = _Form.of(text)
    read = parse_tasks(text)
    none = "There is no task: write each one as “- [ ] T001 What is to be done in `path`”."
    unnamed = [task.line for task in read.tasks if task.id is None]
    return (
        *form.titled("Tasks"),
        *(() if read.tasks else (none,)),
        *(f"Give the task on line {line} an id such as T001." for line in unnamed[:_MOST]),
        *(f"Line {error.line}: {error.reason}." for error in read.errors[:_MOST]),
        *form.leftovers(),
    )


def _too_long(text: str) -> str:
    return (
        f"The document has {len(text)} characters: shorten it to {LONGEST_DOCUMENT} at most,"
        " for example by leaving out what other documents say."
    )


@dataclass(frozen=True, slots=True)
class _Form:
    """A document's lines outside code, by section; `fence` is the line of one left open."""

    lines: tuple[tuple[int, str], ...]
    title: str | None
    sections: dict[str, list[tuple[int, str]]]
    fence: int | None

    @classmethod
    def of(cls, text: str) -> _Form:
        plain, fence = _outside_code(text.removeprefix("\ufeff"))
        title: str | None = None
        sections: dict[str, list[tuple[int, str]]] = {}
        here: list[tuple[int, str]] = []
        for number, line in plain:
            found = _HEADING.match(line)
            if found and found.group(1) == "#" and title is None:
                title = found.group(2).strip()
            elif found and found.group(1) == "##":
                here = sections.setdefault(_normal(found.group(2)), [])
            else:
                here.append((number, line))
        return cls(tuple(plain), title, sections, fence)

    def titled(self, kind: str) -> Iterator[str]:
        """The first line of a document says what it is and of which feature."""
        name = (self.title or "").removeprefix(f"{kind}:").strip()
        if not (self.title or "").startswith(f"{kind}:") or not name:
            yield f"Begin with the line “# {kind}: ” and the name of the feature."
        elif name in {"[FEATURE NAME]", "[FEATURE]"}:
            yield f"Write the name of the feature instead of “{name}” in the first line."

    def wants(self, name: str, *others: str) -> Iterator[str]:
        """A section of that name; a heading that begins with one of `others` will do as well."""
        found = [title for title in self.sections if title.startswith((_normal(name), *others))]
        if not found:
            yield f"Add the section “## {name}”."
        elif not any(line.strip() for title in found for _, line in self.sections[title]):
            yield f"Write something in the section “## {name}”: it is empty."

    def points(self, kind: str, section: str) -> Iterator[str]:
        """Numbered points, each number once."""
        lines = self.sections.get(_normal(section))
        found = [
            (number, match.group(2))
            for number, line in lines or ()
            if (match := _POINT.match(line)) and match.group(1) == kind
        ]
        if lines is not None and not found:
            yield f"Add a point such as “- **{kind}-001**: …” to the section “## {section}”."
        told = 0
        seen: set[int] = set()
        for line, number in found:
            good = number.isascii() and number.isdigit() and len(number) >= 3
            if good and int(number) not in seen:
                seen.add(int(number))
            elif (told := told + 1) <= _MOST:
                what = "is used twice: give it" if good else "has no number: give it"
                shown = one_line(f"{kind}-{number}", 50)
                yield f"“{shown}” on line {line} {what} one of its own, like {kind}-001."

    def leftovers(self) -> Iterator[str]:
        """Open code, and words of the template. What people said is no such word."""
        if self.fence:
            yield f"Close the code block that begins on line {self.fence}."
        said: set[str] = set()
        left: dict[str, int] = {}
        for number, line in self.lines:
            spoken = line.startswith(("# ", ">")) or _ANSWERED.search(line)
            for part in line.split("`")[::2]:
                for found in _PLACEHOLDER.findall(part):
                    if spoken:
                        said.add(found)
                    else:
                        left.setdefault(found, number)
        told = [(words, number) for words, number in left.items() if words not in said]
        for words, number in told[:_MOST]:
            yield f"Replace “{words}” on line {number}: it is left from the template."


def _normal(heading: str) -> str:
    """`User Scenarios & Testing *(mandatory)*` in small letters, without what is in brackets."""
    return heading.replace("*", "").split("(")[0].strip(" #:\t").lower()


def _outside_code(text: str) -> tuple[list[tuple[int, str]], int | None]:
    """The lines outside code and those that begin it, from 1; and the line of one left open."""
    plain: list[tuple[int, str]] = []
    fence, opened = "", 0
    for number, line in enumerate(re.split(r"\r\n?|\n", text), start=1):
        found = _FENCE.match(line)
        mark = found.group(1) if found else ""
        if not fence and found:
            fence, opened = mark, number
            plain.append((number, line))
        elif fence and found and mark.startswith(fence) and not found.group(2).strip():
            fence = ""
        elif not fence:
            plain.append((number, line))
    return plain, opened if fence else None
