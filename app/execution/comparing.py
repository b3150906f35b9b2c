"""What is not as in the base, path by path, and what is odd about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from app.execution.tree import Item, blob_of, look, points_nowhere
from app.scopes.links import escaped

GITLINK, FOLDER = "160000", "040000"
_EMPTY = blob_of(b"")
_LINK = "120000"


class Kind(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    MODE = "mode"
    IGNORED = "ignored"
    """New, and `.gitignore` leaves it out."""


@dataclass(frozen=True, slots=True)
class Change:
    """One path that is not as in the base. Bytes that are no UTF-8 are lone surrogates in it."""

    path: str
    kind: Kind
    old_path: str | None = None
    """Where a renamed file was."""
    mode: str = ""
    """As git writes it, six octal digits; empty for what is gone."""
    target: str | None = None
    """What a link says."""
    leads_to: str | None = None
    """Where the link ends, through all others, from the root; None if outside the worktree."""
    blob: str = ""
    """The id of the content that was judged; no other gets into a commit."""
    odd: str = ""
    """Why it can be in no commit, whoever's it is."""

    @property
    def shown(self) -> str:
        """The path for people and logs, in which nothing is invisible."""
        return escaped(self.path)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that it concerns."""
        return (self.path,) if self.old_path is None else (self.old_path, self.path)


Base = Mapping[str, tuple[str, str]]
"""Mode and object of each path in the base."""


def compared(
    root: Path, base: Base, dirty: set[str], fresh: list[str], ignored: Collection[str]
) -> tuple[Change, ...]:
    found = [one for path in dirty if (one := _differing(root, path, base[path]))]
    if not points_nowhere(root):
        found.append(Change(".git", Kind.MODIFIED, odd="is git's own"))
    for path in fresh:
        if path in ignored:
            found.append(Change(path, Kind.IGNORED))
        elif path != ".git" and (item := look(root, path)):
            found.append(_change(path, Kind.ADDED, item))
    named = _without_collisions(_with_odd_names(_with_renames(found, base)), base)
    return tuple(sorted(named, key=lambda one: one.path))


def _differing(root: Path, path: str, before: tuple[str, str]) -> Change | None:
    mode, blob = before
    item = look(root, path)
    if mode == GITLINK:
        if item is not None and item.mode == FOLDER:
            return None
        kind = Kind.MODIFIED if item else Kind.DELETED
        return Change(path, kind, mode=GITLINK, odd="is a submodule")
    if item is None or item.mode == FOLDER:  # what is in the folder is new
        return Change(path, Kind.DELETED)
    if (item.mode, item.blob) == (mode, blob):
        return None
    linked = _LINK in (mode, item.mode)
    return _change(path, Kind.MODE if item.blob == blob and not linked else Kind.MODIFIED, item)


def _change(path: str, kind: Kind, item: Item) -> Change:
    return Change(
        path, kind, None, item.mode, item.target, item.leads_to, blob=item.blob, odd=item.odd
    )


def _with_renames(found: list[Change], base: Base) -> Iterator[Change]:
    """A file that went and came with the same content was renamed."""
    left: dict[str, list[Change]] = {}
    for one in sorted(found, key=lambda one: one.path):
        if one.kind is Kind.DELETED and base[one.path][1] != _EMPTY and not one.odd:
            left.setdefault(base[one.path][1], []).append(one)
    renamed: set[str] = set()
    for one in found:
        if one.kind is Kind.ADDED and (of_it := left.get(one.blob)):
            old = of_it.pop(0)
            renamed.add(old.path)
            yield replace(one, kind=Kind.RENAMED, old_path=old.path)
        elif one.kind is not Kind.DELETED:
            yield one
    yield from (one for one in found if one.kind is Kind.DELETED and one.path not in renamed)


def _with_odd_names(found: Iterable[Change]) -> Iterator[Change]:
    for one in found:
        if one.kind in (Kind.ADDED, Kind.RENAMED) and not one.odd and not one.path.isprintable():
            yield replace(one, odd="has a name with invisible characters or bytes that are no text")
        else:
            yield one


def _without_collisions(found: Iterable[Change], base: Base) -> Iterator[Change]:
    """Names that are one name on macOS and Windows: the later one is odd."""
    all_of_them = list(found)
    new = {one.path for one in all_of_them if one.kind in (Kind.ADDED, Kind.RENAMED)}
    if not new:
        yield from all_of_them
        return
    left = {path for one in all_of_them for path in gone(one)}
    seen: dict[str, str] = {}
    for path in base:
        if path not in left:
            for level in levels(path):
                seen.setdefault(level.casefold(), level)
    for one in sorted(all_of_them, key=lambda one: one.path):
        other = one.path in new and _collision(one.path, seen)
        odd = f"differs from {escaped(other)} only in the case of letters" if other else ""
        yield replace(one, odd=odd) if odd and not one.odd else one


def gone(one: Change) -> tuple[str, ...]:
    """What is no longer there."""
    if one.kind is Kind.DELETED:
        return (one.path,)
    return (one.old_path,) if one.old_path else ()


def before(one: Change) -> tuple[str, ...]:
    """What the base has and comes back when the change is undone."""
    return (one.path,) if one.kind in (Kind.MODIFIED, Kind.MODE) else gone(one)


def _collision(path: str, seen: dict[str, str]) -> str:
    for level in levels(path):
        other = seen.setdefault(level.casefold(), level)
        if other != level:
            return other
    return ""


def levels(path: str) -> list[str]:
    """The path and all folders above it."""
    parts = path.split("/")
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
