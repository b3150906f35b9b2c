"""`/allow`: who may, for what, how long; and scopes that bind people, too."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.actions import JudgePull, SaveAllowance, ShowCheck
from app.events import AllowanceEnded, Person, PullChanged, PullJudged
from app.handlers.facts import Head, Permission
from app.scopes.pulls import Allowance, Commit, Judged, Pull, Trespass
from tests.handlers.world import PLACE, World

HEAD = "9" * 40
PULL = Pull(
    ("src/a.py", "k8s/a.yaml", "docs/a.md"),
    (Commit("c1", ("dede",), ("src/a.py", "k8s/a.yaml", "docs/a.md")),),
    owners="/k8s/ @acme/ops @sol\n",
)


def world(pull: Pull = PULL, **facts: Any) -> World:
    """A pull request that no feature is behind."""
    made = World(feature=None)
    made.facts = {"pull": pull, "head": Head(HEAD, "b" * 40), **facts}
    return made


def say(made: World, body: str, by: str = "mara", permission=Permission.MAINTAIN) -> None:
    issue = made.issue(pull_request=True, labels=(), place=replace(PLACE, number=13))
    made.say(body, by, permission, issue=issue)


def check(made: World) -> ShowCheck:
    (found,) = made.of(ShowCheck)
    return found


def test_whoever_may_maintain_allows_what_codeowners_gives_nobody() -> None:
    made = world()
    say(made, "/allow docs/a.md The field is described there.")
    (kept,) = made.of(SaveAllowance)
    until = (made.now + timedelta(days=7)).isoformat(timespec="seconds")
    reason = "The field is described there."
    assert (kept.head, kept.allowance) == (HEAD, Allowance("docs/a.md", "mara", reason, until))
    assert [note.path for note in check(made).notes] == ["k8s/a.yaml"]
    assert check(made).conclusion == "failure"
    assert "Allowed for this commit" in check(made).summary
    assert "until 2026-11-28" in made.replies()[0]


@pytest.mark.parametrize(
    ("by", "permission", "teams", "may"),
    [
        ("sol", Permission.WRITE, (), True),
        ("SOL", Permission.WRITE, (), True),
        ("rosa", Permission.WRITE, ("acme/ops",), True),
        ("rosa", Permission.WRITE, ("acme/web",), False),
        ("mara", Permission.MAINTAIN, (), False),
    ],
)
def test_what_codeowners_gives_somebody_is_theirs_to_allow(
    by: str, permission: Permission, teams: tuple[str, ...], may: bool
) -> None:
    made = world(teams=frozenset(teams))
    say(made, "/allow k8s/a.yaml It is wanted.", by, permission)
    assert bool(made.of(SaveAllowance)) is may
    if not may:
        assert "for an owner of `k8s/a.yaml`: acme/ops, sol" in made.replies()[0]
        assert made.of(ShowCheck) == []


def test_all_that_is_outside_allowed_the_check_is_green() -> None:
    late = "2026-11-28T09:00:00+00:00"
    made = world(allowed=(Allowance("k8s/a.yaml", "sol", "yes", late),))
    say(made, "/allow docs/a.md Yes.")
    assert check(made).conclusion == "success"


def test_only_what_is_outside_can_be_allowed_and_the_answer_names_it() -> None:
    made = world()
    say(made, "/allow src/a.py Why not.")
    assert made.of(SaveAllowance) == []
    assert "`k8s/a.yaml`, `docs/a.md`" in made.replies()[0]


def test_a_scope_file_that_cannot_be_read_is_no_case_for_it() -> None:
    made = world(replace(PULL, scopes="!/src/ @dede\n"))
    say(made, "/allow docs/a.md Yes.")
    assert "cannot be read" in made.replies()[0]


def test_on_an_issue_it_says_where_it_belongs() -> None:
    made = World()
    made.label()
    made.say("/allow docs/a.md Yes.", permission=Permission.ADMIN)
    assert "for pull requests" in made.replies()[0]


def test_strangers_get_a_reaction_and_nothing_else() -> None:
    made = world()
    say(made, "/allow docs/a.md Yes.", "eve", Permission.READ)
    assert made.reactions() == ["confused"]
    assert made.replies() == []


def test_annotations_say_rule_owner_and_who_may_allow_it() -> None:
    made = world()
    issue = made.issue(pull_request=True, place=replace(PLACE, number=13))
    made.send(PullChanged("d", Person("mara"), issue, HEAD, "b" * 40))
    notes = {note.path: note.message for note in check(made).notes}
    told = notes["k8s/a.yaml"]
    assert "@acme/ops or @sol can let this commit change it: /allow k8s/a.yaml" in told
    assert "Whoever may maintain here" in notes["docs/a.md"]
    assert "line 5 gives it to @gustave" in notes["k8s/a.yaml"]


def test_when_the_time_is_up_the_check_fails_again() -> None:
    made = world()
    made.send(AllowanceEnded(0, replace(PLACE, number=13), HEAD))
    assert check(made).conclusion == "failure"
    made = world(head=Head("1" * 40))
    assert made.send(AllowanceEnded(0, replace(PLACE, number=13), HEAD)) == []


def test_a_large_one_is_read_from_git_before_anything_is_said() -> None:
    large = replace(PULL, complete=False)
    made = world(large)
    issue = made.issue(pull_request=True, place=replace(PLACE, number=13))
    made.send(PullChanged("d", Person("mara"), issue, HEAD, "b" * 40))
    (wanted,) = made.of(JudgePull)
    assert (wanted.head, wanted.base) == (HEAD, "b" * 40)
    assert made.of(ShowCheck) == []
    place = wanted.place
    one = Trespass("k8s/z.yaml", "dede", ("@gustave",), 4, "no")
    made.send(PullJudged(0, place, HEAD, True, False, 4000, Judged((one,))))
    assert check(made).title == "1 of 4000 paths outside the scope of its agent"
    made.send(PullJudged(0, place, HEAD, False, False, 4000, Judged()))
    assert check(made).conclusion == "success"
    made.send(PullJudged(0, place, HEAD, True, False, 0, Judged(), error="it is gone"))
    assert check(made).conclusion == "failure"
    assert "it is gone" in check(made).summary
