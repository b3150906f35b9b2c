"""The Action's entry point, with a real event's file and a real API beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from action.__main__ import main
from action.output import Verdict, report
from app.actions import Note, ShowCheck
from app.features.model import Place
from tests.flows.test_scope_check import Branch
from tests.recovery.town import REPO, Town


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with Town(tmp_path_factory.mktemp("town")) as town:
        yield town


class Runner:
    """What GitHub gives a job: files and variables."""

    def __init__(self, folder: Path, town: Town, pull: dict[str, Any], **env: str) -> None:
        self.summary, self.output = folder / "summary.md", folder / "output"
        event = folder / "event.json"
        payload = {
            "action": "opened",
            "number": pull["number"],
            "pull_request": pull,
            "repository": town.client.call("GET", f"/repos/{REPO}"),
            "sender": {"login": "mara", "type": "User"},
        }
        event.write_text(json.dumps(payload))
        self.env = {
            "KR_ACTION_MODE": "scope",
            "KR_ACTION_TOKEN": "ghp_mara",
            "GITHUB_API_URL": f"{town.github}/api/v3",
            "GITHUB_REPOSITORY": REPO,
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
            **env,
        }


def test_what_is_out_of_scope_fails_the_job(
    town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    branch = Branch(town, "action-scope")
    branch.write("src/storefront/a.py", "dede")
    branch.write("k8s/a.yaml", "dede")
    runner = Runner(tmp_path, town, branch.propose())
    assert main(runner.env) == 1
    said = capsys.readouterr().out
    assert "::error file=k8s/a.yaml,line=1::it is not in the scope of @dede" in said
    assert "src/storefront/a.py" not in said
    assert runner.summary.read_text().startswith("## baron/scope: 1 of 2 paths outside")
    assert "| `k8s/a.yaml` | `@dede` | `@gustave` |" in runner.summary.read_text()
    assert "conclusion=failure\n" in runner.output.read_text()


def test_a_persons_pull_request_passes(town: Town, tmp_path: Path) -> None:
    branch = Branch(town, "action-people")
    branch.write("k8s/b.yaml")
    runner = Runner(tmp_path, town, branch.propose(), GITHUB_EVENT_NAME="pull_request_target")
    assert main(runner.env) == 0
    assert "conclusion=success\n" in runner.output.read_text()


def test_a_configuration_is_checked_by_line(
    town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    branch = Branch(town, "action-config")
    branch.write(".github/baron.yml", text="baron:\n  questions:\n    limit: many\n")
    pull = branch.propose()
    runner = Runner(tmp_path, town, pull, KR_ACTION_MODE="config")
    assert main(runner.env) == 1
    assert "::error file=.github/baron.yml,line=3::" in capsys.readouterr().out


def test_without_a_configuration_there_is_nothing_to_check(town: Town, tmp_path: Path) -> None:
    branch = Branch(town, "action-nothing")
    branch.write("docs/a.md")
    runner = Runner(tmp_path, town, branch.propose(), KR_ACTION_MODE="config")
    assert main(runner.env) == 0
    assert "Nothing to check here" in runner.output.read_text()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"KR_ACTION_MODE": "fly"}, "mode is 'fly'; take one of: scope, config, review."),
        ({"KR_ACTION_TOKEN": ""}, "There is no token"),
        ({"GITHUB_EVENT_NAME": "push"}, "not on 'push'"),
        ({"GITHUB_EVENT_PATH": "/nowhere"}, "cannot be read"),
    ],
)
def test_wrong_use_says_what_to_change(
    tmp_path: Path, changes: dict[str, str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    event = tmp_path / "event.json"
    event.write_text("{}")
    env = {
        "KR_ACTION_TOKEN": "t",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        **changes,
    }
    assert main(env) == 2
    assert sentence in capsys.readouterr().out


def test_an_event_without_a_pull_request(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    for text in ("[]", "{}", '{"pull_request": 5}'):
        event.write_text(text)
        env = {
            "KR_ACTION_TOKEN": "t",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
        }
        assert main(env) == 2


def test_github_away_is_our_failure(town: Town, tmp_path: Path) -> None:
    branch = Branch(town, "action-away")
    branch.write("docs/b.md")
    runner = Runner(tmp_path, town, branch.propose(), GITHUB_API_URL="http://127.0.0.1:9")
    assert main(runner.env) == 3


def test_nothing_in_a_path_begins_another_workflow_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    note = Note("a,b:c\n::set-output name=x::y", 1, "100%\n::add-mask::k8s")
    place = Place(0, 1, REPO, 1)
    check = ShowCheck("k", None, place, "baron/scope", "c", "failure", "one\ntwo", "", (note,))
    report(Verdict(check), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "baron/scope: one two",
        "::error file=a%2Cb%3Ac%0A%3A%3Aset-output name=x%3A%3Ay,line=1::100%25%0A::add-mask::k8s",
    ]


def test_the_action_describes_itself_and_runs_only_this() -> None:
    action = yaml.safe_load((Path("action") / "action.yml").read_text())
    assert set(action["inputs"]) == {"mode", "token", "comment", "model", "model-key"}
    assert all(
        one["description"] for one in (*action["inputs"].values(), *action["outputs"].values())
    )
    install, run = action["runs"]["steps"]
    assert "${{" not in install["run"] + run["run"]  # what is typed becomes no part of a script
    assert list(install["env"]) == ["KR_ACTION_ROOT"]  # no key is there while packages come in
    assert run["run"].rstrip().endswith("-m action")
    handed = {value for value in run["env"].values() if "inputs." in value}
    assert handed == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
