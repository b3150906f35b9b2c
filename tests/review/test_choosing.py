"""What is said where: severest first, nothing twice, and what is gone is resolved."""

from __future__ import annotations

from app.review.choosing import Plan, Thread, plan
from app.review.model import Finding, Severity

LINES = {"src/a.py": frozenset({1, 2, 3})}


def finding(severity: Severity, line: int | None, path: str = "src/a.py") -> Finding:
    return Finding("rule", severity, "What.", "Why.", path, line, f"line {line}")


BLOCKING = finding(Severity.BLOCKING, 3)
IMPORTANT = finding(Severity.IMPORTANT, 1)
MINOR = finding(Severity.MINOR, 2)


def thread(key: str, resolved: bool = False) -> Thread:
    return Thread(key, resolved, f"node-{key}", "src/a.py")


def test_the_severest_get_the_lines() -> None:
    assert plan([MINOR, IMPORTANT, BLOCKING], [], LINES, 2) == Plan((BLOCKING, IMPORTANT), (MINOR,))
    assert plan([MINOR], [], LINES, 0) == Plan(rest=(MINOR,))
    assert plan([MINOR], [], LINES, -1) == Plan(rest=(MINOR,))


def test_what_has_no_line_in_the_patch_stands_in_the_body() -> None:
    loose = (
        finding(Severity.BLOCKING, None),
        finding(Severity.MINOR, 9),
        finding(Severity.MINOR, 1, "src/b.py"),
    )
    assert plan(loose, [], LINES, 10) == Plan(rest=loose)


def test_nothing_is_said_again_even_if_people_resolved_it() -> None:
    threads = [thread(BLOCKING.key), thread(IMPORTANT.key, resolved=True)]
    made = plan([MINOR, IMPORTANT, BLOCKING], threads, LINES, 10)
    assert made == Plan(new=(MINOR,), standing=(BLOCKING, IMPORTANT))


def test_threads_whose_finding_is_gone_are_resolved_once() -> None:
    gone, done = thread("0" * 16), thread("1" * 16, resolved=True)
    assert plan([], [gone, done], LINES, 10) == Plan(resolve=(gone,))


def test_a_matter_that_is_found_twice_is_said_once() -> None:
    moved = finding(Severity.MINOR, 2)
    assert plan([MINOR, moved], [], LINES, 10).new == (MINOR,)
    loose = finding(Severity.MINOR, None)
    assert plan([loose, loose], [], LINES, 10).rest == (loose,)
