"""Reading a tasks.md: what people write, and what they get wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.features.tasks import Task, Tasks, parse_tasks


def only(text: str) -> Task:
    (task,) = parse_tasks(text).tasks
    return task


def said(tasks: Tasks) -> list[tuple[int, str]]:
    return [(error.line, error.reason) for error in tasks.errors]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- [ ] T001 Do it", ("T001", False, False, None, "Do it")),
        ("* [x] T12 Do it", ("T12", True, False, None, "Do it")),
        ("+ [X] T010a Do it", ("T010a", True, False, None, "Do it")),
        ("1. [ ] T001 Do it", ("T001", False, False, None, "Do it")),
        ("3) [ ] T001 Do it", ("T001", False, False, None, "Do it")),
        ("- [ ] T001 [P] [US1] Do it", ("T001", False, True, "US1", "Do it")),
        ("- [ ] T001 [us2][P] Do it", ("T001", False, True, "US2", "Do it")),
        ("- [ ] [P] [US12] T001 Do it", ("T001", False, True, "US12", "Do it")),
        ("- [ ] [T001] [P] Do it", ("T001", False, True, None, "Do it")),
        ("- [ ] **T001** [P] Do it", ("T001", False, True, None, "Do it")),
        ("- [ ] **T001**: Do it", ("T001", False, False, None, "Do it")),
        ("- [ ] **T001 [P]** Do it", ("T001", False, True, None, "Do it")),
        ("- [ ] **T001 [US1] Do** it", ("T001", False, False, "US1", "**Do** it")),
        ("- [ ] `T001` **[P]** Do it", ("T001", False, True, None, "Do it")),
        ("- [x] ~~T001 Do it~~", ("T001", True, False, None, "~~Do it~~")),
        ("- [ ] T001: Do it", ("T001", False, False, None, "Do it")),
        ("- [ ] T001 - Do it", ("T001", False, False, None, "Do it")),
        ("- [ ] T001 [P] **F1**: do it", ("T001", False, True, None, "**F1**: do it")),
        ("- [ ] T001 [DEFERRED] Do it", ("T001", False, False, None, "Do it")),
        ("- [ ] T001 [a](b.md) first", ("T001", False, False, None, "[a](b.md) first")),
        ("- [ ] T001 .env is read", ("T001", False, False, None, ".env is read")),
        ("- [ ] Do it", (None, False, False, None, "Do it")),
        ("- [ ] T5-base is the model", (None, False, False, None, "T5-base is the model")),
        ("> - [ ] T001 Do it", ("T001", False, False, None, "Do it")),
    ],
)
def test_markers(line: str, expected: tuple[str | None, bool, bool, str | None, str]) -> None:
    task = only(line)
    assert (task.id, task.done, task.parallel, task.story, task.description) == expected
    assert said(parse_tasks(line)) == []


@pytest.mark.parametrize(
    ("text", "phases"),
    [
        ("- [ ] T001 a", [None]),
        ("# Tasks: x\n- [ ] T001 a", [None]),
        ("# T\n## Phase 1: Setup\n- [ ] T001 a\n## Phase 2\n- [ ] T002 b", ["Phase 1: Setup"]),
        ("# T\n### Phase 3.1: `x`\n- [ ] T001 a", ["Phase 3.1: `x`"]),
        ("## Phase 1 ##\n### Tests\n- [ ] T001 a", ["Phase 1"]),
        ("# Phase 1\n- [ ] T001 a", ["Phase 1"]),
        ("Phase 1\n-------\n- [ ] T001 a", ["Phase 1"]),
        ("## A\n### B\n# C\n- [ ] T001 a", [None]),
    ],
)
def test_the_phase_is_the_heading_below_the_title(text: str, phases: list[str | None]) -> None:
    assert [task.phase for task in parse_tasks(text).tasks][:1] == phases


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    text = end.join(
        ["\ufeff# Tasks", "", "- [ ] T001 a", "  b `src/x.py`", "  - [x] T002 c", "", ""]
    )
    one, two = parse_tasks(text).tasks
    assert (one.line, one.details, one.paths) == (3, "b `src/x.py`", ("src/x.py",))
    assert (two.line, two.done, two.details) == (5, True, "")


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [ ] T001 a\n```",
        "~~~md\n- [ ] T001 a",
        "- list\n\n  ```\n  - [ ] T001 a\n  ```",
        "<!--\n\n- [ ] T001 a\n\n-->",
        "`- [ ] T001 a`",
        "- [P] tasks touch different files",
        "- [Story] says which one",
        "- [a link](https://example.org)",
        "- [x](src/a.py)",
        "- T001 first, then the rest",
    ],
)
def test_what_is_no_task_and_no_mistake(text: str) -> None:
    assert parse_tasks(text) == Tasks((), ())


@pytest.mark.parametrize(
    ("text", "line", "reason", "left"),
    [
        ("- [] T001 a\n- [ ] T002 b", 1, "is no box", ["T002"]),
        ("- [ ] T001 a\n- [-] T002 b", 2, "is no box", ["T001"]),
        ("- [x]T001 a", 1, "is no box", []),
        ("- [ x] T001 a", 1, "is no box", []),
        ("- [?] T001 a", 1, "is no box", []),
        ("-[ ] T001 a", 1, "GitHub sees no task", []),
        ("[ ] T001 a", 1, "GitHub sees no task", []),
        ("- [ ] T001 a\n-[ ] T002 b", 2, "GitHub sees no task", ["T001"]),
        ("text\n\n    - [ ] T001 a", 3, "GitHub sees no task", []),
        ("<details>\n- [ ] T001 a", 2, "GitHub sees no task", []),
        ("- [ ]", 1, "no description", []),
        ("- [ ] T001", 1, "T001 has no description", ["T001"]),
        ("- [ ] T001 [P] **", 1, "T001 has no description", ["T001"]),
        ("- [ ] T001 a\n- [ ] T001 b", 2, "taken by line 1", ["T001", "T001"]),
        ("- [ ] T001 a\n- [ ] T1 b", 2, "taken by line 1", ["T001", "T1"]),
        ("- [ ] TXXX a", 1, "is no task id", [None]),
        ("- [ ] t001 a", 1, "is no task id", [None]),
        ("- [ ] T-001 a", 1, "is no task id", [None]),
        ("- [ ] T00O1 a", 1, "is no task id", [None]),
        ("- [ ] T1.2 a", 1, "is no task id", [None]),
        ("- [ ] T001 a (depends on T009)", 1, "T009 is no task", ["T001"]),
        ("- [ ] T001 a (after T002-T001)\n- [ ] T002 b", 1, "runs backwards", ["T001", "T002"]),
        ("- [ ] T001 a, after T001", 1, "a circle: T001 → T001", ["T001"]),
        ("- [ ] T2 a\n\n## Dependencies\n\n- T2 → T3", 5, "T3 is no task", ["T2"]),
    ],
)
def test_mistakes(text: str, line: int, reason: str, left: list[str | None]) -> None:
    found = parse_tasks(text)
    assert [task.id for task in found.tasks] == left
    assert len(found.errors) == 1
    assert found.errors[0].line == line
    assert reason in found.errors[0].reason


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a", ()),
        ("a (depends on T003, T004)", ("T003", "T004")),
        ("a (depends: T003-T005)", ("T003", "T004", "T005")),
        ("a (depends on T003–T005 and T001)", ("T003", "T004", "T005", "T001")),
        ("a (depends on T003-005)", ("T003", "T004", "T005")),
        ("a after T002", ("T002",)),
        ("a; blocked by T002 & T003", ("T002", "T003")),
        ("a, requires T1/T2.", ("T001", "T002")),
        ("a **Depends on**: `T003`, `T004`", ("T003", "T004")),
        ("a [depends on T003 (the model), T004]", ("T003", "T004")),
        ("a (dependencies: tasks T001 to T003)", ("T001", "T002", "T003")),
        ("a once T003 is done, and after T004", ("T003", "T004")),
        ("a (depends on T003-T010)", ("T003", "T004", "T005", "T007", "T010")),
        ("a (does not depend on T003)", ()),
        ("a like T003, with the requirements of T004", ()),
        ("a\n  over two lines (depends\n  on T003)", ("T003",)),
        ("a\n  - Depends on: T003", ("T003",)),
        ("a\n\n  ```\n  after T003\n  ```", ()),
    ],
)
def test_dependencies_in_the_text(words: str, expected: tuple[str, ...]) -> None:
    others = "\n".join(f"- [ ] T{n:03d} x" for n in (1, 2, 3, 4, 5, 7, 10))
    found = parse_tasks(f"- [ ] T009 {words}\n\n# More\n\n{others}")
    assert found.tasks[0].depends_on == expected
    assert said(found) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("T002 depends on T001", {"T002": ("T001",)}),
        ("T003-T004 depend on T001 and T002", dict.fromkeys(("T003", "T004"), ("T001", "T002"))),
        ("**T001 → T002** → T003 (last)", {"T002": ("T001",), "T003": ("T002",)}),
        ("T001, T002 -> T003", {"T003": ("T001", "T002")}),
        ("T001 before T003, T004", {"T003": ("T001",), "T004": ("T001",)}),
        ("T001 must be completed before T002", {"T002": ("T001",)}),
        ("T001 (model) blocks T002; T003 requires T002", {"T002": ("T001",), "T003": ("T002",)}),
        ("T003 can run in parallel after T001", {"T003": ("T001",)}),
        ("T003 → T001", {}),
        ("T001 precedes T002+", {}),
        ("T002 does not depend on T001", {}),
        ("Phase 2 depends on T001", {}),
        ("T001 and T002 can run in parallel", {}),
        ("T001 first, T003 after T002", {}),
        ("T002: depends on nothing", {}),
    ],
)
def test_the_section_on_dependencies(line: str, expected: dict[str, tuple[str, ...]]) -> None:
    tasks = "\n".join(f"- [ ] T00{n} x" for n in range(1, 5))
    for body in (f"- {line}", line):
        found = parse_tasks(f"{tasks}\n\n## Dependencies & Execution Order\n\n### Order\n\n{body}")
        assert {task.id: task.depends_on for task in found.tasks if task.depends_on} == expected
        assert said(found) == []
        elsewhere = parse_tasks(f"{tasks}\n\n## Notes\n\n{body}")
        assert all(not task.depends_on for task in elsewhere.tasks)


def test_every_line_of_the_section_is_read_by_itself() -> None:
    tasks = "\n".join(f"- [ ] T00{n} x" for n in range(1, 5))
    found = parse_tasks(
        f"{tasks}\n\n## Dependencies\n\nT001 → T002\nT003 after\nthe task T002\nT004 after T1"
    )
    assert [task.depends_on for task in found.tasks] == [(), ("T001",), ("T002",), ("T001",)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("in `src/a/b.py`, then src/c.py.", ("src/a/b.py", "src/c.py")),
        ("src/a.py and (src/a.py) and **src/b.py**", ("src/a.py", "src/b.py")),
        ("all of tests/ and `app/(auth)/page.tsx`", ("tests/", "app/(auth)/page.tsx")),
        ("`Dockerfile`, k8s/x.yaml", ("Dockerfile", "k8s/x.yaml")),
        ("the Dockerfile", ()),
        ("deploy/Dockerfile and .env.example", ("deploy/Dockerfile", ".env.example")),
        ("`src/a.py:12`, `tests/a.py::test_b`", ("src/a.py", "tests/a.py")),
        ("`pytest tests/unit -q`", ("tests/unit",)),
        ("./src/a.py and ../b.py", ("src/a.py", "../b.py")),
        ("[doc](docs/a.md) in package.json", ("docs/a.md", "package.json")),
        (".github/workflows/ci.yml", (".github/workflows/ci.yml",)),
        ("`app/[id]/route.ts`和`src/x.ts`", ("app/[id]/route.ts", "src/x.ts")),
        ("在src/a.ts中", ("src/a.ts",)),
        ("src/**/*.py", ("src/**/*.py",)),
        ("see https://example.org/src/a.py and github.com/acme/storefront/a.md", ()),
        ("and/or, CI/CD, read/write, 24/7, TCP/IP, client/server", ()),
        ("v1.2.3, 1.2/3.4, e.g., i.e. Node.js `application/json`", ()),
        ("GET /users/{id} `/api/v1/users` `@types/express` `user.id` `process.env`", ()),
        ("`console.log(x)` `a.b.js()` me@example.py `.tsx`", ()),
    ],
)
def test_paths(words: str, expected: tuple[str, ...]) -> None:
    assert only(f"- [ ] T001 Do {words}").paths == expected


def test_paths_below_a_task_count_only_where_they_are_named_as_its_files() -> None:
    text = "- [ ] T001 a\n  - **File**: `src/a.py`\n  - Use src/b.py as it is"
    assert only(text).paths == ("src/a.py",)


def test_a_circle_is_told_once_and_the_others_as_well() -> None:
    pairs = [(1, 2), (2, 3), (3, 1), (4, 5), (5, 4), (6, 1)]
    found = parse_tasks("\n".join(f"- [ ] T00{a} x (depends on T00{b})" for a, b in pairs))
    assert [(line, reason.split(";")[0]) for line, reason in said(found)] == [
        (1, "a circle: T001 → T002 → T003 → T001"),
        (4, "a circle: T004 → T005 → T004"),
    ]
    assert len(found.tasks) == 6


def test_a_thousand_times_the_same_id_is_an_error_each() -> None:
    found = parse_tasks("\n".join(["- [ ] T001 a (after T002)"] * 1001 + ["- [ ] T002 b"]))
    assert [error.line for error in found.errors] == list(range(2, 1002))
    assert len(found.tasks) == 1002


def test_ranges_without_end_are_given_up() -> None:
    lines = [f"- [ ] T{n:04d} a (after T0001-T1000)" for n in range(1, 1001)]
    reasons = {error.reason for error in parse_tasks("\n".join(lines)).errors}
    assert any("too many dependencies" in reason for reason in reasons)


PIECES = st.sampled_from(
    "- [ ] |- [x] |[P]|[US1]|T001|T002|T00| |\n|\r\n|  |**|`|```\n|## |Phase 1|Dependencies|after"
    "|depends on |→|-|,|(|)|src/a.py|[|]|> |<!--|-->|<details>|é|1. |\t|T3-T9".split("|")
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)))
def test_any_text_is_read_and_every_line_is_right(text: str) -> None:
    found = parse_tasks(text)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for task in found.tasks:
        assert "[" in lines[task.line - 1]
        assert task.description.replace("*", "").replace("`", "")[:1] in lines[task.line - 1]
    assert all(1 <= error.line <= len(lines) for error in found.errors)
    assert [error.line for error in found.errors] == sorted(error.line for error in found.errors)


WORD = st.text(st.sampled_from("abc de"), min_size=1).map(str.strip).filter(bool)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), WORD), max_size=30), st.integers(0, 5))
def test_what_was_written_is_read(rows: list[tuple[bool, bool, str]], gap: int) -> None:
    lines = ["# Tasks"] + [""] * (gap + 1)
    for number, (done, parallel, words) in enumerate(rows, start=1):
        marker = "[P] " if parallel else ""
        lines.append(f"- [{'x' if done else ' '}] T{number:03d} {marker}{words}")
    found = parse_tasks("\n".join(lines))
    assert found.errors == ()
    assert [(task.done, task.parallel, task.description) for task in found.tasks] == rows
    assert [task.line for task in found.tasks] == [gap + 3 + n for n in range(len(rows))]
