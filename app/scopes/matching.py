"""Finds the last of many rules that matches a path.

The patterns are merged into a tree of levels. What is written out is looked up, and one `re2.Set`
answers for all globs (`a*b`) at once. A set over whole paths would need a new state for nearly
every letter. Where a folder leads to in the tree is remembered: a further path in it costs a few
look-ups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import re2

from app.scopes.patterns import Kind, Level, Shape

NONE = 0
"""No rule: lines count from 1."""

MAX_REMEMBERED = 20_000
"""Folders; then all are forgotten, so that memory stays bounded."""

MAX_MEMORY = 64 << 20
"""Bytes that the `re2.Set` may use for its states. It forgets and goes on when they are full."""

_EVERY_NAME = "(?s:.*)"


class Globs:
    """Which of many expressions match a name as a whole."""

    def __init__(self, expressions: Sequence[str]) -> None:
        self._options = re2.Options()
        self._options.max_mem = MAX_MEMORY
        self._options.never_capture = True
        self._options.log_errors = False
        self._expressions = expressions
        self._set = self._compiled()

    def matching(self, name: str) -> Sequence[int]:
        """Their places, in no order. May hold one more, behind the last."""
        # A set that runs out of memory finds nothing, but the last expression always matches.
        if self._set and (found := self._set.Match(name.encode())):
            return found  # type: ignore[no-any-return]
        return [place for place, one in enumerate(self._alone) if one.fullmatch(name)]

    def _compiled(self) -> re2.Set | None:
        found = re2.Set.FullMatchSet(self._options)
        try:
            for one in (*self._expressions, _EVERY_NAME):
                found.Add(one)
            found.Compile()
        except re2.error:  # more than fits into the memory: one after the other, then
            return None
        return found

    @cached_property
    def _alone(self) -> list[Any]:
        return [re2.compile(one) for one in self._expressions]


class _Node:
    """A place in the tree. `itself` and `below` are the last lines that end here, or 0."""

    __slots__ = ("any", "below", "endings", "globs", "itself", "literals", "one", "stays")

    def __init__(self, stays: bool = False) -> None:
        self.stays = stays
        self.itself = self.below = NONE
        self.literals: dict[str, _Node] = {}
        self.endings: dict[str, _Node] = {}
        self.globs: dict[int, _Node] = {}
        self.one: _Node | None = None
        self.any: _Node | None = None

    def reached(self) -> list[_Node]:
        """This place, and those that `**` reaches from it without a further level."""
        found = [self]
        while further := found[-1].any:
            found.append(further)
        return found


class _Folder:
    """Where folders lead to: all their places in the tree at once."""

    __slots__ = ("always", "below", "children", "endings", "globs", "literals")

    def __init__(self, nodes: Iterable[_Node]) -> None:
        self.below = NONE
        """The last line whose levels end here and that covers all that is below."""
        self.children = NONE
        """The last line whose last level is `*` and that covers the direct children."""
        self.literals: list[dict[str, _Node]] = []
        self.endings: list[dict[str, _Node]] = []
        self.globs: list[dict[int, _Node]] = []
        always: list[_Node] = []
        for node in nodes:
            if node.below:
                self.below = max(self.below, node.below)
            if node.one:
                self.children = max(self.children, node.one.itself)
                always += node.one.reached()
            if node.stays:
                always += node.reached()
            if node.literals:
                self.literals.append(node.literals)
            if node.endings:
                self.endings.append(node.endings)
            if node.globs:
                self.globs.append(node.globs)
        self.always = frozenset(always)
        """The places one level further, whatever its name is."""

    def named(self, name: str, globs: Globs) -> list[_Node]:
        """The places one level further because of its name."""
        found = [node for each in self.literals if (node := each.get(name))]
        if self.endings:
            for ending in _endings(name):
                found += [node for each in self.endings if (node := each.get(ending))]
        if self.globs:
            for place in globs.matching(name):
                found += [node for each in self.globs if (node := each.get(place))]
        return found


_Place = tuple[_Folder, int, int]
"""A folder, the last line that covers all below it, the last that covers its direct children."""


class Matcher:
    """The rules, each a line and a shape, in the order of their lines."""

    def __init__(self, shapes: Iterable[tuple[int, Shape]]) -> None:
        top = _Node()
        places: dict[str, int] = {}
        for line, shape in shapes:
            node = top
            for level in shape.levels:
                node = _child(node, level, places)
            node.itself = line if shape.itself else node.itself
            node.below = line if shape.below else node.below
        self._globs = Globs(list(places))
        root = _Folder(top.reached())
        self._root: _Place = (root, root.below, max(root.below, root.children))
        self._forget()

    def line(self, path: str) -> int:
        """The last line that matches a path, 0 if none does. No level of the path is empty."""
        above, _, name = path.rpartition("/")
        folder, _, last = self._seen.get(above) or self._enter(above)
        # written out, not with `named`: every path of a change goes through here
        for literals in folder.literals:
            if (node := literals.get(name)) and node.itself > last:
                last = node.itself
        if folder.endings:
            dot = name.find(".")
            while dot >= 0:
                for endings in folder.endings:
                    if (node := endings.get(name[dot:])) and node.itself > last:
                        last = node.itself
                dot = name.find(".", dot + 1)
        if folder.globs:
            for place in self._globs.matching(name):
                for globs in folder.globs:
                    if (node := globs.get(place)) and node.itself > last:
                        last = node.itself
        return last

    def _enter(self, path: str) -> _Place:
        """Where a path of a folder leads to."""
        seen, names = self._seen, []
        while path not in seen:
            path, _, name = path.rpartition("/")
            names.append(name)
        known = seen[path]
        if len(seen) + len(names) > MAX_REMEMBERED:
            self._forget()
            seen = self._seen
        for name in reversed(names):
            path = f"{path}/{name}" if path else name
            further = self._further(known[0], name)
            below = max(known[1], further.below)
            known = seen[path] = (further, below, max(below, further.children))
        return known

    def _further(self, folder: _Folder, name: str) -> _Folder:
        nodes = folder.always
        if named := folder.named(name, self._globs):
            nodes = nodes.union(*(node.reached() for node in named))
        found = self._folders.get(nodes)
        if found is None:
            found = self._folders[nodes] = _Folder(nodes)
        return found

    def _forget(self) -> None:
        self._folders: dict[frozenset[_Node], _Folder] = {}
        self._seen: dict[str, _Place] = {"": self._root}


def _child(node: _Node, level: Level, places: dict[str, int]) -> _Node:
    """The place one level further; made if no pattern before led there."""
    match level.kind:
        case Kind.LITERAL:
            return node.literals.setdefault(level.text, _Node())
        case Kind.ENDING:
            return node.endings.setdefault(level.text, _Node())
        case Kind.GLOB:
            return node.globs.setdefault(places.setdefault(level.text, len(places)), _Node())
        case Kind.ONE:
            node.one = node.one or _Node()
            return node.one
        case Kind.ANY:
            node.any = node.any or _Node(stays=True)
            return node.any


def _endings(name: str) -> list[str]:
    """What follows each dot of a name, dot included."""
    found = []
    dot = name.find(".")
    while dot >= 0:
        found.append(name[dot:])
        dot = name.find(".", dot + 1)
    return found
