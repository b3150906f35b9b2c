"""`kr doctor` on execution: who does tasks, behind which walls, and what holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.cli_commands import doctor_execution
from tests.cli.test_doctor_agents import configured
from tests.playground.conftest import REPO, Running, _served, playground

__all__ = ["_served", "playground"]
Said = pytest.CaptureFixture[str]
PROGRAM = {"backend": "command", "command": ["/bin/true"]}


@pytest.fixture(autouse=True)
def _no_app(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KR_GITHUB_APP_ID", "KR_GITHUB_PRIVATE_KEY", "KR_GITHUB_PRIVATE_KEY_PATH"):
        monkeypatch.delenv(name, raising=False)


def checks(capsys: Said) -> dict[str, dict[str, Any]]:
    main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)["checks"]
    assert all(set(one) == {"name", "ok", "detail", "remedy"} for one in found)
    assert all(one["remedy"] for one in found if not one["ok"])
    return {one["name"]: one for one in found}


def walls(monkeypatch: pytest.MonkeyPatch, wanted: str, here: Iterable[str]) -> None:
    monkeypatch.setenv("KR_SANDBOX", wanted)
    monkeypatch.setattr(doctor_execution, "walls_here", lambda: frozenset(here))


def connected(playground: Running, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = folder / "app.pem"
    key.write_text(playground.private_key)
    monkeypatch.setenv("KR_GITHUB_API_URL", playground.api)
    monkeypatch.setenv("KR_GITHUB_APP_ID", "1")
    monkeypatch.setenv("KR_GITHUB_PRIVATE_KEY_PATH", str(key))


def test_without_a_backend_people_are_offered_the_tasks(capsys: Said) -> None:
    found = checks(capsys)
    said = {name: one["detail"] for name, one in found.items() if name.startswith("execution_")}
    assert said == {
        "execution_qa": "@marie: none, its tasks are offered to people",
        "execution_developer": "@dede: none, its tasks are offered to people",
        "execution_devops": "@gustave: none, its tasks are offered to people",
        "execution_reviewer": "@degaulle: rules review pull requests alone",
    }
    assert all(found[name]["ok"] for name in said)


@pytest.mark.parametrize(
    ("role", "ok", "detail", "remedy"),
    [
        (PROGRAM, True, "@dede: command carries its tasks out here", ""),
        ({"backend": "command", "command": ["/no/such/it"]}, False, "no program /no/such/it",
         "`command` in agents.yaml"),
        ({"backend": "command"}, False, "no `command` is set", "command: [/path/to/program]"),
        ({"backend": "claude"}, False, "neither ANTHROPIC_API_KEY nor", "claude setup-token"),
        ({"backend": "llm", "model": "gpt-5"}, False, "OPENAI_API_KEY is not set", "Set OPENAI"),
        ({"backend": "retrieval"}, False, "cannot carry tasks out", "`backend: claude`"),
    ],
)  # fmt: skip
def test_each_role_says_whether_it_can_and_what_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Said,
    role: dict[str, Any],
    ok: bool,
    detail: str,
    remedy: str,
) -> None:
    monkeypatch.setattr("app.agents.choosing.find_claude", lambda: Path("/bin/true"))
    configured(tmp_path, monkeypatch, {"developer": role})
    found = checks(capsys)["execution_developer"]
    assert found["ok"] is ok
    assert detail in found["detail"]
    assert remedy in found["remedy"]


def test_the_reviewer_says_what_looks_beside_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    configured(tmp_path, monkeypatch, {"reviewer": PROGRAM})
    detail = checks(capsys)["execution_reviewer"]["detail"]
    assert detail == "@degaulle: rules review pull requests, command beside them"


@pytest.mark.parametrize(
    ("wanted", "here", "told"),
    [
        ("strict", ("bwrap", "landlock"), "bubblewrap works, Landlock works; open: nothing"),
        ("landlock", ("landlock",), "bubblewrap does not work here, Landlock works; open: a run"),
        ("bwrap", ("bwrap", "landlock"), "open: a mistake in the mounts of bubblewrap"),
        ("none", (), "a run can read and write everything that the service can"),
        ("strict", (), "no role carries tasks out here, so no wall is missed"),
    ],
)
def test_walls_that_are_enough_and_what_is_open(
    monkeypatch: pytest.MonkeyPatch, capsys: Said, wanted: str, here: tuple[str, ...], told: str
) -> None:
    walls(monkeypatch, wanted, here)
    found = checks(capsys)["sandbox"]
    assert (found["ok"], found["remedy"]) == (True, "")
    assert found["detail"].startswith(f"KR_SANDBOX={wanted}; ")
    assert told in found["detail"]


@pytest.mark.parametrize(
    ("wanted", "here", "instead", "remedy"),
    [
        ("strict", ("landlock",), "with KR_SANDBOX=landlock would be open: a run can change modes",
         "Or set KR_SANDBOX=landlock"),
        ("landlock", ("bwrap",), "with KR_SANDBOX=bwrap would be open: a mistake", "Linux 5.13"),
        ("bwrap", (), "with KR_SANDBOX=none would be open: a run can read and write everything",
         "install the package bubblewrap"),
    ],
)  # fmt: skip
def test_missing_walls_fail_where_something_carries_tasks_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Said,
    wanted: str,
    here: tuple[str, ...],
    instead: str,
    remedy: str,
) -> None:
    configured(tmp_path, monkeypatch, {"developer": PROGRAM})
    walls(monkeypatch, wanted, here)
    found = checks(capsys)["sandbox"]
    assert not found["ok"]
    assert instead in found["detail"]
    assert found["remedy"].startswith(f"no task is carried out with KR_SANDBOX={wanted}: ")
    assert remedy in found["remedy"]


def test_without_an_app_nothing_is_asked(capsys: Said) -> None:
    found = checks(capsys)["scope_required"]
    assert (found["ok"], found["detail"]) == (True, "cannot be seen without the App's key")


def test_a_check_that_nobody_requires_only_warns(
    playground: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    connected(playground, tmp_path, monkeypatch)
    found = checks(capsys)["scope_required"]
    told = f"not required on {REPO}: it warns, but blocks nobody"
    assert (found["ok"], found["detail"], found["remedy"]) == (True, told, "")

    configured(tmp_path / "configs", monkeypatch, {"developer": PROGRAM})
    found = checks(capsys)["scope_required"]
    assert not found["ok"]
    assert found["detail"].startswith(told)
    assert "Settings → Rules → Rulesets" in found["remedy"]
    assert "`baron/scope`" in found["remedy"]


def test_a_check_that_is_required(
    playground: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    connected(playground, tmp_path, monkeypatch)
    configured(tmp_path / "configs", monkeypatch, {"developer": PROGRAM})
    playground.client.require_checks(REPO, "main", ["ci", "baron/scope"])
    playground.client.control("POST", "repos", {"full_name": "acme/second"})
    playground.client.require_checks("acme/second", "main", ["baron/scope"], "classic")
    found = checks(capsys)["scope_required"]
    assert (found["ok"], found["detail"]) == (True, f"required on {REPO}, acme/second")


def test_rules_that_are_not_shown_are_no_fault(
    playground: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    async def hidden(client: object, branch: str) -> None:
        return None

    connected(playground, tmp_path, monkeypatch)
    configured(tmp_path / "configs", monkeypatch, {"developer": PROGRAM})
    monkeypatch.setattr(doctor_execution, "required_checks", hidden)
    found = checks(capsys)["scope_required"]
    assert (found["ok"], found["detail"]) == (True, f"cannot be seen on {REPO}")


def test_no_more_than_twenty_repositories_are_asked(
    playground: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    connected(playground, tmp_path, monkeypatch)
    monkeypatch.setattr(doctor_execution, "MOST", 1)
    playground.client.control("POST", "repos", {"full_name": "acme/second"})
    detail = checks(capsys)["scope_required"]["detail"]
    assert "acme/second" not in detail
    assert detail.endswith("only the first 1 repositories were looked at")


def test_github_away_is_told(
    playground: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    connected(playground, tmp_path, monkeypatch)
    monkeypatch.setenv("KR_GITHUB_API_URL", "http://127.0.0.1:9")
    found = checks(capsys)["scope_required"]
    assert not found["ok"]
    assert "KR_GITHUB_API_URL" in found["remedy"]


def test_a_configuration_that_is_wrong_is_one_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    configured(tmp_path, monkeypatch, {"developer": {"backend": "magic"}})
    found = checks(capsys)
    assert not found["execution"]["ok"]
    assert "kr config check" in found["execution"]["remedy"]
