"""`kr scope explain` and `kr scope check`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.cli import main

RULES = b"* @mara\r\n/src/ @dede @mara # code\r\n/src/private/\r\n"


@pytest.fixture
def rules(tmp_path: Path) -> str:
    file = tmp_path / "AGENT_SCOPES"
    file.write_bytes(RULES)
    return str(file)


def files(tmp_path: Path, data: bytes) -> str:
    file = tmp_path / "paths.txt"
    file.write_bytes(data)
    return str(file)


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_explain(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = files(tmp_path, "src/ä.py\nsrc/private/key\n\n/etc/passwd\nREADME.md\n".encode())
    assert main(["scope", "explain", "--scopes", rules, "--files", paths, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"path": "src/ä.py", "owners": ["@dede", "@mara"], "line": 2},
        {"path": "src/private/key", "owners": [], "line": 3},
        {"path": "/etc/passwd", "owners": [], "line": None},
        {"path": "README.md", "owners": ["@mara"], "line": 1},
    ]
    assert main(["scope", "explain", "--scopes", rules, "--files", paths]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "src/ä.py: @dede @mara (line 2)"
    assert shown[2] == "/etc/passwd: nobody (no line matches)"


def test_check(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["scope", "check", "--scopes", rules, "--agent", "@Dede", "--json", "--files"]
    assert main([*words, files(tmp_path, b"src/a\nsrc/b")]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "violations": []}
    assert main([*words, files(tmp_path, b"src/a\nsrc/private/b\nREADME.md\n")]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "ok": False,
        "violations": [
            {"path": "src/private/b", "owners": [], "line": 3},
            {"path": "README.md", "owners": ["@mara"], "line": 1},
        ],
    }


def test_check_for_people(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["scope", "check", "--scopes", rules, "--agent", "@mara", "--files"]
    assert main([*words, files(tmp_path, b"src/a")]) == 0
    assert "@mara may write all" in capsys.readouterr().out
    assert main([*words, files(tmp_path, b".github/AGENT_SCOPES\n../x\x1b[2J\n")]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("@mara may not write .github/AGENT_SCOPES: @mara (line 1; guarded")
    assert "\x1b" not in second


def test_standard_input(
    rules: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin(monkeypatch, b"\xef\xbb\xbfsrc/a\r\nsrc/b\r\n")
    assert main(["scope", "check", "--scopes", rules, "--agent", "@dede", "--files", "-"]) == 0
    stdin(monkeypatch, b"src/*.py @dede")
    assert main(["scope", "explain", "--scopes", "-", "--files", rules, "--json"]) == 0
    stdin(monkeypatch, b"")
    assert main(["scope", "check", "--scopes", "-", "--agent", "@dede", "--files", "-"]) == 2
    assert "only one" in capsys.readouterr().err


def test_a_carriage_return_may_be_part_of_a_name(
    rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = files(tmp_path, b"src/a\r\nsrc/b\n")
    assert main(["scope", "explain", "--scopes", rules, "--files", paths, "--json"]) == 0
    assert [one["path"] for one in json.loads(capsys.readouterr().out)] == ["src/a\r", "src/b"]


def test_no_paths_are_fine(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = files(tmp_path, b"\n")
    assert main(["scope", "check", "--scopes", rules, "--agent", "@dede", "--files", paths]) == 0
    assert main(["scope", "explain", "--scopes", rules, "--files", paths, "--json"]) == 0
    assert capsys.readouterr().out.endswith("[]\n")


def test_a_flaw_is_a_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, paths = tmp_path / "rules", files(tmp_path, b"src/a\n")
    rules.write_text("/src/ @dede\n!/src/x @dede\n")
    words = ["--scopes", str(rules), "--files", paths]
    assert main(["scope", "check", "--agent", "@dede", *words, "--json"]) == 1
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert document["ok"] is False
    assert document["violations"] == [{"path": "src/a", "owners": [], "line": None}]
    assert [error["line"] for error in document["errors"]] == [2]
    assert '"!"' in document["errors"][0]["reason"]
    assert "line 2: " in shown.err
    assert main(["scope", "explain", *words, "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out) == [{"path": "src/a", "owners": [], "line": None}]
    assert "line 2: " in shown.err
    assert main(["scope", "explain", *words]) == 1
    assert capsys.readouterr().out == ""


def test_a_flaw_is_a_no_even_without_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules"
    rules.write_text("[a] @dede\n")
    paths = files(tmp_path, b"")
    words = ["--scopes", str(rules), "--agent", "@dede", "--files", paths]
    assert main(["scope", "check", *words]) == 1
    assert "line 1: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["scope"],
        ["scope", "nonsense"],
        ["scope", "explain", "--scopes", "RULES"],
        ["scope", "check", "--scopes", "RULES", "--files", "RULES"],
        ["scope", "check", "--scopes", "RULES", "--files", "RULES", "--agent", "@"],
        ["scope", "explain", "--scopes", "RULES", "--files", "no-such-file"],
        ["scope", "explain", "--scopes", "no-such-file", "--files", "RULES"],
        ["scope", "explain", "--scopes", "RULES", "--files", "BINARY"],
    ],
)
def test_wrong_use_is_2(
    words: list[str], rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = {"RULES": rules, "BINARY": files(tmp_path, b"src/\xff")}
    assert main([real.get(word, word) for word in words]) == 2
    assert capsys.readouterr().err
