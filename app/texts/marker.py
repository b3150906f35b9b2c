"""The hidden first line of every comment we write."""

from __future__ import annotations

import json
import re
from typing import Any

_MARKER = re.compile(r"\A<!-- kr (\{.*\}) -->")


def marker(kind: str, key: str, *, feature: str = "", question: str = "", state: str = "") -> str:
    """`<!-- kr {…} -->`; fields without a value are left out.

    `<`, `>` and `--` are escaped as JSON escapes, so that the comment cannot end early.
    """
    fields = {"kind": kind, "feature": feature, "question": question, "state": state, "key": key}
    text = json.dumps({name: value for name, value in fields.items() if value})
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "\\u002d\\u002d")
    return f"<!-- kr {text} -->"


def read_marker(body: str) -> dict[str, Any] | None:
    """The fields of a comment's marker, or None. Only to be trusted in our own App's comments."""
    found = _MARKER.match(body.partition("\n")[0].rstrip("\r"))
    if not found:
        return None
    try:
        fields = json.loads(found.group(1))
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None
