"""`kr route` and `kr config check`, as they are typed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from app.cli_commands import CommandError
from app.cli_commands import config as config_command
from app.cli_commands import route as route_command
from app.config.shipped import config_folder, shipped_folder
from app.settings import Settings


def run(command: Any, *words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    code: int = command.run(parser.parse_args(words))
    return code


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without any configuration, and no settings."""
    monkeypatch.delenv("KR_CONFIG_DIR", raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "answerers.yaml").write_text(text)
    return folder


def test_route_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(route_command, "Security.Tokens", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "topic": "security.tokens",
        "answerer": "agent/security-reviewer",
        "agent": "@duc",
        "rule": "security.**",
        "threshold": 90,
        "sla": "30m",
        "override": False,
        "note": None,
    }


def test_route_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(route_command, "budget", "--target", "architect") == 0
    assert capsys.readouterr().out == (
        "budget → human/requester\n"
        "  by the override budget.**\n"
        "  accepted from a confidence of 80\n"
        "  within 24h\n"
        "  then human/maintainer\n"
    )
    assert run(route_command, "somewhere", "--target", "nobody") == 0
    assert capsys.readouterr().out.endswith("  note: unknown target\n")
    assert run(route_command, "somewhere", "--target", "@duc") == 0
    assert capsys.readouterr().out.startswith("somewhere → agent/architect (@duc)\n  by target\n")


def test_route_with_the_configuration_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "default: {answerer: human/a, escalate_to: [{answerer: human/b, sla: 2d}]}"
    monkeypatch.setenv("KR_CONFIG_DIR", str(write(tmp_path / "c", text)))
    assert run(route_command, "x") == 0
    assert "then human/b within 2d" in capsys.readouterr().out


def test_route_does_not_guess_with_an_invalid_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KR_CONFIG_DIR", str(write(tmp_path / "c", "version: 3\nx: 1")))
    assert run(route_command, "x") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(": ")[0] for line in err.splitlines()] == [
        "answerers.yaml:1",
        "answerers.yaml:2",
    ]


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KR_CONFIG_DIR", str(tmp_path / "nowhere"))
    for command, words in ((route_command, ["x"]), (config_command, ["check"])):
        with pytest.raises(CommandError, match=r"cannot read .*nowhere") as caught:
            run(command, *words)
        assert caught.value.exit_code == 2


def test_check_of_a_valid_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(config_command, "check", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "errors": [], "warnings": []}
    assert run(config_command, "check") == 0
    assert capsys.readouterr().out == f"{shipped_folder()}: valid\n"


def test_check_tells_errors_and_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = write(tmp_path / "bad", "version: '1'\nversoin: 1\n")
    assert run(config_command, "check", str(bad), "--json") == 1
    assert json.loads(capsys.readouterr().out) == {
        "ok": False,
        "errors": [
            {
                "file": "answerers.yaml",
                "line": 2,
                "where": "versoin",
                "what": 'unknown key (did you mean "version"?)',
            }
        ],
        "warnings": [],
    }
    assert run(config_command, "check", str(bad)) == 1
    assert capsys.readouterr().out == (
        f'answerers.yaml:2: versoin: unknown key (did you mean "version"?)\n{bad}: invalid\n'
    )
    odd = write(tmp_path / "odd", "default: {answerer: human/a, notify: slack://x}")
    assert run(config_command, "check", str(odd), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == 1
    assert run(config_command, "check", str(odd)) == 0
    assert "(warning)\n" in capsys.readouterr().out


def test_which_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config_folder(Settings()) == shipped_folder()
    (Path.cwd() / "configs").mkdir()
    assert config_folder(Settings()) == shipped_folder()
    write(Path.cwd() / "configs", "")
    assert config_folder(Settings()) == Path("configs")
    monkeypatch.setenv("KR_CONFIG_DIR", str(tmp_path))
    assert config_folder(Settings()) == tmp_path
