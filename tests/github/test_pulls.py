"""What GitHub tells of a pull request: links, submodules, long commits, large scope files."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.github import pulls
from app.github.client import RepoClient
from app.github.pulls import read_owners, read_pull_at
from app.scopes import parse
from app.scopes.pulls import SCOPE_FILE, Pull, judge
from app.scopes.rules import MAX_BYTES
from tests.github.conftest import Work
from tests.playground.conftest import REPO, Running

Run = Callable[[Work], Any]
Files = Mapping[str, str]
AGENT = "Change\n\nAgent: dede"
LINK, MODULE = "120000", "160000"


class Branch:
    """Commits by the API, with modes as no file of its own has them."""

    def __init__(self, playground: Running, name: str) -> None:
        self.name = name
        self._call = playground.client.call
        self.base: str = self._git("GET", "ref/heads/main")["object"]["sha"]
        self._git("POST", "refs", json={"ref": f"refs/heads/{name}", "sha": self.base})
        self.head = self.base

    def _git(self, method: str, path: str, **more: Any) -> Any:
        return self._call(method, f"/repos/{REPO}/git/{path}", **more)

    def commit(self, files: Files, message: str = AGENT, mode: str = "100644") -> None:
        """Links and submodules have what they say, or their commit, as content."""
        tree: list[dict[str, Any]] = [
            {"path": path, "mode": mode, "type": "commit", "sha": content}
            if mode == MODULE
            else {"path": path, "mode": mode, "type": "blob", "content": content}
            for path, content in files.items()
        ]
        made = self._git("POST", "trees", json={"tree": tree, "base_tree": self.head})
        data = {"message": message, "tree": made["sha"], "parents": [self.head]}
        self.head = self._git("POST", "commits", json=data)["sha"]
        self._git("PATCH", f"refs/heads/{self.name}", json={"sha": self.head})

    def propose(self) -> int:
        data = {"title": "Take it", "head": self.name, "base": "main"}
        return int(self._call("POST", f"/repos/{REPO}/pulls", json=data)["number"])


def read(github: Run, branch: Branch) -> Pull:
    number = branch.propose()
    found: Pull = github(
        lambda client, _: read_pull_at(client, number, branch.base, ours=False, people=False)
    )
    return found


def asked(playground: Running, part: str) -> list[str]:
    return [one["path"] for one in playground.client.requests() if part in one["path"]]


def test_links_are_read_with_those_on_their_way(playground: Running, github: Run) -> None:
    branch = Branch(playground, "links")
    branch.commit({"src/old": "../k8s", "src/other": "../docs"}, "By a person", LINK)
    data = {"sha": branch.head}
    playground.client.call("PATCH", f"/repos/{REPO}/git/refs/heads/main", json=data)
    branch.base = branch.head
    branch.commit({"src/way": "old/deploy.yaml", "src/long": "x/" * 3000}, mode=LINK)
    pull = read(github, branch)
    assert pull.links == {"src/way": "old/deploy.yaml", "src/old": "../k8s", "src/long": "/…"}
    assert [one.path for one in judge(pull).trespasses] == ["src/long", "src/way"]


def test_submodules_are_told(playground: Running, github: Run) -> None:
    branch = Branch(playground, "module")
    branch.commit({"src/lib": "1" * 40}, mode=MODULE)
    pull = read(github, branch)
    assert (pull.submodules, pull.links) == (("src/lib",), {})
    assert [one.path for one in judge(pull).trespasses] == ["src/lib"]


def test_without_agents_nothing_is_asked_about_links(playground: Running, github: Run) -> None:
    branch = Branch(playground, "people")
    branch.commit({"src/way": "/etc/passwd"}, "By a person", LINK)
    pull = read(github, branch)
    assert pull.links == {}
    assert asked(playground, "/git/trees/") == []


def test_more_links_than_are_asked_for_one_by_one(playground: Running, github: Run) -> None:
    branch = Branch(playground, "many-links")
    branch.commit({f"src/l{number}": "x" for number in range(101)}, mode=LINK)
    assert not read(github, branch).complete


def test_a_tree_that_github_cuts_short_is_not_complete(
    github: Run, playground: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch, call = Branch(playground, "cut"), RepoClient.call
    branch.commit({"src/way": "/etc/passwd"}, mode=LINK)

    async def cut(self: RepoClient, method: str, path: str, **more: Any) -> Any:
        found = await call(self, method, path, **more)
        return {**found, "tree": [], "truncated": True} if "/git/trees/" in path else found

    monkeypatch.setattr(RepoClient, "call", cut)
    assert not read(github, branch).complete


@pytest.mark.parametrize("count", [99, 100, 350])
def test_all_files_of_a_commit_by_several_hands(
    playground: Running, github: Run, count: int
) -> None:
    branch = Branch(playground, f"long-{count}")
    branch.commit({"tests/a.py": "a"}, "Change\n\nAgent: marie")
    branch.commit({f"src/f{number}.py": "x" for number in range(count)})
    pull = read(github, branch)
    assert pull.complete
    assert [len(one.paths) for one in pull.commits] == [1, count]
    assert judge(pull).trespasses == ()


def test_a_commit_that_github_does_not_list_whole(
    playground: Running, github: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulls, "_OF_A_COMMIT", 200)
    branch = Branch(playground, "too-long")
    branch.commit({"tests/a.py": "a"}, "Change\n\nAgent: marie")
    branch.commit({f"src/f{number}.py": "x" for number in range(250)})
    assert not read(github, branch).complete


def _put(playground: Running, path: str, text: str) -> None:
    content = base64.b64encode(text.encode()).decode()
    data = {"message": "Write", "content": content, "branch": "main"}
    playground.client.call("PUT", f"/repos/{REPO}/contents/{path}", json=data)


def test_a_scope_file_above_one_megabyte_counts(playground: Running, github: Run) -> None:
    _put(playground, SCOPE_FILE, "/src/ @dede\n" + "# comment\n" * 150_000)
    branch = Branch(playground, "large-scopes")
    branch.commit({"src/a.py": "a", "tests/b.py": "b"}, "Change\n\nAgent: marie")
    pull = read(github, branch)
    assert judge(pull).flaws == ()
    assert [one.path for one in judge(pull).trespasses] == ["src/a.py", "tests/b.py"]


def test_a_scope_file_above_the_limit_is_a_flaw_and_never_the_default(
    playground: Running, github: Run
) -> None:
    _put(playground, SCOPE_FILE, "#" * MAX_BYTES + "\n/src/ @marie\n")
    _put(playground, "CODEOWNERS", "#" * MAX_BYTES + "\n* @mara\n")
    branch = Branch(playground, "larger-scopes")
    branch.commit({"src/a.py": "a"})
    pull = read(github, branch)
    assert ["larger than 3 MB" in flaw.reason for flaw in judge(pull).flaws] == [True]
    owners = github(lambda client, _: read_owners(client, "main"))
    assert parse(owners).flaws


def test_other_files_above_the_limit_are_as_good_as_none(playground: Running, github: Run) -> None:
    _put(playground, "plan.md", "x" * (MAX_BYTES + 1))
    assert github(lambda client, _: client.text_at("plan.md", "main")) is None
    assert github(lambda client, _: client.text_at("none.md", "main")) is None
