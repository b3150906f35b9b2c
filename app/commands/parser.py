"""Comment text to commands. What nearly is one becomes an error with its line.

A command stands at the start of a line on which the writer speaks (see `markdown.py`), as
`/confirm`, `/baron confirm` or `@baron confirm`. Commands of other bots are none of our business:
an unknown one is an error only if it comes near to one of ours or is addressed to us. A mention
of us with more than three words after it is talk, unless it begins with a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.commands import errors
from app.commands.arguments import FREE_TEXT, Misread, read
from app.commands.mail import tail
from app.commands.markdown import Scan, scan
from app.commands.parsed import Located, Parsed, ParseError
from app.commands.specs import SPECS

_NEWLINE = re.compile(r"\r\n?")
_THANKS = frozenset({"thanks", "thank", "thx", "ty", "merci", "danke"})


@dataclass(frozen=True, slots=True)
class _Head:
    """The beginning of a line that may be a command."""

    line: int
    word: str
    mention: bool
    """Written as `@baron word`: possibly just talk."""
    addressed: bool
    after: int
    """Where its arguments begin."""
    words: int
    """How many words the line has from `word` on."""


def parse(body: str, name: str = "baron") -> Parsed:
    """All commands of a comment in their order; `name` is the one the bot goes by."""
    found = scan(_NEWLINE.sub("\n", body))
    last = tail(found)
    heads = [(head, _judge(head, name)) for head in _heads(found, name, last)]
    ours = [(head, verdict) for head, verdict in heads if verdict is not None]
    ends = [found.starts[head.line] for head, _ in ours[1:]] + [found.starts[last]]
    commands: list[Located] = []
    wrong: list[ParseError] = []
    for (head, verdict), end in zip(ours, ends, strict=False):
        if isinstance(verdict, ParseError):
            wrong.append(verdict)
            continue
        try:
            command = read(verdict, _rest(found, head, verdict, end))
        except Misread as problem:
            wrong.append(ParseError(head.line + 1, str(problem), verdict, head.addressed))
        else:
            commands.append(Located(command, head.line + 1, head.addressed))
    return Parsed(tuple(commands), tuple(wrong))


def _heads(found: Scan, name: str, last: int) -> Iterator[_Head]:
    who = re.escape(name)
    pattern = re.compile(
        rf" {{0,3}}(?:(?P<to>@{who}(?:\[bot\])?|/{who})[^\S\n]+(?P<slash>/?)|/)"
        r"(?P<word>[a-z][a-z-]{0,39})[.,;:!?]*(?=\s|$)",
        re.IGNORECASE,
    )
    for number in sorted(found.live):
        line = found.line(number)
        head = pattern.match(line) if number < last else None
        if head:
            to = head["to"] or ""
            yield _Head(
                number,
                head["word"].lower(),
                mention=to.startswith("@") and not head["slash"],
                addressed=bool(to),
                after=found.starts[number] + head.end(),
                words=1 + len(line[head.end() :].split()),
            )


def _judge(head: _Head, name: str) -> str | ParseError | None:
    """The name of the command, an error, or None for what is not meant for us."""
    if head.word in SPECS:
        return head.word
    if head.word == name.lower() and not head.addressed:
        return ParseError(head.line + 1, errors.no_command(name), addressed=True)
    meant = errors.nearest(head.word, also_foreign=head.addressed)
    if head.mention:
        talk = head.words > 3 and (meant is None or len(head.word) < 6)
        if talk or head.word in _THANKS:
            return None
    elif meant is None and not head.addressed:
        return None
    reason = errors.unknown(head.word, meant)
    return ParseError(head.line + 1, reason, meant, head.addressed)


def _rest(found: Scan, head: _Head, name: str, end: int) -> str:
    """What belongs to a command: its line, or all up to `end`; less what comments hide."""
    if name not in FREE_TEXT:
        end = min(end, found.starts[head.line + 1])
    return found.comments.without(found.text, head.after, end)
