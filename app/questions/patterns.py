"""Patterns over topics: `*` is exactly one level, `**` any number of levels, also none.

`PatternIndex` finds the first of many patterns that matches, in the time it takes to walk the
topic once. `covers` tells whether a pattern leaves another nothing to match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

ONE = "*"
ANY = "**"
MAX_LEVELS = 16
MAX_PAIRS = 200
MAX_COMPARISONS = 2000

_LITERAL = re.compile(r"[a-z0-9][a-z0-9_-]*")
_OTHER = "?"
"""Stands for every level that no pattern at hand names; never a real level."""


def problem(pattern: str) -> str | None:
    """What is wrong with a pattern, or None if nothing is."""
    if not pattern:
        return "is empty"
    if pattern != pattern.lower():
        return f'topics are lower case: write "{pattern.lower()}"'
    parts = pattern.split(".")
    if len(parts) > MAX_LEVELS:
        return f"has more than {MAX_LEVELS} levels"
    return next(filter(None, map(_level_problem, parts)), None)


def _level_problem(part: str) -> str | None:
    if part in (ONE, ANY) or _LITERAL.fullmatch(part):
        return None
    if not part:
        return "has an empty level (a dot too many)"
    if ONE in part:
        return f'"{part}": a wildcard stands for a whole level ("*" one, "**" any number)'
    return f'"{part}": a level is made of letters, digits, "-" and "_"'


def parse(pattern: str) -> tuple[str, ...]:
    """The levels of a pattern. Raises `ValueError` with what `problem` says."""
    if what := problem(pattern):
        raise ValueError(what)
    return tuple(pattern.split("."))


class _Node:
    """A place in the tree of all patterns; `loops` is true behind a `**`."""

    __slots__ = ("any", "index", "literals", "loops", "one")

    def __init__(self, loops: bool = False) -> None:
        self.literals: dict[str, _Node] = {}
        self.one: _Node | None = None
        self.any: _Node | None = None
        self.loops = loops
        self.index: int | None = None

    def child(self, level: str) -> _Node:
        """The node behind one more level, made if it is not there yet."""
        if level == ANY:
            if self.any is None:
                self.any = _Node(loops=True)
            return self.any
        if level == ONE:
            if self.one is None:
                self.one = _Node()
            return self.one
        return self.literals.setdefault(level, _Node())


class PatternIndex:
    """Many patterns in their order, as one tree. Raises `ValueError` for a bad pattern."""

    __slots__ = ("_root",)

    def __init__(self, patterns: Iterable[str]) -> None:
        self._root = _Node()
        for index, pattern in enumerate(patterns):
            node = self._root
            for level in parse(pattern):
                node = node.child(level)
            if node.index is None:
                node.index = index

    def first(self, levels: Sequence[str]) -> int | None:
        """The number of the first pattern that matches these levels, or None."""
        found = self._ends(levels)
        return min(found) if found else None

    def all(self, levels: Sequence[str]) -> list[int]:
        """The numbers of all patterns that match, in order; of equal patterns the first."""
        return sorted(self._ends(levels))

    def _ends(self, levels: Sequence[str]) -> list[int]:
        active = _with_empty([self._root])
        for level in levels:
            following: list[_Node] = []
            for node in active:
                literal = node.literals.get(level)
                if literal is not None:
                    following.append(literal)
                if node.one is not None:
                    following.append(node.one)
                if node.loops:
                    following.append(node)
            if not following:
                return []
            active = _with_empty(following)
        return [node.index for node in active if node.index is not None]


def _with_empty(nodes: list[_Node]) -> list[_Node]:
    """The nodes, and those reached when a `**` matches no level; the same node only once.

    Only a looping node can be reached twice: by its own loop, and over an empty `**` before it.
    """
    looping = {node for node in nodes if node.loops}
    for node in nodes:  # grows while it is walked, so `**.**` is followed to its end
        if node.any is not None and node.any not in looping:
            looping.add(node.any)
            nodes.append(node.any)
    return nodes


def _closed(pattern: Sequence[str], places: Iterable[int]) -> frozenset[int]:
    """Places in a pattern, and those behind every `**` that may match nothing there."""
    closed = set()
    for place in places:
        closed.add(place)
        behind = place
        while behind < len(pattern) and pattern[behind] == ANY:
            behind += 1
            closed.add(behind)
    return frozenset(closed)


def _step(pattern: Sequence[str], places: Iterable[int], level: str) -> frozenset[int]:
    """Where one level of a topic leads from these places in a pattern."""
    following = set()
    for place in places:
        if place < len(pattern):
            if pattern[place] == ANY:
                following.add(place)
            elif pattern[place] in (ONE, level):
                following.add(place + 1)
    return _closed(pattern, following)


def covers(wide: str, narrow: str) -> bool:
    """Whether every topic that `narrow` matches is matched by `wide`, too.

    Both are walked side by side over all topics that could tell them apart. Patterns made to
    explode (many `*` behind a `**`) are given up after `MAX_PAIRS` places, with False.
    """
    a, b = parse(wide), parse(narrow)
    alphabet = sorted((set(a) | set(b) | {_OTHER}) - {ONE, ANY})
    start = (_closed(a, [0]), _closed(b, [0]))
    seen, waiting = {start}, [start]
    while waiting:
        if len(seen) > MAX_PAIRS:
            return False
        in_a, in_b = waiting.pop()
        if len(b) in in_b and len(a) not in in_a:
            return False
        for level in alphabet:
            after = (_step(a, in_a, level), _step(b, in_b, level))
            if after[1] and after not in seen:
                seen.add(after)
                waiting.append(after)
    return True


def _witness(pattern: str, times: int) -> list[str]:
    """A topic that the pattern matches: unheard-of levels, `times` of them for each `**`."""
    topic: list[str] = []
    for level in parse(pattern):
        topic += [_OTHER] * times if level == ANY else [_OTHER if level == ONE else level]
    return topic


def shadowed(patterns: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (later, earlier): the later pattern can never be the first that matches.

    Only single patterns are held against each other: `a` and `a.*.**` together hide `a.**`,
    which is not found. Nor is anything after `MAX_COMPARISONS`: it is advice, not a wall.
    """
    left = MAX_COMPARISONS
    index = PatternIndex(patterns)
    first_of: dict[str, int] = {}
    pairs = []
    for later, pattern in enumerate(patterns):
        if (same := first_of.setdefault(pattern, later)) < later:
            pairs.append((later, same))
            continue
        candidates = set(index.all(_witness(pattern, 0))) & set(index.all(_witness(pattern, 2)))
        for earlier in sorted(number for number in candidates if number < later)[:left]:
            left -= 1
            if covers(patterns[earlier], pattern):
                pairs.append((later, earlier))
                break
    return pairs
