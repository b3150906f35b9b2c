"""YAML text → plain data that remembers on which line everything stood.

Anybody who may write to a repository can send such a text, so size, depth and the number of
nodes are bounded, aliases counted as often as they are used. Nothing but texts, numbers, truth
values, lists and maps is built, and a key that stands twice is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from app.config.problems import Problem, path_text

MAX_BYTES = 1_000_000
MAX_NODES = 30_000
MAX_DEPTH = 20

Path = tuple[str | int, ...]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_AS_WRITTEN = frozenset({_TAG + "str", _TAG + "timestamp"})
_CHARACTER = "has a character that YAML does not allow"
_READ = frozenset({_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"})


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a key or a list item was written; it keeps its place when documents are merged."""

    file: str
    line: int
    path: Path = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data, and a mark for every path in it."""

    data: dict[str, Any]
    marks: Mapping[Path, Mark]

    def mark(self, path: Path) -> Mark:
        """Where a path was written, or the nearest thing around it that was."""
        return self.marks[self._marked(path)]

    def problem(self, path: Path, what: str) -> Problem:
        """A problem at a path of this document, in the words of the file it comes from."""
        marked = self._marked(path)
        mark = self.marks[marked]
        rest: Path = path[len(marked) :]
        if rest and isinstance(rest[0], int):  # an item of a list that was written as one value
            rest = ()
        return Problem(mark.file, max(mark.line, 1), path_text((*mark.path, *rest)), what)

    def _marked(self, path: Path) -> Path:
        while path and path not in self.marks:
            path = path[:-1]
        return path

    def section(self, name: str) -> Document:
        """The map under a key of the document as a document of its own; empty if absent."""
        marks = {path[1:]: mark for path, mark in self.marks.items() if path[:1] == (name,)}
        value = self.data.get(name)
        marks[()] = self.marks[()]
        return Document(value if isinstance(value, dict) else {}, marks)


def empty(file: str) -> Document:
    """A document without content, for a file that is not there."""
    return Document({}, {(): Mark(file, 1)})


def built_in(data: dict[str, Any], file: str) -> Document:
    """A document for data that stands in no file."""
    return Document(data, {(): Mark(file, 0)})


class Unreadable(Exception):
    """The text is not YAML that we take; `problem` says where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read(text: str, file: str) -> Document:
    """The document in a text. Raises `Unreadable`."""
    try:
        if len(text.encode()) > MAX_BYTES:
            raise Unreadable(Problem(file, 1, "", f"is larger than {MAX_BYTES:,} bytes"))
    except UnicodeEncodeError:  # half a character, from JSON with a lone \ud800
        raise Unreadable(Problem(file, 1, "", _CHARACTER)) from None
    reader = _Reader(file)
    try:
        reader.bounded(text)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise Unreadable(_syntax(error, text, file)) from None
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == _TAG + "null"):
        return empty(file)
    if not isinstance(root, yaml.MappingNode):
        raise reader.error(root, (), "must be a map of keys at its top")
    reader.marks[()] = Mark(file, 1)
    return Document(reader.value(root, ()), reader.marks)


def _syntax(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """What a YAML parser complains about, in one sentence and with its line."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow; it tells only its position
        before = text.encode()[: int(getattr(error, "position", 0))]
        return Problem(file, before.count(b"\n") + 1, "", _CHARACTER)
    what = getattr(error, "problem", None) or getattr(error, "context", None) or "not YAML"
    hint = ""
    lines = text.splitlines()
    if mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "@":
        hint = ' (put a name that begins with "@" in quotes)'
    line = min(mark.line + 1, max(len(lines), 1))  # the end of the text counts to its last line
    return Problem(file, line, "", f"is not valid YAML: {what}{hint}")


class _Reader:
    """Builds values from nodes and counts what it builds."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.marks: dict[Path, Mark] = {}
        self._nodes = 0
        self._scalars = SafeConstructor()

    def error(self, node: yaml.Node | yaml.Event, path: Path, what: str) -> Unreadable:
        line = node.start_mark.line + 1 if node.start_mark else 1
        return Unreadable(Problem(self.file, line, path_text(path), what))

    def bounded(self, text: str) -> None:
        """Refuse what is too deep or too much before any tree of it is built."""
        depth = 0
        for count, event in enumerate(yaml.parse(text, Loader=_Loader)):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                raise self.error(event, (), f"is nested deeper than {MAX_DEPTH} levels")
            if count > 2 * MAX_NODES:
                raise self.error(event, (), f"has more than {MAX_NODES:,} entries")

    def value(self, node: yaml.Node, path: Path) -> Any:
        """The value of a node; marks are left for everything in it."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self.error(node, path, f"has more than {MAX_NODES:,} entries")
        if len(path) > MAX_DEPTH:
            raise self.error(node, path[:3], f"is nested deeper than {MAX_DEPTH} levels")
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return dict(self._items(node, path))
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self._item(child, (*path, number)) for number, child in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        raise self._tagged(node, path)

    def _items(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, path, "has a key that is not a word")
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if key in lines:
                what = f"stands twice (first on line {lines[key]})"
                raise self.error(key_node, (*path, key), what)
            lines[key] = line
            self.marks[(*path, key)] = Mark(self.file, line, (*path, key))
            yield key, self.value(value_node, (*path, key))

    def _item(self, node: yaml.Node, path: Path) -> Any:
        self.marks[path] = Mark(self.file, node.start_mark.line + 1, path)
        return self.value(node, path)

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        if node.tag in _AS_WRITTEN:
            return node.value
        if node.tag not in _READ:
            raise self._tagged(node, path)
        try:
            return self._scalars.construct_object(node)
        except (ValueError, KeyError):
            short = node.value[:40]
            raise self.error(node, path, f'"{short}" is not what its tag says') from None

    def _tagged(self, node: yaml.Node, path: Path) -> Unreadable:
        return self.error(node, path, f'the tag "{node.tag}" is not allowed')
