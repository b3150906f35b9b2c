"""How long it takes to say whose a path is: 2,000 rules, 20,000 paths not seen before.

Compared, in one process, with the `codeowners` package of PyPI, which tries the rules one after
the other. It is no dependency: it is installed into a temporary folder first. Each round has rules
and paths of its own, and each measurement begins with nothing remembered; ours, which is short, is
taken before and after theirs. The set-up is timed apart.

Two mixtures of rules, one of the kinds that GitHub's page shows, one with more stars, both of
patterns on which the two agree. Left out is what the package takes and GitHub does not (`[ ]`,
`!`), comments behind owners, which it reads as owners, and three stars in a row. The general rules
come first, as people write them where the last one wins. Owners and lines must be equal for every
path. `python -m bench.scopes`
"""

from __future__ import annotations

import argparse
import gc
import importlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from app.scopes import parse

PACKAGE = "codeowners"
PINNED = f"{PACKAGE}==0.9.0"
ENDINGS = "py ts md yaml go sql json css".split()
OURS, THEIRS = "app.scopes", PACKAGE
REPEATS = 5

Kinds = Callable[[str, str, str], dict[str, int]]
Prepare = Callable[[str], Callable[[str], Any]]
Found = list[tuple[tuple[str, ...], int | None]]


def install(folder: str) -> None:
    """The package, in a folder of its own. Raises `CalledProcessError`."""
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder)
    subprocess.run([*pip, PINNED], check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    sys.path.insert(0, folder)


def words(chance: random.Random, count: int) -> list[str]:
    """Names that folders and files have."""
    return [f"{chance.choice('abcdefghij')}{chance.getrandbits(24):x}" for _ in range(count)]


def tree(chance: random.Random, names: list[str], count: int) -> list[str]:
    """Folders, each in one that is there already, at most seven levels deep."""
    folders = [""]
    while len(folders) <= count:
        above = chance.choice(folders)
        if above.count("/") < 7:
            folders.append(f"{above}{chance.choice(names)}/")
    return folders[1:]


def documented(folder: str, name: str, ending: str) -> dict[str, int]:
    """The kinds of patterns on GitHub's page, and how many of a hundred they are."""
    return {
        f"/{folder}": 35,
        f"/{folder}{name}": 15,
        f"{folder}*": 15,
        f"{folder}{name}.{ending}": 20,
        f"*.{name}": 5,
        f"{name}/": 5,
        f"**/{name}": 5,
    }


def wild(folder: str, name: str, ending: str) -> dict[str, int]:
    """The same with more stars; the last three concern every name in the repository."""
    return {
        f"/{folder}": 35,
        f"/{folder}*.{ending}": 20,
        f"/{folder}**/{name}.{ending}": 15,
        f"/{folder}{name}*": 10,
        f"*.{name}.{ending}": 10,
        f"**/{name}/*.{ending}": 5,
        f"{name}*": 5,
    }


def inputs(chance: random.Random, args: argparse.Namespace, kinds: Kinds) -> tuple[str, list[str]]:
    """A scope file, and different paths in the folders that its rules are about."""
    names = words(chance, 400)
    folders = tree(chance, names, args.folders)
    rules: list[str] = []
    while len(rules) < args.rules - 1:
        choice = kinds(chance.choice(folders), chance.choice(names), chance.choice(ENDINGS))
        rules += chance.choices(list(choice), list(choice.values()))
    rules.sort(key=lambda pattern: pattern.rstrip("/").count("/"))  # stable
    lines = [f"{pattern} @acme/t{number}" for number, pattern in enumerate(["*", *rules])]
    paths = {
        f"{chance.choice(folders)}{chance.choice(names)}{chance.choice(['', f'-{number}'])}"
        f"{chance.choice(['', f'.{chance.choice(names)}'])}.{chance.choice(ENDINGS)}"
        for number in range(args.paths * 2)
    }
    return "\n".join(lines), sorted(paths, key=lambda _: chance.random())[: args.paths]


def ours(text: str) -> Callable[[str], Any]:
    """Made ready: one path to its verdict."""
    scopes = parse(text)
    if scopes.flaws:
        sys.exit(f"the bench wrote a rule that has a flaw: {scopes.flaws[0]}")
    return scopes.owners


def theirs(text: str) -> Callable[[str], Any]:
    """Made ready: one path to owners, line, pattern and section."""
    found: Callable[[str], Any] = importlib.import_module(PACKAGE).CodeOwners(text).matching_line
    return found


def timed(prepare: Prepare, text: str, paths: list[str]) -> tuple[float, float, list[Any]]:
    """Milliseconds of the set-up, microseconds a path, and what was found."""
    gc.collect()
    gc.disable()  # as `timeit` does, for both
    begun = time.perf_counter()
    find = prepare(text)
    ready = time.perf_counter()
    found = [find(path) for path in paths]
    ended = time.perf_counter()
    gc.enable()
    return (ready - begun) * 1e3, (ended - ready) / len(paths) * 1e6, found


def compare(mine: list[Any], other: list[Any], paths: list[str]) -> None:
    """Raises `SystemExit` with the first path on which they differ."""
    first: Found = [(one.owners, one.line) for one in mine]
    second: Found = [(tuple(name for _, name in owners), line) for owners, line, *_ in other]
    for path, left, right in zip(paths, first, second, strict=True):
        if left != right:
            sys.exit(f"{path}: {OURS} says {left}, {THEIRS} says {right}")


def measure(kinds: Kinds, args: argparse.Namespace) -> None:
    """Print the rows of one mixture of rules."""
    figures: dict[str, list[tuple[float, float]]] = {OURS: [], THEIRS: []}
    for number in range(args.rounds):
        text, paths = inputs(random.Random(number), args, kinds)
        mine = [timed(ours, text, paths) for _ in range(REPEATS)]
        other = timed(theirs, text, paths)
        mine += [timed(ours, text, paths) for _ in range(REPEATS)]
        for _, _, found in mine:
            compare(found, other[2], paths)
        ready = statistics.median(each for each, _, _ in mine)
        path = statistics.median(each for _, each, _ in mine)
        figures[OURS].append((ready, path))
        figures[THEIRS].append(other[:2])
    for name, values in figures.items():
        ready, path = (statistics.median(column) for column in zip(*values, strict=True))
        print(f"{kinds.__name__:<14}{name:<14}{ready:>9.1f} ms{path:>11.2f} µs")
    ratios = [b[1] / a[1] for a, b in zip(figures[OURS], figures[THEIRS], strict=True)]
    median = statistics.median(ratios)
    print(f"{'':<14}ratio {median:.0f} ({min(ratios):.0f} to {max(ratios):.0f})\n")


def main() -> None:
    """Print the table. Raises `SystemExit` if the two disagree on a path."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rules", type=int, default=2_000)
    parser.add_argument("--paths", type=int, default=20_000)
    parser.add_argument("--folders", type=int, default=3_500, help="that the paths are in")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        used = f"google-re2 {version('google-re2')}, {PACKAGE} {version(PACKAGE)}"
        print(f"Python {platform.python_version()}, {used}; median of {args.rounds} rounds")
        print(
            f"{args.rules:,} rules, {args.paths:,} paths in {args.folders:,} folders; all equal\n"
        )
        print(f"{'rules':<14}{'':<14}{'set-up':>12}{'a path':>14}")
        for kinds in (documented, wild):
            measure(kinds, args)


if __name__ == "__main__":
    main()
