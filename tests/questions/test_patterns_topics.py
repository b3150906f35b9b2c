"""Topics and patterns: the tables of the specification, and a naive matcher as a witness."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.questions import topics
from app.questions.patterns import PatternIndex, covers, parse, problem, shadowed

LEVELS = ["a", "b", "c"]


def naive(pattern: list[str], topic: list[str]) -> bool:
    """Matching as one would explain it, one level at a time."""
    if not pattern:
        return not topic
    head, rest = pattern[0], pattern[1:]
    if head == "**":
        return any(naive(rest, topic[skipped:]) for skipped in range(len(topic) + 1))
    return bool(topic) and head in ("*", topic[0]) and naive(rest, topic[1:])


def matches(pattern: str, topic: str) -> bool:
    return PatternIndex([pattern]).first(topics.levels(topic)) == 0


@pytest.mark.parametrize(
    ("pattern", "topic", "expected"),
    [
        ("api.*", "api.auth", True),
        ("api.*", "api.users", True),
        ("api.*", "api", False),
        ("api.*", "api.users.list", False),
        ("api.semstreams.*", "api.semstreams.loop", True),
        ("api.semstreams.*", "api.other.loop", False),
        ("architecture.**", "architecture.db", True),
        ("architecture.**", "architecture.auth.refresh", True),
        ("security.**", "security", True),
        ("security.**", "securityx", False),
        ("*", "anything", True),
        ("*", "two.levels", False),
        ("**", "anything", True),
        ("**", "any.thing.at.all", True),
        ("**.tokens", "tokens", True),
        ("**.tokens", "security.tokens", True),
        ("**.tokens", "tokens.refresh", False),
        ("a.**.z", "a.z", True),
        ("a.**.z", "a.b.c.z", True),
        ("a.**.*", "a", False),
        ("*.**.*", "a", False),
        ("*.**.*", "a.b", True),
        ("**.**", "a", True),
        ("a.**.b.**.c", "a.b.c", True),
        ("a.**.b.**.c", "a.x.c", False),
        ("budget", "budget", True),
        ("budget", "budget.total", False),
    ],
)
def test_what_a_pattern_matches(pattern: str, topic: str, expected: bool) -> None:
    assert matches(pattern, topic) is expected


def test_every_short_pattern_agrees_with_the_naive_matcher() -> None:
    words = ["a", "b", "*", "**"]
    patterns = [p for n in range(1, 5) for p in itertools.product(words, repeat=n)]
    topic_list = [t for n in range(5) for t in itertools.product("ab", repeat=n)]
    index = {p: PatternIndex([".".join(p)]) for p in patterns}
    for pattern, topic in itertools.product(patterns, topic_list):
        expected = naive(list(pattern), list(topic))
        assert (index[pattern].first(topic) == 0) is expected, (pattern, topic)


PATTERN = st.lists(st.sampled_from([*LEVELS, "*", "**"]), min_size=1, max_size=6)
TOPIC = st.lists(st.sampled_from([*LEVELS, "d"]), max_size=8)


@settings(max_examples=1000, deadline=None)
@given(st.lists(PATTERN, max_size=12), TOPIC)
def test_the_index_finds_what_a_loop_would_find(
    patterns: list[list[str]], topic: list[str]
) -> None:
    index = PatternIndex(".".join(pattern) for pattern in patterns)
    expected = [n for n, pattern in enumerate(patterns) if naive(pattern, topic)]
    firsts = [n for n in expected if patterns.index(patterns[n]) == n]
    assert index.first(topic) == (expected[0] if expected else None)
    assert index.all(topic) == firsts


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("", "is empty"),
        ("Security.*", 'write "security.*"'),
        ("a..b", "empty level"),
        (".a", "empty level"),
        ("a.", "empty level"),
        ("sec*", "whole level"),
        ("a.***", "whole level"),
        ("a b", "letters, digits"),
        ("a/b", "letters, digits"),
        ("-a", "letters, digits"),
        (".".join("a" * 17), "more than 16 levels"),
    ],
)
def test_what_is_no_pattern(pattern: str, complaint: str) -> None:
    assert complaint in (problem(pattern) or "")
    with pytest.raises(ValueError, match=r".+"):
        parse(pattern)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("security.**", "security.*", True),
        ("security.*", "security.**", False),
        ("**", "a.*.**", True),
        ("*.**", "**.x", True),
        ("**.*", "*.**", True),
        ("**.*", "**", False),
        ("a.*", "a.b", True),
        ("a.b", "a.*", False),
        ("a", "a", True),
        ("**.b.**", "a.b.c", True),
        ("**.a.**", "**.a.b.a", True),
        ("*.*", "**.a", False),
    ],
)
def test_which_pattern_covers_which(wide: str, narrow: str, expected: bool) -> None:
    assert covers(wide, narrow) is expected


def test_covers_agrees_with_trying_all_topics() -> None:
    patterns = [p for n in range(1, 4) for p in itertools.product(["a", "b", "*", "**"], repeat=n)]
    topic_list = [t for n in range(6) for t in itertools.product("abz", repeat=n)]
    languages = {p: {t for t in topic_list if naive(list(p), list(t))} for p in patterns}
    for wide, narrow in itertools.product(patterns, patterns):
        expected = languages[narrow] <= languages[wide]
        assert covers(".".join(wide), ".".join(narrow)) is expected, (wide, narrow)


def test_patterns_made_to_explode_are_given_up() -> None:
    hard = ".".join(["**", "a", *["*"] * 14])
    other = ".".join(["**", "b", *["*"] * 14])
    assert covers(hard, hard) is False
    assert covers(hard, other) is False
    assert shadowed([hard, other] * 600)[:2] == [(2, 0), (3, 1)]


def test_what_can_never_be_first() -> None:
    patterns = ["a.**", "b.*", "a.x", "b.*", "**", "c", "*.**.c"]
    assert shadowed(patterns) == [(2, 0), (3, 1), (5, 4), (6, 4)]


@pytest.mark.parametrize(
    ("topic", "normal"),
    [
        ("security.tokens", "security.tokens"),
        ("  Security.Tokens \n", "security.tokens"),
        ("feature-scope", "feature-scope"),
        ("a_b.2fa", "a_b.2fa"),
        ("", None),
        (" ", None),
        (".", None),
        ("a..b", None),
        (".a", None),
        ("a.", None),
        ("a b", None),
        ("a/b", None),
        ("größe", None),
        ("İ", None),
        ("*", None),
        ("-a", None),
        ("a\nb", None),
        ("a" * 201, None),
    ],
)
def test_topics(topic: str, normal: str | None) -> None:
    assert topics.normalise(topic) == normal
    assert topics.levels(normal) == (tuple(normal.split(".")) if normal else ())


def test_an_unreadable_topic_is_shown_on_one_short_line() -> None:
    assert topics.shown("What\n about  money?") == "What about money?"
    assert len(topics.shown("x y" * 1000)) == 200
    assert topics.shown("Budget") == "budget"
