"""Inheritance: server ← organisation ← repository, the nearer one first.

An organisation's `baron.yml` and a repository's `.github/baron.yml` have sections named like
the server's files. Nearer routes go before inherited ones, inherited overrides before nearer
ones; maps merge key by key. What could reach outside (programs, addresses, folders of the
server, further Apps) or raise a limit is the server's alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from app.config.document import Document, Mark, Path, read
from app.config.loader import FILES, Config, assemble
from app.config.models import Budget, Questions, Role
from app.config.problems import ConfigInvalid, Problem, suggestion
from app.questions.durations import duration

ELSEWHERE = frozenset({"knowledge", "routing"})
"""Sections that are read by the rooms they belong to."""

_SHORTEST = timedelta(seconds=10)

_SERVER_ONLY: tuple[tuple[str, ...], ...] = (
    ("answerers", "channels"),
    ("answerers", "hooks"),
    ("answerers", "allow_hosts"),
    ("agents", "apps"),
    ("agents", "roles", "*", "command"),
    ("agents", "roles", "*", "base_url"),
    ("agents", "roles", "*", "knowledge"),
    ("agents", "roles", "*", "key"),
    ("agents", "prices"),
)


def parse_layer(text: str, file: str) -> Document:
    """The content of a `baron.yml`. Raises `Unreadable` or `ConfigInvalid`."""
    document = read(text, file)
    errors = list(_bad_sections(document))
    if errors:
        raise ConfigInvalid(errors)
    return document


def _bad_sections(document: Document) -> Iterator[Problem]:
    known = {*FILES, *ELSEWHERE}
    for name, value in document.data.items():
        if name not in known:
            yield document.problem((name,), f"unknown section{suggestion(name, known)}")
        elif value is not None and not isinstance(value, dict):
            yield document.problem((name,), "must be a map")


def merge(
    server: Config, organisation: Document | None = None, repository: Document | None = None
) -> Config:
    """What is in force in a repository. Raises `ConfigInvalid` for a bad nearer layer."""
    documents, errors = dict(server.documents), []
    for layer in (organisation, repository):
        if layer is None:
            continue
        errors += [*_forbidden(layer), *_raised(layer, documents)]
        documents = {
            section: _Merger(layer.section(section), outer).merged()
            for section, outer in documents.items()
        }
    return assemble(documents, errors)


def _forbidden(layer: Document) -> Iterator[Problem]:
    what = "only the server's configuration may set this"
    for pattern in _SERVER_ONLY:
        for path in _paths(layer.data, pattern):
            yield layer.problem(path, what)
    for path in _paths(layer.data, ("agents", "roles", "*", "backend")):
        if _at(layer.data, path) == "command":
            yield layer.problem(path, 'only the server may set "command"')


def _raised(layer: Document, outer: dict[str, Document]) -> Iterator[Problem]:
    """Limits that are higher than the layers around it allow."""
    for pattern, default in (
        (("baron", "questions", "limit"), Questions.model_fields["limit"].default),
        (("agents", "roles", "*", "capacity"), Role.model_fields["capacity"].default),
        (("agents", "roles", "*", "timeout"), Role.model_fields["timeout"].default),
    ):
        for path in _paths(layer.data, pattern):
            inherited = _at(outer[pattern[0]].data, path[1:])
            limit = default if inherited is None else inherited
            if _size(_at(layer.data, path)) > _size(limit):
                yield layer.problem(path, f"may not be above {limit}, which it inherits")
    for path in _paths(layer.data, ("agents", "roles", "*", "timeout")):
        if timedelta() < _size(_at(layer.data, path)) < _SHORTEST:
            yield layer.problem(path, "may not be under 10s: a call that is cut off is paid for")
    for name, field in Budget.model_fields.items():
        yield from _raised_cap(layer, outer["agents"], name, field.default)


def _raised_cap(layer: Document, outer: Document, name: str, default: object) -> Iterator[Problem]:
    """A budget above the inherited one, or none at all where there was one."""
    for path in _paths(layer.data, ("agents", "budget", name)):
        around = outer.data.get("budget")
        set_there = isinstance(around, dict) and name in around
        limit = around[name] if set_there and isinstance(around, dict) else default
        mine = _at(layer.data, path)
        if limit is not None and (mine is None or _usd(mine) > _usd(limit)):
            yield layer.problem(path, f"may not be above {limit}, which it inherits")


def _usd(value: object) -> float:
    """A cap as something to compare; what is none at all is found out elsewhere."""
    return float(value) if isinstance(value, int | float) else 0.0


def _size(value: object) -> timedelta:
    """A limit as something to compare; what is no limit at all is found out elsewhere."""
    if isinstance(value, int):
        return timedelta(seconds=min(value, 10**6))
    try:
        return duration(value) if isinstance(value, str) else timedelta()
    except ValueError:
        return timedelta()


def _paths(data: Any, pattern: Sequence[str]) -> Iterator[Path]:
    """Paths in the data that a pattern names; `*` is any key."""
    if not pattern:
        yield ()
        return
    if isinstance(data, dict):
        for key in list(data) if pattern[0] == "*" else [pattern[0]]:
            if key in data:
                yield from ((key, *path) for path in _paths(data[key], pattern[1:]))


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data.get(part) if isinstance(data, dict) else None
    return data


class _Merger:
    """Puts one document before another; every value keeps the mark of where it was written."""

    def __init__(self, near: Document, outer: Document) -> None:
        self._near, self._outer = near, outer
        self._marks: dict[Path, Mark] = {(): near.marks[()] if near.data else outer.marks[()]}

    def merged(self) -> Document:
        """Both in one."""
        return Document(self._maps(self._near.data, self._outer.data, ()), self._marks)

    def _maps(self, near: dict[str, Any], outer: dict[str, Any], path: Path) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key in (*near, *(key for key in outer if key not in near)):
            place = (*path, key)
            if key in near and key in outer:
                merged[key] = self._both(near[key], outer[key], place)
            elif key in near:
                merged[key] = self._copy(self._near, near[key], place, place)
            else:
                merged[key] = self._copy(self._outer, outer[key], place, place)
        return merged

    def _both(self, near: Any, outer: Any, path: Path) -> Any:
        if isinstance(near, dict) and isinstance(outer, dict):
            self._mark(self._near, path, path)
            return self._maps(near, outer, path)
        if isinstance(near, list) and isinstance(outer, list):
            if path == ("routes",):
                return self._lists([(self._near, near), (self._outer, outer)], path)
            if path == ("overrides",):
                return self._lists([(self._outer, outer), (self._near, near)], path)
        return self._copy(self._near, near, path, path)

    def _lists(self, parts: list[tuple[Document, list[Any]]], path: Path) -> list[Any]:
        self._mark(parts[0][0], path, path)
        merged: list[Any] = []
        for document, items in parts:
            for number, item in enumerate(items):
                merged.append(self._copy(document, item, (*path, number), (*path, len(merged))))
        return merged

    def _copy(self, document: Document, value: Any, path: Path, place: Path) -> Any:
        """A value with its marks, at another place if it is an item of a longer list now."""
        self._mark(document, path, place)
        if isinstance(value, dict):
            return {
                key: self._copy(document, item, (*path, key), (*place, key))
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [
                self._copy(document, item, (*path, number), (*place, number))
                for number, item in enumerate(value)
            ]
        return value

    def _mark(self, document: Document, path: Path, place: Path) -> None:
        if path in document.marks:
            self._marks[place] = document.marks[path]
