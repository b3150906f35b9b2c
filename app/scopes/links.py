"""Where the symbolic links of a commit lead, by what they say alone (specs/1, US5). Pure.

Nothing is looked up on a disk: `links` has, for each path at which a link stands, what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping

MOST_HOPS = 40
"""Links behind each other that Linux follows."""
MAX_TARGET = 4096
"""Bytes of what a link says; Linux makes no longer one."""
ENDLESS = "/…"
"""Stands for what is longer than that; like all that is absolute, it leads outside."""
_MOST_PARTS = 4096
_SHOWN = 200

Read = Callable[[str], str | None]
"""What the link at a path says; None where no link is."""
_Way = Generator[str, None, str | None]


def leads_to(path: str, target: str, links: Mapping[str, str]) -> str | None:
    """Where a link ends, through all further links, from the root of the repository.

    None if it is absolute, leaves the repository on its way, or goes round in a circle.
    """
    return followed(path, target, links.get)


def followed(path: str, target: str, read: Read) -> str | None:
    """The same, with what each further link says asked for when the way comes there."""
    way = _way(path, target, read)
    while True:
        try:
            next(way)
        except StopIteration as end:
            return str(end.value) if end.value is not None else None


def unread(changed: Iterable[str], there: Collection[str], links: Mapping[str, str]) -> list[str]:
    """The links to be read next, to know where the changed ones lead; none if all is known.

    `changed` and `there` are paths of links: those to be judged, and all of the commit.
    """
    found = dict.fromkeys(filter(None, (_unread(path, there, links) for path in changed)))
    return list(found)


def _unread(path: str, there: Collection[str], links: Mapping[str, str]) -> str | None:
    if path not in links:
        return path
    way = _way(path, links[path], links.get)
    return next((place for place in way if place in there and place not in links), None)


def _way(path: str, target: str, read: Read) -> _Way:
    """Each place at which a further link may stand; returns the end."""
    at, pending, hops, parts = path.split("/")[:-1], target.split("/")[::-1], 0, 0
    if _is_absolute(target):
        return None
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return None
            at.pop()
            continue
        at.append(part)
        parts, place = parts + 1, "/".join(at)
        if parts > _MOST_PARTS or len(place) > MAX_TARGET:
            return None
        yield place
        further = read(place)
        if further is None:
            continue
        hops += 1
        if hops > MOST_HOPS or _is_absolute(further):
            return None
        at.pop()
        pending += further.split("/")[::-1]
    return "/".join(at)


def _is_absolute(target: str) -> bool:
    return target.startswith("/") or target[1:2] == ":"  # as Windows has it


def escaped(text: str) -> str:
    """Text in which every character can be seen, and each is told from the others."""
    return "".join(
        c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in text
    )


def shown(path: str) -> str:
    """The same for people, cut where it is long."""
    text = escaped(path)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
