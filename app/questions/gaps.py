"""`<gap>` blocks: how an agent says in the middle of its output that it does not know something.

A whole block becomes a question and is cut from the text. A broken one stays where it is, with
an error for whoever can mend it: nothing that was written is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.commands.markdown import Scan, scan
from app.questions import topics

URGENCIES = ("low", "normal", "high", "blocking")
FIELDS = ("topic", "question", "context", "urgency")

_TAG = re.compile(r"<(/?)gap(?=[\s/>])([^<>]*)>", re.IGNORECASE)
_FIELD = re.compile(r"<(/?)([a-z][a-z0-9_-]*)(?=[\s/>])([^<>]*)>", re.IGNORECASE)
_ENTITY = re.compile(r"&(lt|gt|amp|quot|apos|#[0-9]{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE)
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_LINE_END = re.compile(r"[ \t]*(?:\r\n?|\n|\Z)")


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that an agent could not go on without, and the line of its block."""

    topic: str
    question: str
    context: str = ""
    urgency: str = "normal"
    line: int = 1


@dataclass(frozen=True, slots=True)
class GapError:
    """A block that was left in the text, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Gaps:
    """The questions, the text without their blocks, and the blocks that could not be read."""

    gaps: tuple[Gap, ...]
    text: str
    errors: tuple[GapError, ...]


class _Broken(Exception):
    """Why a block is none."""


@dataclass(slots=True)
class _Block:
    """From an opening tag to its closing tag, once that is found."""

    tag: re.Match[str]
    close: re.Match[str] | None = None
    nests: bool = False
    nested: bool = False


def parse_gaps(text: str) -> Gaps:
    """Take the gap blocks out of an agent's output. Lines count from 1."""
    found = scan(text)
    errors: list[GapError] = []
    gaps: list[Gap] = []
    cuts: list[tuple[int, int]] = []
    for block in _blocks(found, errors):
        line = found.line_of(block.tag.start()) + 1
        if block.close is None:
            errors.append(GapError(line, "The `<gap>` block is not closed: `</gap>` is missing."))
            continue
        try:
            gaps.append(_gap(block, text[block.tag.end() : block.close.start()], line))
        except _Broken as problem:
            errors.append(GapError(line, str(problem)))
        else:
            cuts.append((block.tag.start(), block.close.end()))
    errors.sort(key=lambda error: error.line)
    return Gaps(tuple(gaps), _without(text, cuts), tuple(errors))


def _blocks(found: Scan, errors: list[GapError]) -> list[_Block]:
    """Opening tags with their closing ones, in order; a tag in code is an error of its own."""
    blocks: list[_Block] = []
    waiting: list[_Block] = []
    for tag in _tags(found, errors):
        if not tag.group(1):
            waiting.append(_Block(tag))
            blocks.append(waiting[-1])
        elif waiting:
            waiting.pop().close = tag
        else:
            line = found.line_of(tag.start()) + 1
            errors.append(GapError(line, "`</gap>` closes nothing: there is no `<gap>` before it."))
    _mark_nested(blocks)
    return [block for block in blocks if not block.nested]


def _tags(found: Scan, errors: list[GapError]) -> Iterator[re.Match[str]]:
    for tag in _TAG.finditer(found.text):
        at = tag.start()
        if at in found.comments or at in found.spans:
            continue
        if at not in found.code:
            yield tag
        elif not tag.group(1):
            line = found.line_of(at) + 1
            errors.append(GapError(line, "The `<gap>` block was left: it stands in a code block."))


def _mark_nested(blocks: list[_Block]) -> None:
    """A block inside a closed one breaks that one; inside an unclosed one it stands alone."""
    outer: _Block | None = None
    for block in blocks:
        if outer is not None and outer.close and block.tag.start() < outer.close.start():
            outer.nests = block.nested = True
        elif block.close is not None:
            outer = block


def _gap(block: _Block, inner: str, line: int) -> Gap:
    if block.nests:
        raise _Broken("A `<gap>` block stands inside this one; write them one after the other.")
    if block.tag.group(2).strip():
        raise _Broken("`<gap>` takes no attributes; write its parts as elements inside it.")
    values = _fields(inner)
    for name in ("topic", "question"):
        if not values.get(name):
            raise _Broken(f"The `<gap>` block has no `<{name}>`.")
    topic = topics.normalise(values["topic"])
    if topic is None:
        raise _Broken("The `<topic>` is none: write names joined by dots, like `api.auth`.")
    urgency = values.get("urgency", "").lower() or "normal"
    if urgency not in URGENCIES:
        raise _Broken("The `<urgency>` is unknown: there are low, normal, high and blocking.")
    return Gap(topic, values["question"], values.get("context", ""), urgency, line)


def _fields(inner: str) -> dict[str, str]:
    """The elements in a block. Inside an element, what is no tag of ours is text."""
    values: dict[str, str] = {}
    done = start = 0
    name = ""
    for tag in _FIELD.finditer(inner):
        this = tag.group(2).lower()
        if name:
            if this not in FIELDS:
                continue
            if this != name or not tag.group(1):
                raise _Broken(f"`<{name}>` is not closed before the next element.")
            values[name] = _decoded(inner[start : tag.start()]).strip()
            name, done = "", tag.end()
            continue
        _check_opening(tag, this, values)
        if inner[done : tag.start()].strip():
            raise _Broken("There is text between the elements of the `<gap>` block.")
        name, start = this, tag.end()
    if name:
        raise _Broken(f"`<{name}>` is not closed.")
    if inner[done:].strip():
        raise _Broken("There is text between the elements of the `<gap>` block.")
    return values


def _check_opening(tag: re.Match[str], name: str, values: dict[str, str]) -> None:
    if name not in FIELDS:
        raise _Broken(
            f"A `<gap>` block has no element `<{name[:30]}>`; it has {', '.join(FIELDS)}."
        )
    if tag.group(1):
        raise _Broken(f"`</{name}>` closes nothing.")
    if name in values:
        raise _Broken(f"`<{name}>` stands twice in the block.")
    if tag.group(3).strip():
        raise _Broken(f"`<{name}>` takes no attributes.")


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda found: _character(found.group(1).lower(), found.group()), text)


def _character(name: str, as_written: str) -> str:
    if name in _NAMED:
        return _NAMED[name]
    code = int(name[2:], 16) if name.startswith("#x") else int(name[1:])
    allowed = 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF or code in (9, 10)
    return chr(code) if allowed else as_written


def _without(text: str, blocks: list[tuple[int, int]]) -> str:
    """The text less the blocks; a block that has its lines to itself takes them with it."""
    kept: list[str] = []
    last = (0, 0)
    for start, end in blocks:
        first = start
        while first > last[1] and text[first - 1] in " \t":
            first -= 1
        following = _LINE_END.match(text, end)
        cut = (start, end)
        if following and (first == 0 or text[first - 1] in "\r\n"):
            above = last[0] if first == last[1] else first
            cut = (first, _past_blank(text, above, following.end()))
        kept.append(text[last[1] : cut[0]])
        last = (last[0] if cut[0] == last[1] else cut[0], cut[1])
    return "".join([*kept, text[last[1] :]])


def _past_blank(text: str, above: int, end: int) -> int:
    """Where the text goes on: of the empty lines above and below a block, one is enough."""
    before = text[max(0, above - 200) : above].replace("\r\n", "\n").replace("\r", "\n")
    lines = before.split("\n")
    below = _LINE_END.match(text, end)
    if below and (not before or (len(lines) > 2 and not lines[-2].strip())):
        return below.end()
    return end
