"""Documents in the form of the repository's own spec-kit templates (`.specify/templates`). Pure.

What was settled stands under the template's headings, in the template's order; a heading that we
have nothing for stays, and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FOLDER = ".specify/templates"
NAMES = {
    "spec.md": "spec-template.md",
    "plan.md": "plan-template.md",
    "tasks.md": "tasks-template.md",
}
"""Document → its template."""
LONGEST = 100_000
"""Characters of a template that are taken."""
NOTHING = "Nothing was settled about this."
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARK = re.compile(r"\*\([^)]*\)\*|\[[^\]]*\]|[*_`]|\([^)]*\)")
_PLACEHOLDER = re.compile(r"\[[A-Z#][^\]\n]{2,}\](?!\()|\$ARGUMENTS|NEEDS CLARIFICATION")
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]\s", re.MULTILINE)
_PHASE = re.compile(r"^(?:phase\b|user story\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading of the second level and all below it; the head of a document has none."""

    heading: str
    body: str

    @property
    def key(self) -> str:
        return " ".join(_MARK.sub(" ", self.heading).lower().replace("&", "and").split())


def fit(draft: str, template: str) -> str:
    """The draft's sections in the order of the template's headings; the draft where that fails."""
    ours, theirs = _sections(draft), _sections(_COMMENT.sub("", template[:LONGEST]))
    if len(theirs) < 2:
        return draft
    left = {section.key: section for section in ours[1:]}
    found = [ours[0]]
    phases = [section for section in ours[1:] if _PHASE.match(section.key)]
    for section in theirs[1:]:
        if _PHASE.match(section.key) and phases:
            found += [left.pop(one.key) for one in phases if one.key in left]
        elif section.key in left:
            found.append(_Section(section.heading, left.pop(section.key).body))
        else:
            found.append(_kept(section))
    found += left.values()
    return "\n".join(_text(section) for section in found).rstrip() + "\n"


def _sections(text: str) -> list[_Section]:
    """The head, then every heading of the second level; none inside of fenced code."""
    found, heading, lines, fenced = list[_Section](), "", list[str](), False
    for line in text.replace("\r\n", "\n").split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and line.startswith("## "):
            found.append(_Section(heading, "\n".join(lines)))
            heading, lines = line[3:].strip(), []
        else:
            lines.append(line)
    return [*found, _Section(heading, "\n".join(lines))]


def _kept(section: _Section) -> _Section:
    """What the template says itself, if that is no example to be filled in."""
    example = _PLACEHOLDER.search(section.body) or _BOX.search(section.body)
    if example or not section.body.strip() or _PHASE.match(section.key):
        return _Section(section.heading, f"\n{NOTHING}\n")
    return section


def _text(section: _Section) -> str:
    return f"## {section.heading}\n{section.body}" if section.heading else section.body
