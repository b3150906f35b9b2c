"""Where links lead: by what they say, as the kernel would follow them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.execution import tree
from app.scopes.links import ENDLESS, escaped, leads_to, shown, unread
from app.scopes.pulls import Commit, Judged, Pull, judge

LINKS = {"src/way": "../k8s", "src/loop": "loop", "src/up": "..", "out": "../key", "abs": "/etc"}


@pytest.mark.parametrize(
    ("path", "target", "place"),
    [
        ("src/a", "b.py", "src/b.py"),
        ("src/a", "./x//../b.py", "src/b.py"),
        ("src/a", "../k8s", "k8s"),
        ("src/a", "..", ""),
        ("src/a", "../..", None),
        ("src/a", "../../src/b.py", None),
        ("a", "..", None),
        ("src/a", "/etc/passwd", None),
        ("src/a", "C:/Windows", None),
        ("src/a", ENDLESS, None),
        ("src/a", "way/deploy.yaml", "k8s/deploy.yaml"),
        ("src/a", "way/../b.py", "b.py"),
        ("src/a", "up/k8s", "k8s"),
        ("src/a", "up/src/up/src/way/x", "k8s/x"),
        ("src/a", "../out", None),
        ("src/a", "../abs/passwd", None),
        ("src/loop", "loop", None),
        ("src/a", "x/" * 3000, None),
        ("a", "a/../" * 1000 + "b", "b"),
        ("a", "x/../" * 5000 + "b", None),
    ],
)
def test_where_a_link_leads(path: str, target: str, place: str | None) -> None:
    assert leads_to(path, target, LINKS) == place


def test_a_chain_is_followed_forty_times_and_no_further() -> None:
    links = {f"l{n}": f"l{n + 1}" for n in range(60)}
    assert leads_to("x", "l20", links) == "l60"
    assert leads_to("x", "l19", links) is None


_PARTS = st.sampled_from(["..", ".", "a", "b", "c", "x", ""])
_TARGET = st.lists(_PARTS, min_size=1, max_size=5).map("/".join).filter(bool)
_LINKS = st.dictionaries(
    st.sampled_from(["a/x", "b/x", "a/b/c", "b/c", "c", "x"]), _TARGET, min_size=1
)


@given(_LINKS)
def test_it_is_where_the_worktrees_own_look_finds_it(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for path, target in links.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, root / path)
    for path, target in links.items():
        place = leads_to(path, target, links)
        assert place == tree.leads_to(Path(root), path, target)
        if place is not None:
            assert os.path.realpath(root / path) == os.path.normpath(root.resolve() / place)


def test_only_links_on_the_way_are_read_one_after_the_other() -> None:
    there = {"src/a": "b/c", "src/b": "../x", "x": "y", "y/c": "z", "other": "src"}
    known: dict[str, str] = {}
    rounds = []
    while more := unread(["src/a"], there, known):
        rounds.append(more)
        known |= {path: there[path] for path in more}
    assert rounds == [["src/a"], ["src/b"], ["x"], ["y/c"]]
    assert leads_to("src/a", known["src/a"], known) == "y/z"


def test_two_links_over_one_ask_for_it_once() -> None:
    assert unread(["a", "b"], {"a", "b", "c"}, {"a": "c", "b": "c"}) == ["c"]


def test_everything_in_a_target_is_seen() -> None:
    assert escaped("a\nb\\\udcff\u202eü") == r"a\nb\\\udcff\u202eü"
    assert len(shown("x" * 300)) == 200


# What the third wall makes of it


def pull(agent: str, links: dict[str, str], path: str = "src/way", **more: Any) -> Pull:
    hand = Commit("c0ffee", (agent,) if agent else (), (path,), "" if agent else "mara")
    return Pull((path,), (hand,), links=links, **more)


def why(judged: Judged) -> list[str]:
    return [one.why for one in judged.trespasses]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("cart.py", []),
        ("../src/deep/cart.py", []),
        ("../k8s/deploy.yaml", ["it links to k8s/deploy.yaml, where @dede may not write"]),
        ("..", ["it links to the whole repository, where @dede may not write"]),
        ("../.git/config", ["it links to .git/config, where @dede may not write"]),
        ("../docs\n", ["it links to docs\\n, where @dede may not write"]),
        ("/etc/passwd", ["it links to /etc/passwd, outside of the repository"]),
        ("../../key\udcff", ["it links to ../../key\\udcff, outside of the repository"]),
        ("way", ["it links to way, outside of the repository"]),
    ],
)
def test_a_link_is_judged_by_where_it_leads(target: str, told: list[str]) -> None:
    assert why(judge(pull("dede", {"src/way": target}))) == told


@pytest.mark.parametrize(
    ("scopes", "target", "owners"),
    [
        ("* @dede\n/ops/ @gustave\n", "../ops", ("@gustave",)),
        ("* @dede\n/ops/** @gustave\n", "../ops", ("@gustave",)),
        ("/ops/ @gustave\n* @dede\n", "../ops", ()),
        ("* @gustave\n/src/* @dede\n", "a.py", ()),
        ("* @gustave\n/src/* @dede\n", "deep/a.py", ("@gustave",)),
    ],
)
def test_a_link_to_a_folder_is_judged_by_what_rules_say_of_its_content(
    scopes: str, target: str, owners: tuple[str, ...]
) -> None:
    found = judge(pull("dede", {"src/way": target}, scopes=scopes)).trespasses
    assert [one.owners for one in found] == ([owners] if owners else [])


def test_a_link_says_whose_the_place_is() -> None:
    (found,) = judge(pull("dede", {"src/way": "../k8s/a.yaml"})).trespasses
    assert (found.path, found.agent, found.owners) == ("src/way", "dede", ("@gustave",))
    assert found.line is not None


def test_a_link_behind_one_that_was_there_is_followed() -> None:
    links = {"src/way": "old/deploy.yaml", "src/old": "../k8s"}
    assert why(judge(pull("dede", links))) == [
        "it links to k8s/deploy.yaml, where @dede may not write"
    ]


def test_the_drivers_documents_link_to_documents_only() -> None:
    path = "specs/012-export/spec.md"
    assert not judge(pull("baron", {path: "plan.md"}, path)).trespasses
    assert judge(pull("baron", {path: "../../src/a.py"}, path)).trespasses


def test_an_owner_allows_a_link_or_a_submodule_like_any_other_path() -> None:
    link = pull("dede", {"src/way": "/etc/passwd"})
    module = pull("dede", {}, submodules=("src/way",))
    for one in (link, module):
        assert [found.path for found in judge(one).trespasses] == ["src/way"]
        assert not judge(one, {"src/way"}).trespasses


@pytest.mark.parametrize("path", ["src/.gitmodules", "src/.GitModules", "src/x/.gitmodules"])
def test_no_agent_names_submodules(path: str) -> None:
    assert why(judge(pull("dede", {}, path))) == [
        "a submodule brings code of others; a person has to add it"
    ]


def test_people_link_where_they_like_unless_they_are_bound() -> None:
    links = {"src/way": "/etc/passwd"}
    assert not judge(pull("", links)).trespasses
    bound: dict[str, Any] = {"scopes": "/src/ @mara\n", "members": {"mara": ("@mara",)}}
    assert why(judge(pull("", links, **bound))) == [
        "it links to /etc/passwd, outside of the repository"
    ]
    assert why(judge(pull("", {"src/way": "../k8s/a"}, **bound))) == [
        "it links to k8s/a, where mara may not write"
    ]
    assert not judge(pull("", {"src/way": "a.py"}, submodules=("src/way",), **bound)).trespasses
