"""A document that a model wrote, made fit for the repository.

Its headings, lists and boxes stay; what could ping, close, hide or load loses its power, as in
everything that we post.
"""

from __future__ import annotations

import re

from app.texts.safe import harmless

_HEADING = re.compile(r"^(#{1,6})(?=[ \t])", re.MULTILINE)
_KEPT = re.compile("^(\ue001{1,6})", re.MULTILINE)
_OURS = (("@&#8203;", "@"), ("&#8203;", ""), ("&lt;", "<"), ("&amp;", "&"))
"""What an earlier cleaning wrote: done again it would pile up."""


def document(text: str, limit: int = 200_000) -> str:
    """Markdown with its headings, otherwise as `harmless` leaves it; ends with a line break."""
    text = text.replace("\ue001", "")
    for written, meant in _OURS:
        text = text.replace(written, meant)
    marked = _HEADING.sub(lambda found: "\ue001" * len(found[1]), text)
    tamed = harmless(marked, limit)
    return _KEPT.sub(lambda found: "#" * len(found[1]), tamed).rstrip() + "\n"
