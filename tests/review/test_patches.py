"""Patches: line numbers agree with the files they come from, and nothing raises."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.review.patches import read_patch

PATCH = """\
@@ -1,4 +1,5 @@ def total():
 one
-two
+deux
+trois
 three
\\ No newline at end of file
@@ -20,0 +22 @@
+++ looks like a head"""


def test_added_lines_have_the_numbers_of_the_new_file() -> None:
    patch = read_patch(PATCH)
    assert [(line.number, line.text) for line in patch.added] == [
        (2, "deux"),
        (3, "trois"),
        (22, "++ looks like a head"),
    ]
    assert patch.commentable == {1, 2, 3, 4, 22}
    assert [[line.number for line in run] for run in patch.runs] == [[2, 3], [22]]


@pytest.mark.parametrize(
    ("patch", "numbers"),
    [
        (None, []),
        ("", []),
        ("+no hunk", []),
        ("@@ nonsense @@\n+a", []),
        (f"@@ -1 +{'9' * 5000} @@\n+a", []),
        ("@@ -1,2 +0,0 @@\n-a\n-b", []),
        ("@@ -0,0 +1 @@\n+a", [1]),
        ("@@ -1 +1,99 @@\n+a", [1]),
        ("@@ -1 +7 @@\n+a\nwhat is this\n+b\n@@ -9 +9 @@\n+c", [7, 9]),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a", [1]),
        ("@@ -1,3 +1,4 @@\n a\n\n+b\n c\n", [3]),
    ],
)
def test_damaged_patches_give_what_can_be_read(patch: str | None, numbers: list[int]) -> None:
    assert [line.number for line in read_patch(patch).added] == numbers


def test_only_a_line_feed_ends_a_line() -> None:
    patch = read_patch("@@ -0,0 +1,2 @@\n+a\x0cb\u2028c\x85d\r\n+e")
    assert [line.text for line in patch.added] == ["a\x0cb\u2028c\x85d", "e"]


def test_a_long_patch_is_read_in_one_go() -> None:
    patch = read_patch("@@ -0,0 +1,20000 @@\n" + "\n".join(f"+x{n}" for n in range(20_000)))
    assert patch.added[-1].number == 20_000
    assert [len(run) for run in patch.runs] == [20_000]


TEXT = st.lists(st.sampled_from(["", "a", "@@ -1 +1 @@", "+", "-", "--- a", "+++ b", "\\ no", " "]))


@settings(max_examples=500, deadline=None)
@given(TEXT, TEXT, st.integers(0, 3))
def test_numbers_agree_with_both_files(old: list[str], new: list[str], around: int) -> None:
    diff = list(difflib.unified_diff(old, new, n=around, lineterm=""))[2:]
    patch = read_patch("\n".join(diff))
    assert all(new[line.number - 1] == line.text for line in patch.lines)
    added = {line.number for line in patch.added}
    opcodes = difflib.SequenceMatcher(None, old, new).get_opcodes()
    assert added == {n + 1 for tag, *_, a, b in opcodes if tag != "equal" for n in range(a, b)}
    near = {n + k for n in added for k in range(-around, around + 1) if 1 <= n + k <= len(new)}
    assert near <= patch.commentable


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from("@-+ ,10\n\\\ra\ud800")) | st.text())
def test_nothing_raises(text: str) -> None:
    patch = read_patch(text)
    assert all(line.number >= 1 for line in patch.lines)
    assert sum(map(len, patch.runs)) == len(patch.added)
