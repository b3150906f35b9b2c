"""`kr parse comment` and `kr parse gaps`."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import pytest

from app.cli_commands import parse


def call(*words: str) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parse.add_arguments(parser)
    return parse.run(parser.parse_args(words))


def document(capsysbinary: pytest.CaptureFixture[bytes]) -> Any:
    return json.loads(capsysbinary.readouterr().out.decode())


def test_comment(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "c.md"
    file.write_bytes("\ufeff/confirm q3 merci à tous\r\n/assign T1 @ann\r\n".encode() + b"\xff")
    assert call("comment", str(file), "--json") == 0
    assert document(capsysbinary) == {
        "commands": [
            {"name": "confirm", "question": "Q3", "text": "merci à tous"},
            {"name": "assign", "question": None, "text": "", "task": "T001", "person": "@ann"},
        ],
        "errors": [],
    }


@pytest.mark.parametrize("words", [("--json", "comment"), ("comment", "--json")])
def test_errors_are_a_no(
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"\n/confirm 3\n"))
    monkeypatch.setattr("sys.stdin", stdin)
    assert call(*words, "-") == 1
    read = document(capsysbinary)
    assert read["commands"] == []
    assert read["errors"][0]["line"] == 2


def test_gaps(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "g.md"
    file.write_text("a\n<gap><topic>x.y</topic><question>Ü?</question></gap>\nb\n<gap>\n")
    assert call("gaps", str(file), "--json") == 1
    read = document(capsysbinary)
    gap = {"topic": "x.y", "question": "Ü?", "context": "", "urgency": "normal", "line": 2}
    assert read["gaps"] == [gap]
    assert read["text"] == "a\nb\n<gap>\n"
    assert [set(error) for error in read["errors"]] == [{"line", "reason"}]


def test_for_people(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "c.md"
    file.write_text("/confirm Q3\n/corect\n")
    assert call("comment", str(file)) == 1
    shown = capsysbinary.readouterr().out.decode()
    assert "/confirm question='Q3'" in shown
    assert "line 2: " in shown
    assert call("gaps", str(file)) == 0
    assert capsysbinary.readouterr().out == b"no gaps\n"


def test_no_such_file(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert call("comment", str(tmp_path / "none")) == 2
    assert call("comment", "\0") == 2
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    assert b"No such file" in captured.err


def test_wrong_use() -> None:
    with pytest.raises(SystemExit) as stopped:
        call("poems", "-")
    assert stopped.value.code == 2
