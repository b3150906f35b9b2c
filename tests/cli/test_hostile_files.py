"""`kr parse` and `kr scope` on files that are no plain text, or that aim at the terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.cli import main
from app.cli_commands import on_one_line

BROKEN = [(b"a\nb \xff c\n", "UTF-8"), (b"a\r\nb \0 c\r\n", "NUL"), ("\na".encode("utf-16"), "")]


def file(tmp_path: Path, data: bytes, name: str = "file") -> str:
    path = tmp_path / name
    path.write_bytes(data)
    return str(path)


def explain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], paths: bytes, rules: bytes = b"* @mara\n"
) -> list[str]:
    words = ["--scopes", file(tmp_path, rules, "rules"), "--files", file(tmp_path, paths)]
    assert main(["scope", "explain", *words, "--json"]) == 0
    return [one["path"] for one in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize("byte", [b"\xff", b"\0"])
def test_a_task_with_a_byte_that_is_no_text_is_told_and_the_rest_goes_on(
    byte: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (
        b"- [ ] T001 Write `src/a.py`\n- [ ] T002 Write `src/" + byte + b".py`\n- [ ] T003 End\n"
    )
    assert main(["parse", "tasks", file(tmp_path, lines), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in found["tasks"]] == ["T001", "T002", "T003"]
    assert [one["line"] for one in found["errors"]] == [2]
    assert "UTF-8" in found["errors"][0]["reason"]


@pytest.mark.parametrize("flag", ["--scopes", "--files"])
@pytest.mark.parametrize(("data", "why"), BROKEN)
def test_scope_reads_text_only(
    flag: str, data: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"--scopes": file(tmp_path, b"* @mara\n", "rules"), "--files": file(tmp_path, b"a\n")}
    files[flag] = file(tmp_path, data, "broken")
    words = [word for pair in files.items() for word in pair]
    assert main(["scope", "check", "--agent", "@mara", *words, "--json"]) == 2
    shown = capsys.readouterr()
    line = 2 if why else 1
    assert shown.out == ""
    assert shown.err.startswith(f"kr: {files[flag]}: line {line}: ")
    assert why in shown.err


def test_standard_input_is_read_once_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = file(tmp_path, b"* @mara\n")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\n\0b")))
    assert main(["scope", "explain", "--scopes", rules, "--files", "-"]) == 2
    assert "standard input: line 2: a NUL byte" in capsys.readouterr().err


def test_a_flawed_scope_file_gives_nobody_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = file(tmp_path, b"/src/ @dede\n/x [\x1b[2J\n", "rules")
    paths = file(tmp_path, b"src/b\nsrc/a\n")
    assert main(["scope", "explain", "--scopes", rules, "--files", paths, "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out) == [
        {"path": "src/b", "owners": [], "line": None},
        {"path": "src/a", "owners": [], "line": None},
    ]
    assert shown.err.startswith(f"{rules}: line 2: ")
    assert "\x1b" not in shown.err


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        (b"a\r\nb\r\nc", ["a", "b", "c"]),
        (b"a\r\n\r\nb\r", ["a", "b"]),
        (b"a\r", ["a"]),
        (b"a\r\n\nb\r\n", ["a", "b"]),
        (b"a\nb\r", ["a", "b\r"]),
        (b"a\r\nb\n", ["a\r", "b"]),
        (b"a\r\0b\nc\0", ["a\r", "b\nc"]),
    ],
)
def test_line_ends_of_a_list(
    data: bytes, paths: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(tmp_path, capsys, data) == paths


@pytest.mark.parametrize(
    "data", [b"a\0b", b"a\n\0b\n", b"a\0\0b\0", "a\nb".encode("utf-16-le"), b"\0"]
)
def test_a_list_with_a_stray_nul_is_not_read(data: bytes, tmp_path: Path) -> None:
    rules = file(tmp_path, b"* @mara\n", "rules")
    assert main(["scope", "explain", "--scopes", rules, "--files", file(tmp_path, data)]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ["scope", "explain", "--scopes", "RULES", "--files", "PATHS"],
        ["scope", "explain", "--scopes", "RULES", "--files", "PATHS", "--json"],
        ["scope", "check", "--scopes", "RULES", "--files", "PATHS", "--agent", "@dede"],
        ["scope", "check", "--scopes", "RULES", "--files", "PATHS", "--agent", "@dede", "--json"],
        ["parse", "tasks", "TASKS"],
        ["parse", "tasks", "TASKS", "--json"],
    ],
)
def test_any_terminal_will_do(words: list[str], tmp_path: Path) -> None:
    real = {
        "RULES": file(tmp_path, b"* @mara\n", "rules"),
        "PATHS": file(tmp_path, "é\n".encode()),
        "TASKS": file(tmp_path, "- [ ] T001 é\n".encode(), "tasks"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *(real.get(word, word) for word in words)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == (1 if "check" in words else 0)
    assert "é" in done.stdout.decode()
    assert done.stderr == b""


def test_tasks_give_the_terminal_no_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "- [ ] T001 a\x1b[2Jb\x07c\u202ed\u2028e é\u00a0: `x\\y`\n- [\x9b] T002 b\n"
    assert main(["parse", "tasks", file(tmp_path, text.encode())]) in {0, 1}
    shown = capsys.readouterr().out
    first = r"line 1: [ ] T001 a\x1b[2Jb\x07c\u202ed\u2028e é" + "\u00a0: `x\\y`"
    assert shown.split("\n")[0] == first
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2028"} & set(shown)


def test_a_question_of_several_lines_stays_on_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gap = "<gap><topic>x.y</topic><question>A?\nline 9: \x1b[2J</question></gap>\n"
    assert main(["parse", "gaps", file(tmp_path, gap.encode())]) == 0
    assert capsys.readouterr().out == "line 1: x.y (normal): A?\\nline 9: \\x1b[2J\n"


def test_what_is_seen_stays() -> None:
    assert on_one_line("é 你\u3000好 \\ 🙂") == "é 你\u3000好 \\ 🙂"
    assert on_one_line("\t\r\n\u200b\u2066\x7f") == r"\t\r\n\u200b\u2066\x7f"
