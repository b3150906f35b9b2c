"""What people typed goes to a model as data: between marks that nobody can write in advance.

The mark holds a number drawn anew for every prompt, so that no text can close its own fence. What
is hidden from readers (zero-width characters, HTML comments) is hidden from the model, too.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from app.texts.safe import cut, visible

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABEL = re.compile(r"[^a-z0-9 .#-]+")


@dataclass(frozen=True, slots=True)
class Fence:
    """The marks of one prompt."""

    number: str = field(default_factory=lambda: secrets.token_hex(10))

    def data(self, label: str, text: str, limit: int) -> str:
        """A text between its marks; `limit` counts its characters, `label` says what it is."""
        inside = cut(seen(text), limit).replace(self.number, "")
        name = _LABEL.sub("", label.lower())
        return f"<<data {self.number} {name}>>\n{inside}\n<<end {self.number}>>"


def seen(text: str) -> str:
    """The text as a reader of the page sees it."""
    return _COMMENT.sub("", visible(text)).strip()
