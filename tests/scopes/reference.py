"""A second matcher, written by hand from GitHub's page: no regular expressions, no tree.

It tries every rule on every path, level by level, and keeps the last that matches.
"""

from __future__ import annotations


def last_match(patterns: list[str], path: str) -> int:
    """The number of the last pattern that matches, from 1; 0 if none does."""
    numbers = [number for number, one in enumerate(patterns, start=1) if matches(one, path)]
    return numbers[-1] if numbers else 0


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern covers a path."""
    text = pattern.replace("\\/", "/")
    folder_only = text.endswith("/")
    body = text[:-1] if folder_only else text
    rooted = "/" in body
    body = body.removeprefix("/")
    if not body:
        return False
    levels = body.split("/") if rooted else ["**", *body.split("/")]
    names = path.split("/")
    if levels[-1] == "*" and not folder_only:
        return run(levels, names)
    if levels[-1] == "**" and not folder_only:
        return any(run(levels[:-1], names[:cut]) for cut in range(len(names)))
    if levels[-1] == "**":
        levels = [*levels, "*"]
    longest = len(names) - 1 if folder_only else len(names)
    return any(run(levels, names[:cut]) for cut in range(longest + 1))


def run(levels: list[str], names: list[str]) -> bool:
    """Whether levels match names, all of them."""
    if not levels:
        return not names
    if levels[0] == "**":
        return any(run(levels[1:], names[skipped:]) for skipped in range(len(names) + 1))
    return bool(names) and name(levels[0], names[0]) and run(levels[1:], names[1:])


def name(level: str, text: str) -> bool:
    """Whether one level matches one name."""
    if not level:
        return not text
    if level[0] == "\\":
        return text[:1] == level[1] and name(level[2:], text[1:])
    if level[0] == "*":
        return name(level[1:], text) or (bool(text) and name(level, text[1:]))
    if level[0] == "?":
        return bool(text) and name(level[1:], text[1:])
    return text[:1] == level[0] and name(level[1:], text[1:])
