"""The end of a comment that came by e-mail: signature and quoted correspondence."""

from __future__ import annotations

import re

from app.commands.markdown import Scan

_HEADER = re.compile(
    r"On\b.{1,300}\bwrote:\s*"
    r"|(?=.*[0-9])(?:Le\b.{1,300}\ba écrit ?:|Am\b.{1,300}\bschrieb\b.{0,300}:"
    r"|El\b.{1,300}\bescribió:|Il\b.{1,300}\bha scritto:|Op\b.{1,300}\bschreef\b.{0,300}:)\s*"
    r"|-{2,} ?(?:Original|Forwarded) Message ?-{2,}\s*"
    r"|_{30,}\s*|Begin forwarded message:\s*"
    r"|Sent from (?:my|Outlook|Mail|Yahoo|Proton)\b.{0,100}|Get Outlook for .{0,100}",
    re.IGNORECASE,
)
_FOLDED = re.compile(r"On\b(?=.*[0-9]).{1,300}\n.{0,200}\bwrote:\s*", re.IGNORECASE)
_FROM = re.compile(r"\*{0,2}(?:From|Von|De) ?:", re.IGNORECASE)
_SENT = re.compile(r"(?:^|\s)\*{0,2}(?:Sent|Date|Gesendet|Envoyé) ?:", re.IGNORECASE)


def tail(found: Scan) -> int:
    """The line (from 0) at which the e-mail's tail begins, or the number of lines.

    Everything after it is the mail program's, so nothing there is a command or part of a text.
    """
    count = len(found.starts) - 1
    for number in range(count):
        at = found.starts[number]
        if at in found.code or at in found.comments or at in found.folds:
            continue
        if _begins_tail(found, number, count):
            return number
    return count


def _begins_tail(found: Scan, number: int, count: int) -> bool:
    line = found.line(number)
    if line[:2] == "--" and line.rstrip() == "--":
        # without its blank it may underline a heading
        return line != "--" or number == 0 or not found.line(number - 1).strip()
    if _HEADER.fullmatch(line):
        return True
    if line[:2].lower() == "on" and number + 1 < count:
        return _FOLDED.fullmatch(f"{line}\n{found.line(number + 1)}") is not None
    if _FROM.match(line):
        near = range(number, min(number + 4, count))
        return _SENT.search("\n".join(found.line(index) for index in near)) is not None
    return False
