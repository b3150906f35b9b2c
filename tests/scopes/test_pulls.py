"""The third wall, as data: who says to have changed what, and whether they may."""

from __future__ import annotations

import pytest

from app.scopes.pulls import Commit, Pull, agents_in, is_bound, is_by_agents, judge


def pull(*commits: Commit, paths: tuple[str, ...] = (), scopes: str | None = None) -> Pull:
    touched = paths or tuple(path for commit in commits for path in commit.paths)
    return Pull(touched, commits, scopes)


def by(agent: str, *paths: str) -> Commit:
    return Commit("c0ffee", (agent,) if agent else (), paths)


@pytest.mark.parametrize(
    ("message", "agents"),
    [
        ("Add it\n\nAgent: dede\nTask: T003", ("dede",)),
        ("Add it\r\n\r\nTask: T003\r\nAgent: @Dede", ("dede",)),
        ("Both\n\nAgent: dede\nAgent: marie\nAgent: dede", ("dede", "marie")),
        ("Agent: dede", ("dede",)),
        ("Agent: dede\n\nis what a signature looks like", ()),
        ("Add it\n\nThe Agent: dede wrote it", ()),
        ("Add it\n\nAgent: de de", ()),
        ("", ()),
    ],
)
def test_who_signed(message: str, agents: tuple[str, ...]) -> None:
    assert agents_in(message) == agents


def test_scopes_bind_what_agents_wrote_and_what_the_service_opened() -> None:
    assert is_by_agents(pull(by("", "a"), by("dede", "src/b")))
    assert is_by_agents(Pull(("a",), (by("", "a"),), ours=True))
    assert not is_by_agents(pull(by("", "a")))


@pytest.mark.parametrize(
    ("agent", "path"),
    [
        ("dede", "src/a.py"), ("DEDE", "src/deep/er/a.py"), ("marie", "tests/test_a.py"),
        ("gustave", "k8s/a.yaml"), ("gustave", ".github/workflows/ci.yml"),
        ("baron", "specs/012-order-export/spec.md"),
    ],
)  # fmt: skip
def test_in_scope(agent: str, path: str) -> None:
    assert judge(pull(by(agent.casefold(), path))).trespasses == ()


@pytest.mark.parametrize(
    ("agent", "path", "why"),
    [
        ("dede", "k8s/a.yaml", "not in the scope of @dede"),
        ("dede", "lib/src/a.py", "not in the scope of @dede"),
        ("dede", "Src/a.py", "not in the scope of @dede"),
        ("dede", "src/../k8s/a.yaml", "not in the scope of @dede"),
        ("dede", ".github/AGENT_SCOPES", "no agent may write"),
        ("gustave", ".github/AGENT_SCOPES", "no agent may write"),
        ("baron", "src/a.py", "not in the scope of @baron"),
        ("baron", "specs/012-a/../../src/spec.md", "not in the scope of @baron"),
        ("marie", "specs/012-a/spec.md", "not in the scope of @marie"),
        ("nobody", "src/a.py", "not in the scope of @nobody"),
        ("", "src/a.py", "no agent signed"),
    ],
)
def test_out_of_scope(agent: str, path: str, why: str) -> None:
    (found,) = judge(pull(by("dede", "src/ok.py"), by(agent, path))).trespasses
    assert (found.path, found.agent) == (path, agent)
    assert why in found.why


def test_every_hand_on_a_path_has_to_own_it() -> None:
    judged = judge(pull(by("dede", "src/a.py"), by("marie", "src/a.py", "tests/a.py")))
    assert [(one.path, one.agent) for one in judged.trespasses] == [("src/a.py", "marie")]


def test_what_no_commit_accounts_for_is_nobodys() -> None:
    """A merge may bring what none of its commits shows."""
    judged = judge(pull(by("dede", "src/a.py"), paths=("src/a.py", "src/evil.py")))
    assert [one.path for one in judged.trespasses] == ["src/evil.py"]


def test_the_base_branchs_file_counts_and_names_its_line() -> None:
    scopes = "# ours\n/app/ @dede\n/app/secret/ @marie\n"
    judged = judge(pull(by("dede", "app/a", "app/secret/b", "src/c"), scopes=scopes))
    assert [(one.path, one.owners, one.line) for one in judged.trespasses] == [
        ("app/secret/b", ("@marie",), 3),
        ("src/c", (), None),
    ]


def test_a_file_with_a_flaw_lets_nothing_through() -> None:
    judged = judge(pull(by("dede", "src/a.py"), scopes="/src/ @dede\n!/src/b @dede\n"))
    assert [flaw.line for flaw in judged.flaws] == [2]
    assert judge(pull(by("dede", "src/a.py"), scopes="")).trespasses != ()


def by_person(login: str, *paths: str) -> Commit:
    return Commit("c0ffee", (), paths, login)


def test_people_may_push_to_an_agents_pull_request_where_only_agents_are_bound() -> None:
    both = pull(by("dede", "src/a.py"), by_person("mara", "docs/a.md", ".github/AGENT_SCOPES"))
    assert judge(both).trespasses == ()


def test_where_people_are_bound_the_file_names_them_or_their_team() -> None:
    scopes = "/src/ @mara\n/docs/ @acme/writers\n/k8s/ @gustave\n"
    one = pull(by_person("mara", "src/a.py", "docs/a.md", "k8s/a.yaml"), scopes=scopes)
    bound = Pull(one.paths, one.commits, scopes, members={"mara": ("@Mara", "@acme/writers")})
    (found,) = judge(bound).trespasses
    assert (found.path, found.agent) == ("k8s/a.yaml", "mara")
    assert is_bound(bound)
    assert not is_bound(one)


def test_what_an_owner_allowed_is_let_through_and_nothing_else() -> None:
    one = pull(by("dede", "k8s/a.yaml", "k8s/b.yaml"))
    assert [found.path for found in judge(one, {"k8s/a.yaml"}).trespasses] == ["k8s/b.yaml"]


def test_a_file_that_cannot_be_read_lets_nothing_through_that_was_allowed() -> None:
    one = pull(by("dede", "src/a.py"), scopes="!/src/ @dede\n")
    assert judge(one, {"src/a.py"}).flaws
