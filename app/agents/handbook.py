"""Handbooks: what a knowledge agent knows, as Markdown that people enjoy reading.

A file has a title and topics in its front matter; every `###` heading is a question, its first
sentence in bold the recommendation; `Unless:` names the exception, `Keywords:` helps finding it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """One answerable point. `ref` is where it stands: `architect/security.md#refresh-tokens`."""

    title: str
    topics: tuple[str, ...]
    heading: str
    recommendation: str
    text: str
    keywords: tuple[str, ...]
    unless: str
    ref: str

    @property
    def words(self) -> str:
        """Everything that can be searched for words."""
        return f"{self.heading} {self.text} {' '.join(self.keywords)}"


@dataclass(frozen=True, slots=True)
class Flaw:
    """A passage that cannot be used, where it stands and why."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Handbook:
    """All passages of a role, and what is wrong in its files."""

    role: str
    passages: tuple[Passage, ...]
    flaws: tuple[Flaw, ...] = ()


def load_handbook(role: str, folder: Path) -> Handbook:
    """Read every Markdown file of a folder; one that is missing is an empty handbook."""
    passages: list[Passage] = []
    flaws: list[Flaw] = []
    for path in sorted(folder.glob("**/*.md")):
        text = path.read_text("utf-8", "replace").replace("\r\n", "\n")
        for found in parse(text, f"{role}/{path.relative_to(folder)}"):
            if isinstance(found, Flaw):
                flaws.append(found)
            else:
                passages.append(found)
    return Handbook(role, tuple(passages), tuple(flaws))


def parse(text: str, file: str) -> Iterator[Passage | Flaw]:
    """The passages of one file."""
    title, topics, start = _front(text)
    heading, begun, lines = "", 0, list[str]()
    for number, line in enumerate(text[start:].split("\n"), start=text[:start].count("\n") + 1):
        if line.startswith(("# ", "## ", "### ")):
            if heading:
                yield _passage(file, begun, heading, lines, (title, topics))
            heading = line[4:].strip() if line.startswith("### ") else ""
            begun, lines = number, []
        else:
            lines.append(line)
    if heading:
        yield _passage(file, begun, heading, lines, (title, topics))


def _front(text: str) -> tuple[str, tuple[str, ...], int]:
    found = _FRONT.match(text)
    if not found:
        return "", (), 0
    fields = {
        name.strip(): value.strip()
        for name, colon, value in (line.partition(":") for line in found.group(1).split("\n"))
        if colon
    }
    topics = tuple(one.strip() for one in fields.get("topics", "").strip("[]").split(",") if one)
    return fields.get("title", ""), topics, found.end()


def _passage(
    file: str, line: int, heading: str, lines: list[str], of: tuple[str, tuple[str, ...]]
) -> Passage | Flaw:
    keywords, unless, kept = "", "", []
    for one in lines:
        if one.startswith("Keywords:"):
            keywords = one.partition(":")[2]
        elif one.startswith("Unless:"):
            unless = one.partition(":")[2].strip()
        else:
            kept.append(one)
    text = " ".join(" ".join(kept).split())
    bold = _BOLD.match(text)
    if not bold:
        return Flaw(file, line, f"“{heading}” does not begin with its recommendation in bold")
    slug = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
    return Passage(
        title=of[0] or file,
        topics=of[1],
        heading=heading,
        recommendation=bold.group(1).strip(),
        text=text.replace("**", ""),
        keywords=tuple(word.strip() for word in keywords.split(",") if word.strip()),
        unless=unless,
        ref=f"{file}#{slug}",
    )
