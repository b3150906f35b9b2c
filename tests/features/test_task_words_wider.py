"""Names in any script, more ways to say what a task waits for, comments, and what is too much."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.features.task_paths import named_paths
from app.features.task_words import shown
from app.features.tasks import Task, parse_tasks

OTHERS = "\n".join(f"- [ ] T00{number} x" for number in range(1, 5))


def only(text: str) -> Task:
    (task,) = parse_tasks(text).tasks
    return task


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("`docs/日本.md` docs/日本語/テスト.py", ("docs/日本.md", "docs/日本語/テスト.py")),
        ("src/файл.py and src/été.py", ("src/файл.py", "src/été.py")),
        ("`app/😀.py`, app/😀.md", ("app/😀.py", "app/😀.md")),
        ("`docs/हिन्दी.md` `src/👩‍💻.py`", ("docs/हिन्दी.md", "src/👩‍💻.py")),
        ("在src/a.ts和src/b.ts中，✅src/c.ts→src/d.ts", tuple(f"src/{one}.ts" for one in "abcd")),
        (
            "`src/My File.py`, `src/New Folder/a b.py:12`",
            ("src/My File.py", "src/New Folder/a b.py"),
        ),
        ("`src/My File.py, src/b.py`", ("src/My File.py", "src/b.py")),
        ("src/My File.py", ("src/My", "File.py")),
        ("`cp src/a.py src/b.py` `src/c.py src/d.py`", tuple(f"src/{one}.py" for one in "abcd")),
        ("src/c#/a.cs `lib/f#/b.fs`", ("src/c#/a.cs", "lib/f#/b.fs")),
        ("docs/a.md#top `docs/b.md#L10-L12`", ("docs/a.md", "docs/b.md")),
        ("`go.mod` `cmd/api/main.lua` `Foo.csproj`", ("go.mod", "cmd/api/main.lua", "Foo.csproj")),
        ("`app/views/x.erb` `web/style.less`", ("app/views/x.erb", "web/style.less")),
        ("`app/x.scala` `app/x.ex` `app/x.hs`", ("app/x.scala", "app/x.ex", "app/x.hs")),
        ("`x/y.zig` `x/y.unheard`", ("x/y.zig", "x/y.unheard")),
        ("_src/a.py_ *src/b.py* __src/c.py__", ("src/a.py", "src/b.py", "src/c.py")),
        ("`_src/a.py_` `*src/b.py*` _see src/c.py_", ("src/a.py", "src/b.py", "src/c.py")),
        ("`src/__tests__` `__mocks__/x/`", ("src/__tests__", "__mocks__/x/")),
        ("`src/a.py|src/b.py`", ("src/a.py", "src/b.py")),
        ("lone ` then `src/a.py`` and `x/y.lua", ("src/a.py", "x/y.lua")),
        ("https://example.org/My File.txt e.g., i.e. and/or 1.5.2 w/o TCP/IP", ("File.txt",)),
        ("`e.g.` `and/or` `1.5.2` `w/o` `TCP/IP` `application/json` `TLS/1.3`", ()),
        ("`GET /orders` `a.b()` `x = 1` `@scope/pkg` `--flag=a/b` @scope/pkg --flag=a/b", ()),
        ("`https://example.org/My File.py` `application/vnd.ms.excel` `a/b.c()`", ()),
        (
            "`user.id` `global.fs` `acme/acme.org` `this.a/this.height` "
            "`acme/storefront#12` `python/v3.x` 创建/读/改/删",
            (),
        ),
    ],
)
def test_paths(words: str, expected: tuple[str, ...]) -> None:
    assert named_paths(words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("no longer depends on T001", ()),
        ("does not depend on T001", ()),
        ("does not need to wait for T001", ()),
        ("not directly dependent on T001", ()),
        ("depends on T001, but not on T002", ("T001",)),
        ("depends on T001, and on T002", ("T001", "T002")),
        ("depends on T001 as well as T002", ("T001", "T002")),
        ("after T001 and also T002", ("T001", "T002")),
        ("after T001 plus T002", ("T001", "T002")),
        ("after completing T001", ("T001",)),
        ("waits for T001", ("T001",)),
        ("must wait for T001", ("T001",)),
        ("following T001", ("T001",)),
        ("depends on #T001, #T002", ("T001", "T002")),
        ("depends_on: [T001, T002]", ("T001", "T002")),
        ("blocked_by: T001", ("T001",)),
    ],
)
def test_dependencies(words: str, expected: tuple[str, ...]) -> None:
    found = parse_tasks(f"- [ ] T009 a ({words})\n\n# More\n\n{OTHERS}")
    assert (found.tasks[0].depends_on, found.errors) == (expected, ())
    found = parse_tasks(f"- [ ] T009 a\n{OTHERS}\n\n## Dependencies\n\n- T009 {words}")
    assert (found.tasks[0].depends_on, found.errors) == (expected, ())


def test_the_following_tasks_are_a_list_and_a_note_is_no_not() -> None:
    found = parse_tasks(f"- [ ] T009 as in the following T001; note after T002\n{OTHERS}")
    assert found.tasks[0].depends_on == ("T002",)


def test_comments_are_not_seen() -> None:
    found = parse_tasks(
        "- [ ] T001 a <!-- src/x.py, after T002 --> b\n"
        "- [ ] <!-- [P] --> T002 c <!-- one\n"
        "  src/y.py --> in src/<!-- z -->z.py\n"
        "- [ ] T003 `<!-- shown -->` and <!-- open in src/a.py"
    )
    assert found.errors == ()
    assert [(task.line, task.description, task.parallel) for task in found.tasks] == [
        (1, "a b", False),
        (2, "c", False),
        (4, "`<!-- shown -->` and <!-- open in src/a.py", False),
    ]
    assert [task.paths for task in found.tasks] == [(), ("src/z.py",), ("src/a.py",)]
    assert [task.depends_on for task in found.tasks] == [(), (), ()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- [ ] T001 <!-- a -->", "T001 has no description"),
        ("- [ ] <!-- a -->", "the task has no description"),
        ("- [ ]<!-- a --> T001 b", "is no box"),
    ],
)
def test_a_comment_is_no_description(text: str, reason: str) -> None:
    (error,) = parse_tasks(f"# Tasks\n\n{text}").errors
    assert error.line == 3
    assert reason in error.reason


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["<!--", "-->", "`", "``", "\n", " ", "a", "\\"])).map("".join))
def test_what_is_shown_keeps_its_lines(text: str) -> None:
    assert shown(text).count("\n") == text.count("\n")


def test_lists_may_be_nested_and_what_is_too_deep_is_told() -> None:
    after = "- [ ] T050 after\n## Q\n- [ ] T060 b\n"
    found = parse_tasks(f"## P\n- [ ] T001 a\n  {'- ' * 12}x\n{after}")
    assert [(task.id, task.phase) for task in found.tasks] == [
        ("T001", "P"),
        ("T050", "P"),
        ("T060", "Q"),
    ]
    assert found.errors == ()
    assert [task.id for task in parse_tasks("- " * 25 + "[ ] T001 a").tasks] == ["T001"]
    for deep in ("- " * 10_000, "1. " * 7_000, "> " * 10_000, "> - " * 5_000):
        found = parse_tasks(f"# T\n\n{deep}[ ] T001 a\n\n{after}")
        assert [task.id for task in found.tasks] == ["T050", "T060"]
        assert [error.line for error in found.errors] == [3]
        assert "nested too deep" in found.errors[0].reason


@pytest.mark.parametrize("words", ["depends on T002, ", "src/a.py, ", "[P] ", "日", "<!-- "])
def test_only_the_beginning_of_a_long_line_is_read(words: str) -> None:
    long = words * (200_000 // len(words))
    found = parse_tasks(f"# T\n\n- [ ] T001 {long} src/end.py after T003\n{OTHERS[13:]}")
    assert [task.id for task in found.tasks] == ["T001", "T002", "T003", "T004"]
    assert "src/end.py" not in found.tasks[0].paths
    assert "T003" not in found.tasks[0].depends_on
    assert [error.line for error in found.errors if "too long" in error.reason] == [3]


def test_a_long_line_below_a_task_and_a_long_comment() -> None:
    found = parse_tasks(f"- [ ] T001 a\n  b\n  {'c ' * 15_000}after T002\n- [ ] T002 d")
    assert [error.line for error in found.errors] == [3]
    assert found.tasks[0].depends_on == ()
    task = only(f"- [ ] T001 a <!-- {'c ' * 15_000}--> in src/a.py")
    assert (task.description, task.paths) == ("a in src/a.py", ("src/a.py",))
    assert parse_tasks("text " * 10_000).errors == ()
