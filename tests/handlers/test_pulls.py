"""What a pull request brings is checked where everybody sees it."""

from __future__ import annotations

from app.actions import ShowCheck
from app.events import Person, PullChanged
from app.handlers.facts import Permission, Wrong
from app.scopes.pulls import Commit, Pull
from tests.handlers.world import World

HEAD = "c0ffee" * 6 + "c0ff"


def checked(pull: Pull | None, proposed: tuple[Wrong, ...] | None = None) -> list[ShowCheck]:
    world = World(facts={"pull": pull, "proposed": proposed})
    issue = world.issue(pull_request=True)
    world.send(PullChanged("d-1", Person("mara"), issue, HEAD, "b" * 40), Permission.NONE)
    return world.of(ShowCheck)


def by(agent: str, *paths: str) -> Pull:
    return Pull(paths, (Commit("c", (agent,), paths),))


def test_what_people_wrote_is_let_through_and_reported() -> None:
    (check,) = checked(Pull(("k8s/a.yaml",), (Commit("c", (), ("k8s/a.yaml",)),)))
    assert (check.name, check.conclusion, check.head) == ("baron/scope", "success", HEAD)
    assert check.title == "Written by people: scopes bind agents"


def test_an_agent_in_its_scope() -> None:
    (check,) = checked(by("dede", "src/a.py"))
    assert (check.conclusion, check.title) == ("success", "1 path, in scope")
    assert check.notes == ()


def test_an_agent_outside_its_scope_sees_rule_line_and_owner() -> None:
    (check,) = checked(by("dede", "src/a.py", "k8s/a.yaml", "docs/x.md"))
    assert check.conclusion == "failure"
    assert check.title == "2 of 3 paths outside the scope of their agent"
    assert [note.path for note in check.notes] == ["k8s/a.yaml", "docs/x.md"]
    assert "line 5 gives it to @gustave" in check.notes[0].message
    assert "no line names it" in check.notes[1].message
    assert "| `k8s/a.yaml` | `@dede` | `@gustave` | line 5 |" in check.summary


def test_a_flawed_scope_file_fails_with_its_line() -> None:
    pull = by("dede", "src/a.py")
    (check,) = checked(Pull(pull.paths, pull.commits, "/src/ @dede\n!x @dede\n"))
    assert check.conclusion == "failure"
    assert [(note.path, note.line) for note in check.notes] == [(".github/AGENT_SCOPES", 2)]


def test_a_hostile_path_writes_nothing_into_the_summary() -> None:
    path = "k8s/`@mara` | <b>x</b>\n# closes #1"
    (check,) = checked(by("dede", path))
    rows = [line for line in check.summary.splitlines() if "k8s" in line]
    assert rows == ["| `k8s/'@mara' │ <b>x</b> # closes #1` | `@dede` | `@gustave` | line 5 |"]


def test_both_checks_report_where_both_have_something_to_say() -> None:
    pull = Pull((".github/baron.yml",), (Commit("c", (), (".github/baron.yml",)),))
    found = checked(pull, (Wrong(".github/baron.yml", 3, "x", "unknown key"),))
    assert {check.name: check.conclusion for check in found} == {
        "baron/config": "failure", "baron/scope": "success"
    }  # fmt: skip
