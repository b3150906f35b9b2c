"""What the words of a task say: its markers, and what it waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import re2

_TAG = re.compile(r"\[([^\[\]]{1,60})\](?=$|[\s*_~`\[:：–—-])")
_ID = re.compile(r"(T\d{1,6}[A-Za-z]?)(?=$|[\s*_~`\[]|[:.,)：](?:\s|$|\*)|[-–—]\s)")
_BETWEEN = re.compile(r"\s+|[:：]\s*|[-–—|.,)]\s+")
MALFORMED = re.compile(
    r"([Tt][-_#]?\d\d[\w.-]*|T\d+[._]\d[\w.]*|T0\w*|TX{2,}|TN{2,}|T\?+|T#+)(?=$|[\s:*_~`])"
)
_OPENING = re.compile(r"\\[\\`<]|`+|<!--")
_TICKS = re.compile("`+")


def shown(text: str) -> str:
    """A paragraph without its HTML comments, which GitHub does not show; it keeps its lines."""
    return "".join(piece for piece, _ in pieces(text)) if "<!--" in text else text


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Text and, marked so, code in its backticks; a comment is only the line ends in it."""
    start = at = 0
    open_end = False
    while found := _OPENING.search(text, at):
        opening, at, end = found.group(), found.end(), -1
        if opening == "<!--" and not open_end:
            end = text.find("-->", found.start() + 2) + 3
            open_end = end < 3
        elif opening[0] == "`":
            runs = (run for run in _TICKS.finditer(text, at) if len(run.group()) == len(opening))
            end = next((run.end() for run in runs), -1)
        if end >= 3:
            yield text[start : found.start()], False
            inner = text[found.start() : end]
            yield (inner, True) if opening[0] == "`" else ("\n" * inner.count("\n"), False)
            apart = opening == "<!--" and text[found.start() - 1 : found.start()] == " "
            start = at = end + (apart and text[end : end + 1] == " ")
    yield text[start:], False


def head(text: str) -> tuple[str | None, list[str], str]:
    """Id, markers and description; id and markers may come in any order."""
    name, tags, marks, at = None, list[str](), list[str](), 0
    while at < len(text):
        if found := _MARKUP.match(text, at):
            if marks[-1:] == [found.group()]:
                marks.pop()
            else:
                marks.append(found.group())
        elif name is None and (found := _ID.match(text, at)):
            name = found.group(1)
        elif found := _TAG.match(text, at):
            tags.append(found.group(1).strip())
            name = name or next(iter(_ID.findall(tags[-1])), None)
        elif not ((name or tags) and (found := _BETWEEN.match(text, at))):
            break
        at = found.end()
    return name, tags, ("".join(marks) + text[at:]).strip() if at < len(text) else ""


Named = tuple[str, str | None]
"""A task, or the first and the last of a range of tasks."""

_TO = r"\s*(?:-|–|—|\.{2,3}|to\b|through\b)\s*"
_ASIDE = r"(?:\s*(?:\([^()]*\)|\[[^\[\]]*\]))*"
_AND = r"(?:and\b|or\b|plus\b|(?:as\s+well\s+as|along\s+with|together\s+with)\b)"
_NEXT = (
    rf"{_ASIDE}\s*(?:[,&+/、，]\s*{_AND}?|{_AND})\s*"
    r"(?:also\s+)?(?:(?:up)?on\s+)?(?:tasks?\s+)?"
)
_ONE = rf"#?\bT\d{{1,6}}[A-Za-z]?(?:{_TO}T\d{{1,6}}[A-Za-z]?|-\d{{3,6}})?\b"
_LIST = rf"({_ONE}(?:{_NEXT}{_ONE})*)"
_FILL = (
    r"(?:[\s:(\[：]|\b(?:on|upon|by|tasks?|completion|of|all|both|the"
    r"|completing|finishing)\b)*"
)
_KEYS = (
    r"(?:depend(?:s|ing|ent|encies|ency)?|depends?-?on|deps|after|blocked(?:\s*|-)by|requires?|needs?"
    r"|once|wait(?:s|ing)?\s+(?:for|on)|awaits?|awaiting)"
)
_HELPERS = (
    r"(?:\s*\b(?:must|should|can|will|be|is|are|all|run|in|parallel|start|begin|only|done"
    r"|finish|completed?|pass|directly|sequential|come|comes|go|goes)\b)*\s*"
)
_LEFT = rf"(?i)^\s*(?:(?:only|tasks?|both|all)\s+)*{_LIST}{_ASIDE}{_HELPERS}"
_FOLLOWING = r"following\s+(?:(?:the\s+)?completion\s+of\s+)?(?:task\s+)?"
_SAID = re2.compile(rf"(?i)\b(?:(?:{_KEYS}|prerequisites?)\b{_FILL}|{_FOLLOWING}){_LIST}")
_LATER = re2.compile(rf"{_LEFT}\b(?:{_KEYS}|follows?|following)\b{_FILL}{_LIST}")
_EARLIER = re2.compile(rf"{_LEFT}\b(?:before|precedes?|(?:un)?blocks?)\b{_FILL}{_LIST}([+]?)")
_STEP = re2.compile(rf"(?i)^\s*{_LIST}{_ASIDE}\s*[.,]?\s*$")
_ASIDES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NAMED = re2.compile(rf"(?i)\b(T\d{{1,6}}[A-Za-z]?)(?:{_TO}(T\d{{1,6}}[A-Za-z]?)|-(\d{{3,6}}))?\b")
_ARROW = re.compile(r"→|⟶|->|=>")
_CLAUSE = re.compile(r";|\.\s")
_MARKUP = re.compile(r"[*_~`]+")
_NOT = re.compile(
    r"(?i)(?:not|n['’]t|\b(?:no|never|without|neither|nor))"
    r"(?:\s+(?:longer|yet|directly|strictly|really|actually|necessarily|also|need|have|to|any))*$"
)
_LISTS = re.compile(r"(?i)\b(?:the|these|those)$")
_LOOK_BACK = 60


def waits_for(text: str) -> Iterator[Named]:
    """What a task's own text says it waits for: “depends on T003, T004”, “after T002”."""
    plain = _MARKUP.sub("", text)
    for found in _SAID.finditer(plain):
        before = plain[max(0, found.start() - _LOOK_BACK) : found.start()].rstrip()
        listed = found.group().lower().startswith("following") and _LISTS.search(before)
        if not listed and not _NOT.search(before):
            yield from _named(found.group(1))


def orders(line: str) -> Iterator[tuple[list[Named], list[Named]]]:
    """(earlier, later) as a line of a section on dependencies says it, where it is plain.

    An arrow leads from the earlier to the later task; one to a lower id may mean either.
    """
    for clause in _CLAUSE.split(_MARKUP.sub("", line)):
        steps = [_STEP.search(step) for step in _ARROW.split(clause)]
        if len(steps) > 1 and all(steps):
            for one, other in pairwise([_named(step.group(1)) for step in steps]):
                if int(re.sub(r"\D", "", one[0][0])) < int(re.sub(r"\D", "", other[0][0])):
                    yield one, other
        elif found := _LATER.search(clause):
            yield _named(found.group(2)), _named(found.group(1))
        elif (found := _EARLIER.search(clause)) and not found.group(3):
            yield _named(found.group(1)), _named(found.group(2))


def _named(said: str) -> list[Named]:
    matches = (found.groups() for found in _NAMED.finditer(_ASIDES.sub(" ", said)))
    return [(first, last or (f"T{short}" if short else None)) for first, last, short in matches]
