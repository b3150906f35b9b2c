"""`kr`: exit codes, JSON, and errors that say what to do."""

from __future__ import annotations

import argparse
import io
import json
import os
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest

from app import __version__, cli
from app.cli_commands import CommandError, doctor, load_settings, read_text, running

KEYS = {"name", "ok", "detail", "remedy"}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("KR_") and name != "KR_REQUIRE_ALL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("KR_DATA_DIR", str(tmp_path / "kr"))
    monkeypatch.setenv("KR_GITHUB_API_URL", "http://127.0.0.1:9")  # nobody's GitHub is asked


def command(monkeypatch: pytest.MonkeyPatch, run: object) -> None:
    """Make `kr probe [FILE]` do this."""
    module = ModuleType("probe_command")
    module.add_arguments = lambda parser: parser.add_argument("file", nargs="?")  # type: ignore[attr-defined]
    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "probe_command", module)
    monkeypatch.setitem(cli.COMMANDS, "probe", ("probe_command", "probe"))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["version"]) == 0
    assert capsys.readouterr().out == f"knowledge-router {__version__}\n"
    assert cli.main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == __version__


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["version", "--nonsense"], ["version", "x"]])
def test_wrong_use_is_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 2
    assert "usage: kr" in capsys.readouterr().err


def test_help_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in cli.COMMANDS)


def test_json_may_stand_anywhere_but_behind_two_dashes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[argparse.Namespace] = []
    command(monkeypatch, lambda args: seen.append(args) or 0)
    for words in (["--json", "probe", "a"], ["probe", "--json", "a"], ["probe", "a", "--json"]):
        assert cli.main(words) == 0
    assert cli.main(["probe", "--", "--json"]) == 0
    assert [(a.json, a.file) for a in seen] == [(True, "a")] * 3 + [(False, "--json")]


def test_the_answer_no_is_1(monkeypatch: pytest.MonkeyPatch) -> None:
    command(monkeypatch, lambda args: 1)
    assert cli.main(["probe"]) == 1


def test_a_file_that_cannot_be_read_is_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = str(tmp_path / "missing")
    for read in (lambda args: read_text(args.file), lambda args: Path(args.file).read_text()):
        command(monkeypatch, read)
        assert cli.main(["probe", missing]) == 2
        assert capsys.readouterr().err == f"kr: cannot read {missing}: No such file or directory\n"


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("ü".encode())))
    assert read_text("-") == "ü"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(CommandError, match="UTF-8") as error:
        read_text("-")
    assert error.value.exit_code == 2


def test_our_own_failure_is_3_and_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: argparse.Namespace) -> int:
        raise RuntimeError("first line\nsecond line")

    command(monkeypatch, fail)
    assert cli.main(["probe"]) == 3
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "RuntimeError: first line" in shown
    assert "KR_LOG_LEVEL=debug" in shown
    monkeypatch.setenv("KR_LOG_LEVEL", "debug")
    assert cli.main(["probe"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_absent_command_is_said_to_be_absent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "later", ("app.cli_commands.not_there", "later"))
    assert cli.main(["later"]) == 3
    assert capsys.readouterr().err == "kr: `kr later` is not part of this version.\n"


def test_wrong_settings_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KR_PORT", "many")
    assert cli.main(["up"]) == 2
    assert "KR_PORT" in capsys.readouterr().err


def test_a_taken_port_is_said_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setenv("KR_PORT", str(other.getsockname()[1]))
        assert cli.main(["up"]) == 3
    assert "set KR_PORT" in capsys.readouterr().err
    assert not (tmp_path / "kr").exists()


def test_children_get_addresses_by_environment(tmp_path: Path) -> None:
    env = running.child_environment(load_settings(), "postgresql://db", "redis://bell")
    assert env["KR_DATABASE_URL"] == "postgresql://db"
    assert env["KR_REDIS_URL"] == "redis://bell"
    assert env["KR_DATA_DIR"] == str(tmp_path / "kr")


def test_doctor_without_anything(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["doctor", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"ok", "checks"}
    assert report["ok"] is False
    assert all(set(check) == KEYS for check in report["checks"])
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["settings"]["ok"]
    for name in ("private_key", "webhook_secret", "database", "redis", "workers", "timer"):
        assert not checks[name]["ok"]
        assert checks[name]["remedy"]
    assert not (tmp_path / "kr").exists()


def test_doctor_with_wrong_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KR_SANDBOX", "castle")
    (check,) = doctor.examine()
    assert (check.name, check.ok) == ("settings", False)
    assert "KR_SANDBOX" in check.detail


def test_doctor_reads_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from app.cli_commands.demo_setup import make_keys

    keys = make_keys(tmp_path)
    monkeypatch.setenv("KR_GITHUB_APP_ID", "1")
    monkeypatch.setenv("KR_GITHUB_WEBHOOK_SECRET", keys.webhook_secret.read_text())
    for path, ok in ((keys.private, True), (keys.public, False), (tmp_path / "none", False)):
        monkeypatch.setenv("KR_GITHUB_PRIVATE_KEY_PATH", str(path))
        checks = {check.name: check for check in doctor.examine()}
        assert checks["private_key"].ok is ok
        assert checks["webhook_secret"].ok


@pytest.mark.parametrize("command", ["up", "serve", "worker"])
def test_nothing_starts_on_a_bad_configuration(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    configs = tmp_path / "configs"
    configs.mkdir()
    text = "routes:\n  - {pattern: a, answerer: human/mara, sla: banana}\n"
    (configs / "answerers.yaml").write_text(text)
    monkeypatch.setenv("KR_CONFIG_DIR", str(configs))
    monkeypatch.setenv("KR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("KR_PORT", "0")
    assert cli.main([command]) == 2
    said = capsys.readouterr().err
    assert "answerers.yaml:2: routes[0].sla" in said
    assert not (tmp_path / "data").exists()
