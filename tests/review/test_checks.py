"""The rules of a review: what each finds, and above all what it leaves in peace.

Secrets and conflict markers are put together at run time, so that this file holds none.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.features.document import specification
from app.features.model import Feature, Place, Question
from app.features.tasklist import tasklist
from app.features.tasks import parse_tasks
from app.features.types import FeatureType
from app.questions.model import QuestionState
from app.review.checks import review
from app.review.model import Changed, Finding, Severity, Signed, Subject
from app.scopes.pulls import Trespass

TOKEN = "ghp_" + "x7Rk2Lw9QzB4mN8vT1sD6fG3hJ5pY0cA"
OURS, BASE, MIDDLE, THEIRS = "<" * 7 + " HEAD", "|" * 7 + " base", "=" * 7, ">" * 7 + " topic"


def added(*lines: str) -> str:
    return "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


def changed(path: str, *lines: str, **more: object) -> Changed:
    known = {"status": "added", "patch": added(*lines) if lines else None, "added": len(lines)}
    return Changed(path, **{**known, **more})  # type: ignore[arg-type]  # a dict has no types


def found(*files: Changed, rule: str = "", **more: object) -> list[Finding]:
    every = review(Subject(files, **more))  # type: ignore[arg-type]  # a dict has no types
    return [one for one in every if not rule or one.rule == rule]


# Scope


def test_a_path_out_of_scope_blocks_and_says_whose_it_is() -> None:
    one = Trespass("k8s/a.yaml", "dede", ("@devops",), 4, "it is not in the scope of @dede")
    nobody = Trespass("LICENSE", "", (), None, "no agent signed the commit that changes it")
    second, first = found(trespasses=(one, nobody))
    assert {first.severity, second.severity} == {Severity.BLOCKING}
    assert (first.path, first.line) == ("k8s/a.yaml", None)
    assert "not in the scope of @dede" in first.message
    assert "`@devops`: line 4" in first.reason
    assert "nobody: no line names it" in second.reason


def test_two_agents_on_one_path_are_two_findings() -> None:
    one = Trespass("a", "dede", (), None, "it is not in the scope of @dede")
    assert len(found(trespasses=(one, replace(one, agent="sol"), one))) == 2


# Secrets


def test_a_secret_blocks_and_is_repeated_nowhere() -> None:
    (one,) = found(changed("conf.txt", "a = 1", f"key = '{TOKEN}' # mine"))
    assert (one.rule, one.severity, one.line) == ("secret", Severity.BLOCKING, 2)
    assert "GitHub token" in one.message
    assert one.excerpt == "key = '[removed: GitHub token]' # mine"
    assert TOKEN[4:] not in repr(one)


def test_only_added_lines_hold_new_secrets() -> None:
    old = f"@@ -1,2 +1,2 @@\n {TOKEN}\n-{TOKEN}\n+none"
    assert found(changed("a.txt", patch=old, added=1)) == []


def test_a_key_over_several_lines_is_found_where_it_begins() -> None:
    dashes, body = "-" * 5, ["MIIEpAIBAAKCAQEA7bq" + "x9K2" * 11 + str(n) for n in range(3)]
    begin, end = (f"{dashes}{word} RSA PRIVATE" + f" KEY{dashes}" for word in ("BEGIN", "END"))
    near = found(changed("id.txt", "first", begin, *body, f"{end} {TOKEN}"), rule="secret")
    assert [(each.line, each.excerpt) for each in near] == [
        (2, "[removed: private key]"),
        (6, "[removed: private key] [removed: GitHub token]"),
    ]
    both = found(changed("id.txt", f"{begin}", *body, end, TOKEN), rule="secret")
    assert [each.line for each in both] == [1, 6]
    assert not any(text in repr([near, both]) for text in [TOKEN, *body])


def test_a_line_with_two_secrets_keeps_neither() -> None:
    other = TOKEN[::-1].replace("_phg", "")
    (one,) = found(changed("a.txt", f"{TOKEN} and password='{other}'"))
    assert "[removed: GitHub token] and password='[removed: secret]'" in one.excerpt


def test_a_secret_that_moves_is_the_same_finding() -> None:
    before = found(changed("a.txt", TOKEN))
    after = found(changed("a.txt", "x", "y", f"  {TOKEN}"))
    assert before[0].key == after[0].key
    assert (before[0].line, after[0].line) == (1, 3)


def test_no_other_finding_carries_a_secret_along() -> None:
    files = [
        changed("src/a.js", f"debugger; // {TOKEN}", f"{OURS} {TOKEN}", "z" * 290 + TOKEN),
        changed(f"conf/{TOKEN}.zip"),
    ]
    every = found(*files)
    assert {one.rule for one in every} >= {"secret", "leftover", "conflict", "binary"}
    told = [f"{one.message} {one.reason} {one.excerpt}" for one in every]
    assert not any(TOKEN[4:20] in text for text in told)


# Conflict markers


def test_a_conflict_is_one_finding_at_its_first_marker() -> None:
    lines = ["x = 1", OURS, "a", BASE, "b", MIDDLE, "c", THEIRS]
    (one,) = found(changed("a.cfg", *lines))
    assert (one.rule, one.severity, one.line) == ("conflict", Severity.BLOCKING, 2)


@pytest.mark.parametrize("marker", [THEIRS, BASE])
def test_a_marker_that_was_forgotten_alone_is_found(marker: str) -> None:
    (one,) = found(changed("a.cfg", "x", marker))
    assert (one.rule, one.line) == ("conflict", 2)


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("a.rst", ["Title 1", MIDDLE, "text"]),
        ("a.md", [MIDDLE]),
        ("a.txt", [THEIRS + " wrote somebody, seven mails ago"]),
        ("a.md", ["    " + OURS]),
        ("a.cfg", ["<" * 8 + " x", "<" * 7 + "x"]),
    ],
)
def test_what_only_looks_like_a_conflict(path: str, lines: list[str]) -> None:
    assert found(changed(path, *lines)) == []


# Sizes and binary files


@pytest.mark.parametrize(
    ("file", "severity"),
    [
        (changed("a.csv", "x", size=(1 << 20) + 1), Severity.IMPORTANT),
        (changed("a.csv", "x", size=(10 << 20) + 1), Severity.BLOCKING),
        (changed("a.csv", "x", size=1 << 20), None),
        (changed("a.csv", "x"), None),
        (changed("a.csv", status="removed", size=1 << 30), None),
        (changed("a.csv", status="renamed", size=1 << 30), None),
        (changed("uv.lock", "x", size=2 << 20), None),
        (changed("uv.lock", "x", size=20 << 20), Severity.BLOCKING),
        (changed("a.zip", size=2 << 20), Severity.IMPORTANT),
        (changed("a.zip"), Severity.IMPORTANT),
        (changed("a/b.tar.gz", size=9), Severity.IMPORTANT),
        (changed("A.CLASS", status="modified"), Severity.IMPORTANT),
        (changed("a.png"), Severity.MINOR),
        (changed("a.zip", status="removed"), None),
        (changed("a.zip", status="renamed"), None),
        (changed("src/__init__.py"), None),
        (changed("run.sh", status="modified", size=90), None),
        (changed("empty.db", size=0), None),
        (changed("v1.zip/readme"), None),
        (changed("a.obj", "v 0 0 0"), None),
    ],
)
def test_large_and_binary_files(file: Changed, severity: Severity | None) -> None:
    every = found(file)
    assert [one.severity for one in every] == ([severity] if severity else [])
    assert all(one.path == file.path and one.line is None for one in every)


def test_many_pictures_are_one_finding() -> None:
    (one,) = found(*(changed(f"img/{n}.png") for n in range(30)))
    assert "and 25 more are binary files" in one.message


# Tests


def test_changed_code_without_a_test_is_said_once() -> None:
    (one,) = found(*(changed(f"src/{name}/x.py", "y = 1") for name in "abcdefg"), rule="untested")
    assert one.severity is Severity.IMPORTANT
    assert one.message.endswith("`src/e/x.py` and 2 more.")


@pytest.mark.parametrize(
    "file",
    [
        changed("docs/conf.py", "x = 1"),
        changed("src/a.py", "# only a comment", "", '"""A docstring', "that goes on.", '"""'),
        changed("src/a.ts", "// a comment", "/* and", "another */", "}"),
        changed("src/a.py", status="removed", patch="@@ -1 +0,0 @@\n-x = 1"),
        changed("src/a.py", status="renamed"),
        changed("src/a.py", patch="@@ -1,2 +1 @@\n x\n-y", status="modified"),
        changed("vite.config.ts", "x"),
        changed("src/types.d.ts", "x"),
        changed("README.md", "x"),
        changed("k8s/a.py", "x = 1"),
        changed("src/a.rs", "fn a() {}", "#[cfg(test)]", "mod tests {}"),
        changed("tests/test_a.py", "x = 1"),
        changed("pkg/a_test.go", "x := 1"),
        changed("src/ATest.java", "int x;"),
    ],
)
def test_what_needs_no_test(file: Changed) -> None:
    assert found(file, rule="untested") == []


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("src/x/export.py", "tests/test_export.py"),
        ("src/x/export.py", "tests/export/whole/test_all.py"),
        ("src/export/a.py", "tests/export/test_b.py"),
        ("src/ordersExport.ts", "src/__tests__/order.test.ts"),
        ("pkg/cart.go", "pkg/cart_test.go"),
        ("src/main/java/shop/Cart.java", "src/test/java/shop/CartTest.java"),
        ("lib/cart.rb", "spec/cart_spec.rb"),
        ("src/app.py", "tests/test_app.py"),
    ],
)
def test_a_test_that_shares_a_word_will_do(code: str, test: str) -> None:
    assert found(changed(code, "x = 1"), changed(test, "x")) == []
    gone = changed(test, status="removed")
    assert [one.rule for one in found(changed(code, "x = 1"), gone)] == ["untested"]


def test_a_document_of_a_feature_is_no_test() -> None:
    document = changed("specs/012-export/tests/export.md", "x")
    (one,) = found(changed("src/export.py", "x = 1"), document)
    assert one.rule == "untested"


def test_code_of_which_no_changed_test_speaks_is_named() -> None:
    files = [changed(f"src/{name}.py", "x = 1") for name in ("cart", "mail")]
    (one,) = found(*files, changed("tests/test_cart.py", "x"))
    assert "mail" in one.message
    assert "cart" not in one.message
    beside = [changed(f"src/orders/{name}.py", "x = 1") for name in ("cart", "mail")]
    assert found(*beside, changed("tests/test_cart.py", "x")) == []


def test_a_patch_too_long_to_show_is_code() -> None:
    assert [one.rule for one in found(changed("src/a.py", added=9000))] == ["untested"]


# Specification and tasks

SPEC = """# Feature Specification: Export
## Clarifications
- Q1: Which format? → CSV
- Q2: For whom? → Sellers
## Requirements
- **FR-001**: It writes CSV. (Q1)
- **FR-002**: It is quick.
* NFR-3: It is quiet.
> - **FR-009**: quoted
```
- **FR-008**: an example
```
### Success
| SC-001 | All orders are there. |
"""


def tasks(*lines: str) -> object:
    return parse_tasks("# Tasks\n\n" + "\n".join(f"- [ ] {line}" for line in lines)).tasks


def unplanned(*lines: str, spec: str | None = SPEC) -> list[Finding]:
    more = {"spec": spec, "spec_path": "specs/012-export/spec.md", "tasks": tasks(*lines)}
    return found(rule="unplanned", **more)


def test_lines_of_the_specification_that_no_task_names() -> None:
    every = unplanned("T001 Write it (Q1), as FR-2 says", "T002 Test NFR-003")
    assert [(one.line, one.excerpt) for one in every] == [(4, "Q2"), (14, "SC-001")]
    assert {one.severity for one in every} == {Severity.MINOR}
    assert {one.path for one in every} == {"specs/012-export/spec.md"}


def test_ranges_and_details_count() -> None:
    text = "T001 Do FR-001 to FR-002\n  - and NFR-003–NFR-004, SC-1, Q2"
    assert unplanned(text) == []


def test_many_are_one_finding() -> None:
    spec = "\n".join(f"- **FR-{n:03d}**: x" for n in range(1, 31))
    (one,) = unplanned("T001 Do something", spec=spec)
    assert one.line is None
    assert "FR-001, FR-002" in one.message
    assert "and 10 more" in one.message


def test_without_both_documents_nothing_can_be_missing() -> None:
    assert unplanned("T001 x", spec=None) == []
    assert found(spec=SPEC, rule="unplanned") == []
    assert unplanned(spec=SPEC) == []


CATEGORIES = (
    "scope flows data integrations quality edge-cases constraints terms completion odd".split()
)


@pytest.mark.parametrize("many", [0, 1, 25])
@pytest.mark.parametrize("kind", FeatureType)
def test_our_own_documents_leave_nothing_out(kind: FeatureType, many: int) -> None:
    feature = Feature(
        1, Place(7, 70, "acme/storefront", 12), type=kind, title="Export", body="Sellers."
    )
    asked = [
        Question(
            number,
            f"q-{number}",
            "product.scope",
            f"What about part {number}?",
            category=CATEGORIES[number % len(CATEGORIES)],
            state=QuestionState.CORRECTED if number % 7 else QuestionState.ESCALATED,
            answer=f"Answer {number}.",
            source="@rosa",
        )
        for number in range(1, many + 1)
    ]
    spec = specification(feature, asked)
    made = parse_tasks(tasklist(feature, asked)).tasks
    assert found(spec=spec, tasks=made) == []
    if many == 25:
        assert found(spec=spec.replace("(Q3)", "(Q99)"), tasks=made[:1]) != []


# Tasks and commits

SIGNED = (Signed("1" * 40, ("dede",), ("T001", "t2")),)
LIST = ("T001 Write `src/a.py`", "T002 Test `tests/a.py`", "T003 Tidy `src/`", "T004 Do more")


def undone(*lines: str, **more: object) -> list[Finding]:
    known = {"tasks": tasks(*lines), "tasks_path": "specs/012-export/tasks.md", "commits": SIGNED}
    return found(rule="undone", **{**known, **more})


def test_tasks_that_no_commit_names() -> None:
    (one,) = undone(*LIST)
    assert one.severity is Severity.IMPORTANT
    assert one.message == "No commit names the tasks T003, T004."
    assert one.path == "specs/012-export/tasks.md"
    (one,) = undone(*(f"T{n:03d} Write `src/{n}.py`" for n in range(1, 31)))
    assert one.message.endswith("T011, T012 and 18 more.")


@pytest.mark.parametrize(
    "more",
    [
        {"draft": True},
        {"commits": ()},
        {"commits": (Signed("1" * 40),)},
        {"tasks": None},
    ],
)
def test_when_no_task_is_missed(more: dict[str, object]) -> None:
    assert undone(*LIST, **more) == []


@pytest.mark.parametrize(
    "line",
    [
        "T009 Review everything that was changed, and comment",
        "T009 Find the manifests in `k8s/` that hold the settings",
        "T009 Write `specs/012-export/plan.md`",
        "T009 Run all tests",
        "Do something without an id in `src/a.py`",
    ],
)
def test_tasks_that_leave_no_commit(line: str) -> None:
    assert undone(line) == []


# Leftovers


@pytest.mark.parametrize(
    ("path", "line", "suggestion"),
    [
        ("src/a.py", "    breakpoint()", ""),
        ("src/a.py", "import pdb; pdb.set_trace()", ""),
        ("src/a.py", "if x: breakpoint()", None),
        ("src/a.py", "breakpoint()  # why?", None),
        ("src/a.js", "  debugger;", ""),
        ("src/a.ts", "if (x) { debugger; }", None),
        ("src/a.test.ts", "it.only('adds', () => {", None),
        ("src/a.test.ts", "describe.only('cart', () => {", None),
        ("src/a.spec.js", "fdescribe('cart', () => {", None),
    ],
)
def test_leftovers_of_debugging(path: str, line: str, suggestion: str | None) -> None:
    (one,) = found(changed(path, "x", line), rule="leftover")
    assert (one.line, one.severity) == (2, Severity.MINOR)
    assert one.suggestion == suggestion


def test_what_a_colon_opens_is_not_emptied() -> None:
    (one,) = found(changed("src/a.py", "if x:", "    breakpoint()"), rule="leftover")
    assert one.suggestion is None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/a.py", "# breakpoint()"),
        ("src/a.py", "set_breakpoint()"),
        ("src/a.py", "import pdbtools"),
        ("src/a.js", "console.log(x)"),
        ("src/a.js", "say('debugger;')"),
        ("src/a.js", "items.only(1)"),
        ("src/a.test.js", "model.fit('x')"),
        ("src/a.ts", "it.only('not in a test file')"),
        ("README.md", "breakpoint()"),
        ("dist/a.js", "x" * 5000 + ";debugger;"),
    ],
)
def test_what_is_no_leftover(path: str, line: str) -> None:
    assert found(changed(path, line), rule="leftover") == []


# All of it


def test_what_github_does_not_show_is_said() -> None:
    (one,) = found(complete=False)
    assert one.severity is Severity.IMPORTANT
    assert "only what it shows was looked at" in one.message


def test_blocking_comes_first_then_path_and_line_and_nothing_twice() -> None:
    files = (
        changed("b.cfg", "x", OURS, OURS, THEIRS),
        changed("a.test.js", "debugger;", TOKEN),
        changed("c.zip"),
        changed("a.cfg", "y", OURS),
    )
    assert [(one.path, one.line) for one in found(*files)] == [
        ("a.cfg", 2),
        ("a.test.js", 2),
        ("b.cfg", 2),
        ("c.zip", None),
        ("a.test.js", 1),
    ]


def test_hostile_files_harm_nothing() -> None:
    lines = [f"\ud800 --> @mara `x` | <!-- {n}" for n in range(20_000)]
    path = "src/`a` | @mara --> \ud800\n# x.py"
    every = found(changed(path, *lines), changed("", patch="@@"), changed(".", "x"))
    (one,) = every
    assert one.rule == "untested"
    assert one.message.count("`") == 2
    assert "|" not in one.message
    assert one.key
