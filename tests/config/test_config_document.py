"""YAML texts, friendly and hostile."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from app.config.document import MAX_BYTES, Unreadable, read
from app.questions.durations import duration


def problem(text: str) -> tuple[int, str, str]:
    with pytest.raises(Unreadable) as caught:
        read(text, "f.yaml")
    found = caught.value.problem
    assert found.file == "f.yaml"
    assert str(caught.value).startswith(f"f.yaml:{found.line}: ")
    return found.line, found.where, found.what


def test_values_and_their_lines() -> None:
    document = read("a: 1\nb:\n  - x\n  - {c: 2.5, d: null}\ne: yes\nf: 2026-01-03\n", "f.yaml")
    assert document.data == {
        "a": 1,
        "b": ["x", {"c": 2.5, "d": None}],
        "e": True,
        "f": "2026-01-03",
    }
    lines = {path: mark.line for path, mark in document.marks.items()}
    assert lines == {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "c"): 4,
        ("b", 1, "d"): 4,
        ("e",): 5,
        ("f",): 6,
    }
    assert str(document.problem(("b", 1, "c", "deeper"), "wrong")) == (
        "f.yaml:4: b[1].c.deeper: wrong"
    )


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "~", "null\n"])
def test_an_empty_file_is_an_empty_map(text: str) -> None:
    assert read(text, "f.yaml").data == {}


def test_anchors_may_be_used() -> None:
    document = read("a: &x {sla: 1h}\nb: *x\n", "f.yaml")
    assert document.data == {"a": {"sla": "1h"}, "b": {"sla": "1h"}}


@pytest.mark.parametrize(
    ("text", "line", "where", "what"),
    [
        ("a: [1\nb: 2", 2, "", "is not valid YAML"),
        ("a: 1\n b: 2", 2, "", "is not valid YAML"),
        ("a: 1\nhandle: @duc\n", 2, "", 'begins with "@" in quotes'),
        ("a:\n\t- b", 2, "", "is not valid YAML"),
        ("a: *nobody", 1, "", "is not valid YAML"),
        ("a: 1\n---\nb: 2", 2, "", "is not valid YAML"),
        ("ä: ö\nb: \x07", 2, "", "a character that YAML does not allow"),
        ("a: \ud800", 1, "", "a character that YAML does not allow"),
        ("a: [", 1, "", "is not valid YAML"),
        ("a: [\n", 1, "", "is not valid YAML"),
        ("- a\n- b", 1, "", "must be a map"),
        ("just words", 1, "", "must be a map"),
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3", 5, "b.c", "stands twice (first on line 3)"),
        ("a: 1\na: 2", 2, "a", "stands twice (first on line 1)"),
        ("? [a, b]\n: c", 1, "", "a key that is not a word"),
        ("a: !!python/object:os.system x", 1, "a", "is not allowed"),
        ("a: !mine [1]", 1, "a", "is not allowed"),
        ("a: !!set {x, y}", 1, "a", "is not allowed"),
        ("a: !!binary aGk=", 1, "a", "is not allowed"),
        ("a: !!int x", 1, "a", "is not what its tag says"),
        ("a: !!bool maybe", 1, "a", "is not what its tag says"),
        (f"a: {'9' * 5000}", 1, "a", "is not what its tag says"),
        ("a: " + "[" * 30 + "]" * 30, 1, "", "nested deeper than 20"),
        ("[" * 100_000, 1, "", "nested deeper than 20"),
        ("a: &a [*a]", 1, "a[0][0]", "nested deeper than 20"),
        ("a: [" + "1," * 70_000 + "]", 1, "", "more than 30,000 entries"),
        ("a:\n" + "- 1\n" * 40_000, 30_000, "a[29998]", "more than 30,000 entries"),
        ("# " + "x" * MAX_BYTES, 1, "", "larger than"),
    ],
)
def test_what_is_not_read(text: str, line: int, where: str, what: str) -> None:
    found = problem(text)
    assert found[:2] == (line, where)
    assert what in found[2]


def test_a_bomb_of_aliases_goes_off_nowhere() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for n in range(1, 12):
        bomb += f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n"
    start = time.process_time()
    assert "more than 30,000 entries" in problem(bomb)[2]
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("24h", 86400), ("2d", 172800), ("1h30m", 5400)],
)
def test_durations(text: str, seconds: int) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["banana", "", "1", "h", "-1h", "1 h", "1H", "0s", "367d", "9999999d", "1y", "١h"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        duration(text)
