"""Faults of the review and of the scope check; each test fails while its fault is there."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy
import yaml

from action.job import Job
from action.reviewing import _nobody, is_ours
from app import intake
from app.actions import Action, ReviewPull, ShowCheck
from app.agents.protocols import NOBODY, Account, AgentUnavailable
from app.agents.reviewing import ModelReview
from app.agents.reviewing import Reviewed as Shown
from app.events import Person, PullChanged, PullJudged
from app.execution.pulls import _touched
from app.execution.repository import Mirror
from app.github import proposals
from app.github.client import GitHubError, RepoClient
from app.github.pulls import names, read_head, read_pull
from app.handlers.facts import Permission
from app.handlers.pulls import scope
from app.looking import Model, look
from app.review.model import Finding, Severity
from app.scopes import parse
from app.scopes.pulls import Commit, Judged, Pull, agents_in, is_by_agents, judge
from app.store import outbox
from app.store.deliveries import Claimed
from app.texts.review import finding_comment
from tests.handlers.world import PLACE, World

ROOT = Path(__file__).resolve().parents[2]
HEAD, BASE = "a" * 40, "b" * 40
BOT = {"login": "kr[bot]", "type": "Bot"}


class Fake:
    """GitHub's answers by path; a missing one is a 404."""

    owner, name = "acme", "storefront"

    def __init__(self, answers: Mapping[str, Any], graph: Any = None) -> None:
        self._answers, self._graph = answers, graph

    async def call(self, method: str, path: str, **more: Any) -> Any:
        if path not in self._answers:
            raise GitHubError("404 Not Found", 404)
        found = self._answers[path]
        return found(**more) if callable(found) else found

    async def pages(self, path: str, **more: Any) -> Any:
        return await self.call("GET", path, **more)

    async def text_at(self, path: str, ref: str, unreadable: str | None = None) -> str | None:
        return None

    async def graphql(self, query: str, variables: Any) -> Any:
        return self._graph


def client(answers: Mapping[str, Any], graph: Any = None) -> RepoClient:
    return cast("RepoClient", Fake(answers, graph))


def listed(sha: str, message: str, login: str = "mara", kind: str = "User") -> dict[str, Any]:
    author = {"email": f"{login}@acme.dev"}
    return {
        "sha": sha,
        "author": {"login": login, "type": kind},
        "commit": {"message": message, "author": author},
        "parents": [{"sha": "0" * 40}],
    }


def file(path: str, patch: str = "@@ -1 +1 @@\n-a\n+b", **more: Any) -> dict[str, Any]:
    return {"filename": path, "status": "modified", "patch": patch, "additions": 1, **more}


# --- what gets past baron/scope --------------------------------------------------------------


def test_a_file_named_like_a_commit_does_not_give_paths_to_a_person(tmp_path: Path) -> None:
    """`diff-tree --stdin -z` prints commits and paths alike: a name of 40 digits passes for one."""

    def git(*args: str, given: bytes = b"") -> bytes:
        who = ("-c", "user.name=x", "-c", "user.email=x@acme.dev")
        run = subprocess.run(
            ["git", "-C", str(tmp_path), *who, *args], input=given, capture_output=True, check=True
        )
        return run.stdout

    def commit(message: str) -> str:
        git("add", "-A")
        git("commit", "-q", "-m", message)
        return git("rev-parse", "HEAD").decode().strip()

    git("init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "k8s").mkdir()
    (tmp_path / "README").write_text("x")
    commit("Begin")
    (tmp_path / "src/a.py").write_text("a")
    maras = commit("By mara")
    (tmp_path / maras).write_text("x")
    first = commit("Change\n\nAgent: dede")
    (tmp_path / maras).unlink()
    (tmp_path / "k8s/a.yaml").write_text("evil")
    second = commit("Change\n\nAgent: dede")

    class Here:
        async def run(self, *args: str, given: bytes = b"") -> bytes:
            return git(*args, given=given)

    order = [second, first, maras]
    touched = asyncio.run(_touched(cast("Mirror", Here()), order))
    commits = (
        Commit(second, ("dede",), touched.get(second, ())),
        Commit(first, ("dede",), touched.get(first, ())),
        Commit(maras, (), touched.get(maras, ()), person="mara"),
    )
    found = judge(Pull(("src/a.py", "k8s/a.yaml"), commits))
    assert [one.path for one in found.trespasses] == ["k8s/a.yaml"]


def test_a_second_pull_request_of_the_same_commit_does_not_turn_the_check_green() -> None:
    """Checks belong to commits: into another base, the same head may bring nothing at all."""
    path = "k8s/a.yaml"
    world = World(facts={"pull": Pull((path,), (Commit(HEAD, ("dede",), (path,)),))})
    world.send(changed(world, 13), Permission.NONE)
    assert [one.conclusion for one in world.of(ShowCheck)] == ["failure"]
    world.facts = {"pull": Pull(), "others": (world.facts["pull"],)}
    world.send(changed(world, 14), Permission.NONE)
    assert "failure" in [one.conclusion for one in world.of(ShowCheck)]


def changed(world: World, number: int) -> PullChanged:
    issue = world.issue(pull_request=True, place=replace(PLACE, number=number))
    return PullChanged(f"d-{number}", Person("mara"), issue, HEAD, BASE)


def test_what_was_pushed_since_is_not_the_verdict_on_the_commit_before() -> None:
    """Files and commits are those of the newest head; the check is written on the event's."""
    newer = listed("c" * 40, "Tidy")
    pull = asyncio.run(read_head(client({}), BASE, HEAD, ours=False, files=[], listed=[newer]))
    made: Action = scope(PLACE, HEAD, BASE, pull, ())
    assert not (isinstance(made, ShowCheck) and made.conclusion == "success")


@pytest.mark.parametrize(
    "message",
    [
        "Add it\n\nagent: dede",  # git takes keys in any case
        "Add it\n\nAGENT: dede",
        "Add it\n\nAgent : dede",
        "Add it\n\nAgent: dede\n\nCo-authored-by: mara <mara@acme.dev>",
        "Pay (#7)\n\n* T001 Pay\n\nAgent: dede\nTask: T001\n\n* T002 Test\n\nAgent: marie\n\n"
        "---------\n\nCo-authored-by: mara <mara@acme.dev>",  # GitHub's own squash
    ],
)
def test_a_signature_is_seen_where_git_and_github_leave_it(message: str) -> None:
    assert is_by_agents(Pull(("k8s/a",), (Commit(HEAD, agents_in(message), ("k8s/a",)),)))


def test_names_that_are_not_utf_8_have_no_owner_in_githubs_words_either() -> None:
    """Two of them become one: the target of only one such link is read."""
    assert parse("/src/ @dede\n").owners("src/l\ufffd").owners == ()


def test_a_copy_does_not_touch_what_was_copied() -> None:
    one = file("src/a.yaml", status="copied", previous_filename="k8s/a.yaml")
    assert names([one]) == ("src/a.yaml",)


def test_a_merge_of_the_base_is_not_held_against_whoever_merged() -> None:
    """GitHub lists a merge against its first parent: all that the base brought is in it."""
    ours, merge = "1" * 40, "2" * 40
    answers = {
        f"/commits/{ours}": {"files": [file("k8s/a.yaml")]},
        f"/commits/{merge}": {"files": [file("k8s/a.yaml"), file("docs/b.md")]},
        f"/git/trees/{merge}": {"tree": []},
    }
    merging = listed(merge, "Merge branch 'main' into 012-x", "mergify[bot]", "Bot")
    merging["parents"] = [{"sha": ours}, {"sha": BASE}]
    commits = [listed(ours, "Scale\n\nAgent: gustave", "kr[bot]", "Bot"), merging]
    files = [file("k8s/a.yaml")]
    pull = asyncio.run(
        read_head(client(answers), BASE, merge, ours=False, files=files, listed=commits)
    )
    assert not pull.complete  # git tells what the merge itself changed


def test_a_retarget_and_the_end_of_a_draft_are_looked_at_by_the_workflow() -> None:
    """Without `types` GitHub runs it on opened, synchronize and reopened alone."""
    read = yaml.safe_load((ROOT / ".github/workflows/baron.yml").read_text("utf-8"))
    types = set((read[True]["pull_request"] or {}).get("types", ()))
    assert {"opened", "synchronize", "reopened", "edited", "ready_for_review"} <= types


def test_a_bots_own_pull_request_is_not_out_of_scope_on_a_runner() -> None:
    """`mode: scope` says that people wrote it; `mode: review` blocks each of its paths."""
    opened = {"login": "github-actions[bot]", "type": "Bot"}
    commits = [listed(HEAD, "Bump", "github-actions[bot]", "Bot")]
    seen = asyncio.run(look(pull_with(opened, commits), WANTED, is_ours, opened=_nobody))
    assert "out of scope" not in seen.summary


# --- checks that never report ------------------------------------------------------------------


def test_a_pull_request_that_cannot_be_decided_still_gets_its_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = list[Any]()
    event = changed(World(), 13)
    monkeypatch.setattr(intake, "read", lambda claimed: event)
    monkeypatch.setattr(outbox, "put", lambda connection, effect: put.append(effect))
    intake.give_up(cast("Any", None), cast("Claimed", SimpleNamespace(guid="d-1")))
    assert [one.name for one in put if isinstance(one, ShowCheck)] == ["baron/scope"]


def test_a_verdict_of_no_feature_can_be_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no feature 0, and what asks for its place raises: it is never dead."""
    event = PullJudged(0, PLACE, HEAD, True, True, 1, Judged())
    monkeypatch.setattr(intake, "read", lambda claimed: event)
    monkeypatch.setattr(outbox, "put", lambda connection, effect: None)
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.execute(
            sqlalchemy.text("CREATE TABLE features (id int, repo_id int, number int)")
        )
        intake.give_up(connection, cast("Claimed", SimpleNamespace(guid="d-1")))


def test_without_drafts_in_a_plan_the_pull_request_is_opened_all_the_same() -> None:
    """Private repositories of the free plan have no drafts: GitHub answers 422."""
    made = {
        "number": 3,
        "node_id": "x",
        "state": "open",
        "head": {"sha": HEAD},
        "base": {"ref": "main"},
    }

    def create(*, json: dict[str, Any]) -> dict[str, Any]:
        if json.get("draft"):
            said = "422 Draft pull requests are not supported in this repository."
            raise GitHubError(said, 422)
        return made

    words = {"head": "012-x", "base": "main", "title": "x", "body": "y"}
    found = asyncio.run(proposals.open_draft(client({"/pulls": create}), **words))
    assert found.number == 3


# --- reviews, money, secrets ---------------------------------------------------------------------

WANTED = ReviewPull("review:70:13", 0, replace(PLACE, number=13), HEAD, model="")
SAID = Finding(
    "model", Severity.IMPORTANT, "It loses money.", "", "src/a.py", 1, "b", by="claude-x"
)


def pull_with(
    user: Mapping[str, str], commits: list[dict[str, Any]], threads: list[Any] | None = None
) -> RepoClient:
    head = commits[-1]["sha"]
    answers = {
        "/pulls/13": {"head": {"sha": head}, "base": {"sha": BASE}, "user": user},
        "/pulls/13/files": [file("src/a.py")],
        "/pulls/13/commits": commits,
        f"/git/trees/{head}": {"tree": []},
    }
    page = {"pageInfo": {"hasNextPage": False, "endCursor": None}, "nodes": threads or []}
    graph = {"repository": {"pullRequest": {"reviewThreads": page}}}
    return client(answers, graph)


class Asked:
    """A model that counts, or that is not there."""

    def __init__(self, there: bool) -> None:
        self.there, self.times = there, 0

    async def review(self, subject: Shown, account: Account = NOBODY) -> ModelReview:
        self.times += 1
        if not self.there:
            raise AgentUnavailable("no model")
        return ModelReview((SAID,), "claude-x")


def ours(written: dict[str, Any]) -> bool:
    return bool((written.get("user") or {}).get("login") == BOT["login"])


def test_threads_of_a_model_stay_open_while_no_model_looks() -> None:
    """Nothing says that the matter is gone; and once resolved it is never said again."""
    first = {
        "body": finding_comment(SAID, key="k"),
        "author": {"login": "kr", "__typename": "Bot"},
    }
    node = {
        "id": "T1",
        "isResolved": False,
        "isOutdated": False,
        "path": "src/a.py",
        "comments": {"nodes": [first]},
    }
    github = pull_with({"login": "mara", "type": "User"}, [listed(HEAD, "Pay")], [node])
    seen = asyncio.run(look(github, WANTED, ours, Model(Asked(False), NOBODY)))
    assert seen.resolve == ()


def test_no_model_is_paid_for_a_commit_that_another_look_is_asked_for() -> None:
    """Whoever pushed since made a look of its own wanted: both would pay for the same head."""
    model = Asked(True)
    newer = listed("c" * 40, "Pay")
    github = pull_with({"login": "mara", "type": "User"}, [newer])
    asyncio.run(look(github, WANTED, ours, Model(model, NOBODY)))
    assert model.times == 0


def test_a_token_with_a_line_break_is_known_as_a_secret_without_it(tmp_path: Path) -> None:
    """httpx shows the header that it refuses, with `\\n` spelt out."""
    event = tmp_path / "event.json"
    user = {"login": "mara", "type": "User"}
    pull = {"number": 1, "user": user, "head": {"sha": HEAD}, "base": {"sha": BASE}}
    repository = {"id": 70, "full_name": "acme/storefront"}
    payload = {"number": 1, "sender": user, "repository": repository, "pull_request": pull}
    event.write_text(json.dumps(payload), "utf-8")
    env = {
        "KR_ACTION_TOKEN": "ghs_secret\n",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
    }
    assert "ghs_secret" in Job.of(env).secrets


def test_a_diff_that_github_cannot_make_is_read_from_git() -> None:
    """It says 422 for ever: the delivery would be tried for ever, and hold all later ones up."""

    def unavailable(**more: Any) -> Any:
        said = "422 Server Error: Sorry, this diff is taking too long to generate."
        raise GitHubError(said, 422)

    answers = {"/pulls/13/files": unavailable, "/pulls/13/commits": [listed(HEAD, "Pay")]}
    event = changed(World(), 13)
    pull = asyncio.run(read_pull(client(answers), event, ours=False))
    assert not pull.complete
