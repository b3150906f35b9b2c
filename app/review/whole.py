"""Findings about files and the pull request as a whole (specs/1, US5.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.review.model import Changed, Finding, Severity, Subject
from app.review.names import code, is_code, is_test, listed, suffix, words
from app.review.patches import read_patch

LARGE = 1 << 20
"""Bytes; from here on a file is slow to fetch and to show."""
HUGE = 10 << 20
"""Bytes; from here on it had better never get into the history."""


def scope(subject: Subject) -> Iterator[Finding]:
    """Paths that the agent which signed for them may not write."""
    for one in subject.trespasses:
        named = not one.agent or f"@{one.agent}" in one.why
        owners = " ".join(f"`{owner}`" for owner in one.owners) or "nobody"
        rule = f"line {one.line} says so" if one.line else "no line names it"
        yield Finding(
            "scope",
            Severity.BLOCKING,
            f"{code(one.path)} is out of scope: {one.why}."
            + ("" if named else f" `@{one.agent}` changed it."),
            f"By the scopes it belongs to {owners}: {rule}. Take the change out, or have whoever"
            " it belongs to make it.",
            one.path,
            excerpt=one.agent,
        )


def partial(subject: Subject) -> Iterator[Finding]:
    """Says what was not looked at."""
    if not subject.complete:
        yield Finding(
            "partial",
            Severity.IMPORTANT,
            "The pull request is larger than GitHub shows; only what it shows was looked at.",
            "Whatever is wrong with the rest is not among these findings: split the pull request.",
        )


def unjudged(subject: Subject) -> Iterator[Finding]:
    """Says that nobody looked whether it is in scope."""
    if not subject.judged:
        yield Finding(
            "unjudged",
            Severity.IMPORTANT,
            "Whether all of it is in the scope of its agents was not looked at here.",
            "GitHub does not tell who changed what in it. The check `baron/scope` of the service"
            " reads that from git; a job on a runner cannot.",
        )


_LOCKS = frozenset(("package-lock.json", "pnpm-lock.yaml", "go.sum", "npm-shrinkwrap.json"))


def large(subject: Subject) -> Iterator[Finding]:
    """Files that make every clone larger for good; lists of locked versions may be long."""
    for file in subject.files:
        size, name = file.size or 0, file.path.rpartition("/")[2]
        lock = name in _LOCKS or name.endswith(".lock")
        moved = file.status in {"removed", "unchanged"} or _only_renamed(file)
        if moved or size <= (HUGE if lock else LARGE):
            continue
        yield Finding(
            "large",
            Severity.BLOCKING if size > HUGE else Severity.IMPORTANT,
            f"{code(file.path)} has {size / LARGE:.1f} MiB.",
            "It stays in the history, and so in every clone, when it is deleted later: put it into"
            " Git LFS, or leave it out if something else can make it.",
            file.path,
        )


_PICTURES = frozenset(
    "png jpg jpeg gif webp avif bmp ico icns tif tiff woff woff2 ttf otf eot pdf mp3 mp4".split()
)
_BUILT = frozenset(
    """pyc pyo pyd class jar war ear so dylib dll exe o a lib obj wasm bin msi dmg deb rpm apk aab
    ipa whl egg gem nupkg zip tar gz tgz bz2 xz zst 7z rar sqlite sqlite3 db""".split()
)


def binary(subject: Subject) -> Iterator[Finding]:
    """Files without lines. An empty file or a new mode looks the same: endings decide."""
    bare = [file.path for file in subject.files if _binary(file)]
    built = [path for path in bare if suffix(path) in _BUILT]
    for path in built:
        yield Finding(
            "binary",
            Severity.IMPORTANT,
            f"{code(path)} is a file that programs make, and nobody can read what changed in it.",
            "What is built or packed can be made again: add it to `.gitignore` and build it where"
            " it is needed. If it must be kept, put it into Git LFS.",
            path,
        )
    pictures = [path for path in bare if suffix(path) in _PICTURES]
    if pictures:
        verb = "is a binary file" if len(pictures) == 1 else "are binary files"
        yield Finding(
            "picture",
            Severity.MINOR,
            f"{listed([code(path) for path in pictures])} {verb}.",
            "The review cannot see what is in there: look at it. If it changes often, Git LFS keeps"
            " the history small.",
            pictures[0] if len(pictures) == 1 else "",
        )


def _binary(file: Changed) -> bool:
    shown = file.patch is not None or file.added or file.deleted
    said = file.size is not None and (not file.size or file.size > LARGE)
    return not (shown or said) and file.status in {"added", "modified", "copied"}


def _only_renamed(file: Changed) -> bool:
    return file.status == "renamed" and not (file.patch or file.added or file.deleted)


def untested(subject: Subject) -> Iterator[Finding]:
    """Changed code of which no changed test speaks: one that shares a word will do."""
    changed = [file for file in subject.files if _says_something(file)]
    bare = _without_tests(
        [file.path for file in changed if is_code(file.path) and _programs(file)],
        [file.path for file in subject.files if _tests(file)],
    )
    if bare:
        yield Finding(
            "untested",
            Severity.IMPORTANT,
            f"No test was changed for {listed([code(path) for path in bare])}.",
            "What no test covers breaks unseen: add a test that fails without the change, or say"
            " in the description which test covers it.",
        )


def _without_tests(changed: Sequence[str], tests: Sequence[str]) -> list[str]:
    """Code that shares no telling word with a test, nor a telling folder with tested code.

    A name that tells nothing, as `src/app.py`, belongs to whatever test there is.
    """
    if not tests:
        return list(changed)
    said = frozenset[str]().union(*map(words, tests))
    tested = {path for path in changed if not words(path) or words(path) & said}
    folders = {_folder(path) for path in tested}
    folders = {folder for folder in folders if words(f"{folder}/")}
    return [path for path in changed if path not in tested and _folder(path) not in folders]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _tests(file: Changed) -> bool:
    """A test that says something new; Rust keeps tests beside the code."""
    inline = suffix(file.path) == "rs" and "#[" in (file.patch or "") and _rust_tests(file)
    return (is_test(file.path) or inline) and _says_something(file)


def _rust_tests(file: Changed) -> bool:
    marks = ("#[test]", "#[cfg(test)]", "#[tokio::test")
    return any(line.text.strip().startswith(marks) for line in read_patch(file.patch).added)


def _says_something(file: Changed) -> bool:
    return file.status not in {"removed", "unchanged"} and not _only_renamed(file)


_HASHES = frozenset("py rb ex exs".split())
_QUOTES = ('"""', "'''")


def _programs(file: Changed) -> bool:
    """Whether it adds more than comments and empty lines; a patch too long to show does."""
    if not file.patch:
        return file.added > 0
    hashes = suffix(file.path) in _HASHES
    inside = False
    for line in read_patch(file.patch).lines:
        text = line.text.strip()
        if inside:
            inside = not (_odd(text) if hashes else "*/" in text)
        elif text.startswith(_QUOTES if hashes else ("/*", "<!--")):
            inside = _odd(text) if hashes else text.startswith("/*") and "*/" not in text
        elif line.added and _is_program(text, hashes):
            return True
    return False


def _odd(text: str) -> bool:
    return sum(map(text.count, _QUOTES)) % 2 == 1


def _is_program(text: str, hashes: bool) -> bool:
    comment = text.startswith("#" if hashes else ("//", "* ", "*/")) or text == "*"
    return not comment and any(map(str.isalnum, text))
