"""What a task is held against: the acceptance scenarios of its story (specs/1, US5.1)."""

from __future__ import annotations

import re

MOST = 40
"""Criteria that a task is told."""
_STORY = re.compile(r"^#{2,4}\s+User Story\s+(\d+)", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,4}\s")
_SCENARIO = re.compile(r"^\s*(?:\d+[.)]|[-*])\s+(.*\*\*Given\*\*.*)$", re.IGNORECASE)
_REQUIREMENT = re.compile(r"^\s*[-*]\s+(\*\*(?:FR|NFR|SC)-\d{1,4}\*\*.*)$")
_QUESTION = re.compile(r"\bQ\d{1,4}\b")


def acceptance(spec: str, story: str, decisions: tuple[str, ...]) -> tuple[str, ...]:
    """The scenarios of the story (`US1`), and the requirements that its decisions led to.

    Without a story the scenarios of all of them; without decisions all requirements.
    """
    number = story.removeprefix("US").rstrip("abcdefghijklmnopqrstuvwxyz") if story else ""
    current, found = "", dict[str, None]()
    for line in spec.splitlines():
        if heading := _STORY.match(line):
            current = heading[1]
        elif _HEADING.match(line) and not line.startswith("####"):
            current = ""
        elif scenario := _SCENARIO.match(line):
            if not number or not current or current == number:
                found[scenario[1].strip()] = None
        elif requirement := _REQUIREMENT.match(line):
            named = set(_QUESTION.findall(line))
            if not decisions or not named or named & set(decisions):
                found[requirement[1].strip()] = None
    return tuple(found)[:MOST]
