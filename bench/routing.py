"""How long it takes to find the route of a question, with 10, 100 and 1,000 routes.

Compared, in turns, in one process: the router (its pattern part, and a whole decision), a plain
loop over regular expressions of `fnmatch.translate`, and a plain loop over the naive matcher that
the tests hold the router against. `fnmatch` knows no levels (`*` runs over dots, and `a.**` wants
the dot), so that its rows also say how many of the topics it places like the contract; it is here
for its speed. `python -m bench.routing`
"""

from __future__ import annotations

import argparse
import fnmatch
import random
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.config.loader import Config
from app.config.models import Agents, Answerers, Baron
from app.questions import topics
from app.questions.patterns import PatternIndex
from app.questions.routing import Router
from tests.questions import routing_reference as reference

SIZES = (10, 100, 1000)
AREAS = "security architecture data api operations quality product scope ux compliance".split()
SHAPES = ("{}.**", "{}.**", "{}.*", "{}.tokens", "{}.*.tokens", "{}.**.refresh", "**.{}")
OURS = "pattern part"
NAIVE = "loop, naive matcher"

Find = Callable[[str], str | None]


@dataclass(frozen=True)
class Contender:
    """One way to find the pattern of the first route that matches a topic."""

    name: str
    find: Find


def patterns(chance: random.Random, count: int) -> list[str]:
    """Different patterns of every shape, all with a name of their own."""
    return [
        chance.choice(SHAPES).format(f"{chance.choice(AREAS)}-{number}") for number in range(count)
    ]


def questions(chance: random.Random, routes: list[str], count: int) -> list[str]:
    """Topics: four of five made from some route's pattern, the others made from none."""
    return [
        topic_for(chance, chance.choice(routes)) if number % 5 else f"elsewhere.tokens-{number}"
        for number in range(count)
    ]


def topic_for(chance: random.Random, pattern: str) -> str:
    """A topic that the pattern matches."""
    levels: list[str] = []
    for level in pattern.split("."):
        length = {"*": 1, "**": chance.randint(0, 2)}.get(level)
        wild = chance.choices(("tokens", "refresh", "storage", "limits"), k=length or 0)
        levels += [level] if length is None else wild
    return ".".join(levels)


def contenders(routes: list[str]) -> list[Contender]:
    """Ours first; all of them made ready before any is timed."""
    index = PatternIndex(routes)
    answerers = {"routes": [{"pattern": one, "answerer": "human/mara"} for one in routes]}
    router = Router(Config(Answerers.model_validate(answerers), Agents(), Baron()))
    compiled = [(re.compile(fnmatch.translate(one)), one) for one in routes]
    split = [(one.split("."), one) for one in routes]

    def by_index(topic: str) -> str | None:
        number = index.first(topics.levels(topic))
        return None if number is None else routes[number]

    def by_router(topic: str) -> str | None:
        rule = router.route(topic).rule
        return None if rule == "default" else rule

    def by_fnmatch(topic: str) -> str | None:
        return next((one for matcher, one in compiled if matcher.match(topic)), None)

    def by_naive(topic: str) -> str | None:
        levels = topic.split(".")
        return next((one for pattern, one in split if reference.matches(pattern, levels)), None)

    return [
        Contender(OURS, by_index),
        Contender("whole decision", by_router),
        Contender("loop, fnmatch as re", by_fnmatch),
        Contender(NAIVE, by_naive),
    ]


def measure(
    chosen: list[Contender], asked: list[str], rounds: int, least: float
) -> dict[str, list[float]]:
    """Microseconds a decision, for each round; every contender once a round, in changing order."""
    figures: dict[str, list[float]] = {one.name: [] for one in chosen}
    for turn in range(rounds + 1):
        shift = turn % len(chosen)
        for one in chosen[shift:] + chosen[:shift]:
            figures[one.name].append(microseconds(one.find, asked, least))
    return {name: values[1:] for name, values in figures.items()}  # the first one warms up


def microseconds(find: Find, asked: list[str], least: float) -> float:
    """Time of one decision, on average over as many passes as fill `least` seconds."""
    passes = 0
    begun = time.perf_counter()
    while (spent := time.perf_counter() - begun) < least or not passes:
        for topic in asked:
            find(topic)
        passes += 1
    return spent / passes / len(asked) * 1e6


def row(size: int, name: str, values: list[float], unit: float, agreeing: float) -> str:
    median = statistics.median(values)
    return f"{size:>6,}  {name:<22}{median:>11.2f} µs{median / unit:>10.1f}{agreeing:>12.0%}"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.02, help="at least, for each turn")
    return parser.parse_args()


def main() -> None:
    """Print the table. Raises `SystemExit` if ours and the naive matcher disagree."""
    args = arguments()
    chance = random.Random(7)
    print(f"median of {args.rounds} rounds, {args.topics} topics each; made ready beforehand\n")
    print(f"{'routes':>6}  {'':<22}{'a decision':>14}{'× ours':>10}{'as contract':>12}")
    for size in SIZES:
        routes = patterns(chance, size)
        asked = questions(chance, routes, args.topics)
        chosen = contenders(routes)
        found = {one.name: [one.find(topic) for topic in asked] for one in chosen}
        if not found[OURS] == found["whole decision"] == found[NAIVE]:
            sys.exit(f"the router and the naive matcher disagree with {size} routes")
        figures = measure(chosen, asked, args.rounds, args.seconds)
        unit = statistics.median(figures[OURS])
        for name, values in figures.items():
            same = sum(map(str.__eq__, map(str, found[name]), map(str, found[NAIVE])))
            print(row(size, name, values, unit, same / len(asked)))


if __name__ == "__main__":
    main()
