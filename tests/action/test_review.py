"""The mode `review` on a runner: event's file, summary and outputs are real, GitHub answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from action.__main__ import main
from action.output import Verdict, report
from app.actions import Note, ShowCheck
from app.features.model import Place
from tests.action.conftest import Forge, runner
from tests.agents.scripted import ScriptedModel, fails, gives
from tests.playground.conftest import REPO

KEY = "sk-ant-a-key-of-the-tests-that-nobody-may-see"
MERGING = "def pay():\n<<<<<<< HEAD\n    return 1\n=======\n    return 2\n>>>>>>> other\n"
TEST = "def test_pay():\n    assert pay() == 1\n"
FILES = {"src/storefront/pay.py": MERGING, "tests/test_pay.py": TEST}
MENDED = "def pay():\n    return 1\n"
Said = pytest.CaptureFixture[str]


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "path": "src/storefront/pay.py",
        "line": 2,
        "severity": "important",
        "message": "It always pays one.",
        "reason": "Customers pay what they owe.",
        "suggestion": None,
        "quote": "return 1",
        **changes,
    }


def threads(forge: Forge, number: int) -> list[bool]:
    """Whether each thread is resolved."""
    query = """query($owner: String!, $name: String!, $number: Int!) {
      repository(owner: $owner, name: $name) { pullRequest(number: $number) {
        reviewThreads(first: 100) { nodes { isResolved } }
      } }
    }"""
    variables = {"owner": "acme", "name": "storefront", "number": number}
    answer = forge.running.call(
        "POST", "/graphql", forge.token, json={"query": query, "variables": variables}
    )
    found = answer.json()["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]
    return [one["isResolved"] for one in found]


def test_what_is_found_stands_on_its_line_and_fails_the_job(
    forge: Forge, tmp_path: Path, capsys: Said
) -> None:
    number = forge.propose(forge.branch("merging", FILES))
    job = runner(forge, tmp_path, number)
    assert main(job.env) == 1
    assert (
        "::error file=src/storefront/pay.py,line=2::A marker of a merge" in capsys.readouterr().out
    )
    assert job.summary.startswith("## baron/review: @degaulle found 1 thing, which blocks")
    title = "@degaulle found 1 thing, which blocks"
    assert job.output == {"conclusion": "failure", "title": title, "found": "1"}
    (review,) = forge.reviews(number)
    assert (review["state"], review["user"]["login"]) == ("COMMENTED", "github-actions[bot]")
    (comment,) = forge.comments(number)
    assert (comment["path"], comment["line"]) == ("src/storefront/pay.py", 2)


def test_a_second_run_says_nothing_again_and_a_mended_line_resolves_its_thread(
    forge: Forge, tmp_path: Path
) -> None:
    branch = forge.branch("again", FILES)
    number = forge.propose(branch)
    for _ in range(2):
        assert main(runner(forge, tmp_path, number).env) == 1
    forge.write(branch, "docs/more.md", "More.\n")
    assert main(runner(forge, tmp_path, number).env) == 1
    assert (len(forge.reviews(number)), threads(forge, number)) == (1, [False])

    forge.write(branch, "src/storefront/pay.py", MENDED)
    job = runner(forge, tmp_path, number)
    assert main(job.env) == 0
    assert job.output["conclusion"] == "success"
    assert (len(forge.reviews(number)), threads(forge, number)) == (1, [True])


def test_a_stranger_s_marker_is_not_ours(forge: Forge, tmp_path: Path) -> None:
    number = forge.propose(forge.branch("forged", FILES))
    main(runner(forge, tmp_path, number).env)
    (said,) = forge.comments(number)
    other = forge.propose(forge.branch("forged-too", FILES))
    head = forge.call("GET", f"/pulls/{other}")["head"]["sha"]
    copy = {"path": said["path"], "line": 2, "body": said["body"], "commit_id": head}
    forge.call("POST", f"/pulls/{other}/comments", copy)
    main(runner(forge, tmp_path, other).env)
    authors = [one["user"]["login"] for one in forge.comments(other)]
    assert authors == ["mara", "github-actions[bot]"]


def test_from_a_fork_the_findings_stand_in_the_job_alone(
    forge: Forge, tmp_path: Path, capsys: Said
) -> None:
    number = forge.propose(forge.branch("fork", {**FILES, "src/storefront/pay.py": MENDED}))
    forge.gate.no_reviews = True
    with ScriptedModel(gives({"findings": [finding()]})) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        job = runner(forge, tmp_path, number, **env)
        assert main(job.env) == 0  # nothing blocks, and a token that may only read is no failure
    said = capsys.readouterr().out
    assert "::warning::Nothing was written on the pull request: the token may not." in said
    assert "::warning file=src/storefront/pay.py,line=2::It always pays one." in said
    assert "> Nothing was written on the pull request" in job.summary
    assert (forge.reviews(number), forge.comments(number)) == ([], [])


def test_a_token_that_may_not_resolve_writes_all_the_same(
    forge: Forge, tmp_path: Path, capsys: Said
) -> None:
    branch = forge.branch("open", FILES)
    number = forge.propose(branch)
    main(runner(forge, tmp_path, number).env)
    forge.gate.no_resolving = True
    forge.write(branch, "src/storefront/pay.py", MENDED)
    forge.write(branch, "src/storefront/tax.py", MERGING)
    assert main(runner(forge, tmp_path, number).env) == 1
    assert "GitHub wants `contents: write`" in capsys.readouterr().out
    assert (len(forge.reviews(number)), threads(forge, number)) == (2, [False, False])


def test_a_limit_of_github_s_is_our_failure_and_the_findings_stand(
    forge: Forge, tmp_path: Path
) -> None:
    number = forge.propose(
        forge.branch("limit", {"docs/a.md": "a\n", "src/storefront/b.py": "b()\n"})
    )
    forge.running.client.faults(
        match={"method": "POST", "path": "/reviews$"}, kind="403-secondary", seconds=1
    )
    with ScriptedModel(
        gives({"findings": [finding(path="docs/a.md", line=1, quote="a")]})
    ) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        job = runner(forge, tmp_path, number, **env)
        assert main(job.env) == 3
    assert "GitHub did not take the comments" in job.summary
    assert job.output["conclusion"] == "success"


def test_without_comments_nothing_is_written(forge: Forge, tmp_path: Path) -> None:
    number = forge.propose(forge.branch("quiet", FILES))
    job = runner(forge, tmp_path, number, KR_ACTION_COMMENT="false")
    assert main(job.env) == 1
    assert (forge.reviews(number), job.output["found"]) == ([], "1")


def test_the_model_looks_beside_the_rules_and_its_key_is_seen_by_nobody(
    forge: Forge, tmp_path: Path, capsys: Said
) -> None:
    number = forge.propose(forge.branch("model", FILES))
    said = finding(line=3, message=f"It pays one. {KEY}")
    with ScriptedModel(gives({"findings": [said]})) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "KR_ACTION_MODEL": "claude-opus-5-5"}
        job = runner(forge, tmp_path, number, KR_ACTION_MODEL_KEY=KEY, **env)
        assert main(job.env) == 1
        (asked,) = model.requests
    assert (asked.headers["x-api-key"], asked.body["model"]) == (KEY, "claude-opus-5-5")
    assert job.output["found"] == "2"
    lines = [(one["line"], "claude-opus-5-5" in one["body"]) for one in forge.comments(number)]
    assert lines == [(2, False), (3, True)]
    written = [capsys.readouterr().out, job.summary, json.dumps(forge.comments(number))]
    assert not [text for text in written if KEY in text or forge.token in text]


def test_a_model_that_fails_leaves_the_rules_and_hides_its_key(
    forge: Forge, tmp_path: Path, capsys: Said
) -> None:
    number = forge.propose(forge.branch("refused", FILES))
    with ScriptedModel(fails(401, f"invalid x-api-key {KEY}")) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        job = runner(forge, tmp_path, number, **env)
        assert main(job.env) == 1
    assert "The rules looked alone" in job.summary
    assert KEY not in job.summary + capsys.readouterr().out


@pytest.mark.parametrize("kept_out", [True, False])
def test_a_draft_or_a_repository_that_wants_no_model_asks_none(
    forge: Forge, tmp_path: Path, kept_out: bool
) -> None:
    if kept_out:
        layer = "agents:\n  roles:\n    reviewer:\n      backend: none\n"
        forge.write("main", ".github/baron.yml", layer)
    number = forge.propose(forge.branch("alone", FILES), draft=not kept_out)
    with ScriptedModel(gives({"findings": [finding()]})) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        job = runner(forge, tmp_path, number, **env)
        assert main(job.env) == 1
        assert model.requests == []
    assert job.output["found"] == "1"


@pytest.mark.parametrize(("layer", "lines"), [("findings: 0", 0), ("findings: many", 1)])
def test_the_base_branch_says_how_many_lines_if_it_is_valid(
    forge: Forge, tmp_path: Path, layer: str, lines: int
) -> None:
    forge.write("main", ".github/baron.yml", f"baron:\n  review:\n    {layer}\n")
    number = forge.propose(forge.branch("layer", FILES))
    assert main(runner(forge, tmp_path, number).env) == 1
    assert len(forge.comments(number)) == lines


def test_what_a_change_says_gives_the_runner_no_command(
    forge: Forge, tmp_path: Path, capsys: Said
) -> None:
    path = "src/storefront/a,b::error::x%0A.py"
    text = "pay()  # ::add-mask::pay\n"
    branch = forge.branch("hostile", {})
    forge.write(branch, "src/storefront/a,b::error::x%250A.py", text)
    number = forge.propose(branch)
    files = forge.call("GET", f"/pulls/{number}/files")
    assert [one["filename"] for one in files] == [path]
    said = finding(
        path=path,
        line=1,
        quote=text.strip(),
        message="Bad\n::error::pwned\r\n##[add-mask]pay",
        reason="100%0A::set-output name=conclusion::success <img src=x>",
    )
    with ScriptedModel(gives({"findings": [said]})) as model:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
        job = runner(forge, tmp_path, number, **env)
        assert main(job.env) == 0
    lines = capsys.readouterr().out.splitlines()
    start = (
        "::warning file=src/storefront/a%2Cb%3A%3Aerror%3A%3Ax%250A.py,line=1::Bad ::error::pwned"
    )
    assert any(line.startswith(start) for line in lines)
    assert all(line.startswith(("::warning file=", "baron/review: ")) for line in lines)
    assert "100%250A" in next(line for line in lines if "set-output" in line)
    assert "<img" not in job.summary
    assert job.output.keys() == {"conclusion", "title", "found"}


@given(path=st.text(max_size=40), message=st.text(max_size=80))
def test_an_annotation_is_one_line_whatever_it_says(path: str, message: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("builtins.print", lines.append)
        note = Note(path, 3, message)
        check = ShowCheck(
            "k", None, Place(0, 1, REPO, 1), "baron/review", "c", "failure",
            f"##[error]{message}", "", (note,),
        )  # fmt: skip
        report(Verdict(check, 1), {})
    first, annotation = lines
    assert first.startswith("baron/review: ")
    assert "##[" not in first
    head, _, told = annotation.removeprefix("::error file=").partition(",line=3::")
    assert not {"\n", "\r"} & set(annotation)
    assert not {":", ","} & set(head)
    assert "\n" not in told


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"KR_ACTION_MODEL_KEY": KEY}, "Say with the input `model` whose key `model-key` is"),
        ({"KR_ACTION_MODEL_KEY": KEY, "KR_ACTION_MODEL": "qwen3:8b"}, "whose key `model-key` is"),
        ({"KR_ACTION_COMMENT": "perhaps"}, "comment is neither `true` nor `false`."),
    ],
)
def test_wrong_inputs_say_what_to_change(
    forge: Forge, tmp_path: Path, changes: dict[str, str], sentence: str, capsys: Said
) -> None:
    number = forge.propose(forge.branch("wrong", FILES))
    assert main(runner(forge, tmp_path, number, **changes).env) == 2
    said = capsys.readouterr().out
    assert sentence in said
    assert KEY not in said


def test_a_pull_request_that_github_does_not_list_whole_is_not_let_through(
    forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = forge.propose(forge.branch("large", FILES))
    monkeypatch.setattr("app.github.pulls.MOST_FILES", 2)
    job = runner(forge, tmp_path, number, KR_ACTION_MODE="scope")
    assert main(job.env) == 1
    assert job.output["conclusion"] == "failure"
