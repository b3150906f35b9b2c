"""Questions that wait for each other's answers: order, circles, and what rests on an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def circles(depends_on: Mapping[int, Sequence[int]]) -> list[tuple[int, ...]]:
    """Every circle once, from its lowest number on: `(1, 3)` means 1 → 3 → 1."""
    found: list[tuple[int, ...]] = []
    finished: set[int] = set()
    for start in sorted(depends_on):
        _walk(start, depends_on, [], finished, found)
    return found


def _walk(
    here: int,
    depends_on: Mapping[int, Sequence[int]],
    way: list[int],
    finished: set[int],
    found: list[tuple[int, ...]],
) -> None:
    if here in way:
        circle = way[way.index(here) :]
        lowest = circle.index(min(circle))
        turned = (*circle[lowest:], *circle[:lowest])
        if turned not in found:
            found.append(turned)
        return
    if here in finished:
        return
    way.append(here)
    for other in depends_on.get(here, ()):
        _walk(other, depends_on, way, finished, found)
    way.pop()
    finished.add(here)


def resting_on(number: int, depends_on: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """The questions that rest on an answer, directly or through others, in order."""
    resting: set[int] = set()
    fresh = {number}
    while fresh:
        fresh = {n for n, needs in depends_on.items() if fresh & set(needs)} - resting - {number}
        resting |= fresh
    return tuple(sorted(resting))


def shown(circle: Sequence[int]) -> str:
    """`Q1 → Q3 → Q1`."""
    return " → ".join(f"Q{number}" for number in (*circle, circle[0]))
