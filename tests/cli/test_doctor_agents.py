"""`kr doctor` says which backend each role has, tries it, and names the remedy; `kr ask` too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.cli import main
from app.config.shipped import shipped_folder
from tests.agents.scripted import Scene, ScriptedModel, Seen, fails, gives

REPLY = {
    "content": "Ten minutes.", "rationale": "So.", "confidence": 93, "uncertainty_reasons": [],
    "sources": [],
}  # fmt: skip


def words(seen: Seen) -> Scene:
    return gives({"ready": True} if "being tested" in seen.system else REPLY)


def configured(
    folder: Path, monkeypatch: pytest.MonkeyPatch, roles: Mapping[str, Any], **env: str
) -> None:
    shutil.copytree(shipped_folder(), folder, dirs_exist_ok=True)
    agents = yaml.safe_load((folder / "agents.yaml").read_text())
    for name, changes in roles.items():
        agents["roles"][name] |= changes
    (folder / "agents.yaml").write_text(yaml.safe_dump(agents))
    monkeypatch.setenv("KR_CONFIG_DIR", str(folder))
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def checks(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)["checks"]
    return {one["name"]: one for one in found if one["name"].startswith("agent_")}


def test_without_a_key_the_handbooks_answer(capsys: pytest.CaptureFixture[str]) -> None:
    found = checks(capsys)
    assert found["agent_architect"]["ok"]
    assert found["agent_architect"]["detail"] == "@duc: the handbook, no model"
    assert found["agent_project-manager"]["detail"] == "@baron: the checklist, no model"


def test_one_key_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedModel(script=words) as model:
        configured(tmp_path, monkeypatch, {"architect": {"model": "opus"}},
                   ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=model.url)  # fmt: skip
        found = checks(capsys)
        assert all(one["ok"] for one in found.values()), found
        detail = found["agent_architect"]["detail"]
        assert detail == "@duc: llm at anthropic, claude-opus-5-5 answers"
        assert len(model.requests) == 3


def test_a_key_that_does_not_work_is_found_and_the_remedy_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedModel(fails(401, "invalid x-api-key")) as model:
        configured(tmp_path, monkeypatch, {"product": {"backend": "retrieval"}},
                   ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=model.url)  # fmt: skip
        found = checks(capsys)
    assert found["agent_product"]["ok"]
    broken = found["agent_architect"]
    assert not broken["ok"]
    assert "401" in broken["detail"]
    assert "ANTHROPIC_API_KEY" in broken["detail"]
    assert "backend: retrieval" in broken["remedy"]


@pytest.mark.parametrize(
    ("role", "detail", "remedy"),
    [
        ({"backend": "llm"}, "ANTHROPIC_API_KEY is not set", "Set ANTHROPIC_API_KEY."),
        ({"backend": "llm", "model": "gpt-5"}, "OPENAI_API_KEY is not set", "Set OPENAI_API_KEY."),
        ({"backend": "llm", "base_url": "http://127.0.0.1:9/v1", "key": "VLLM_KEY", "model": "x"},
         "VLLM_KEY is not set", "Set VLLM_KEY"),
        ({"backend": "command"}, "no `command` is set", "command: [/path/to/program]"),
        ({"backend": "command", "command": ["/no/such/it"]}, "/no/such/it", "agents.yaml"),
        ({"backend": "claude"}, "neither ANTHROPIC_API_KEY nor CLAUDE_CODE_OAUTH_TOKEN",
         "claude setup-token"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    role: Mapping[str, Any],
    detail: str,
    remedy: str,
) -> None:
    configured(tmp_path, monkeypatch, {"architect": role})
    found = checks(capsys)["agent_architect"]
    assert not found["ok"]
    assert detail in found["detail"]
    assert remedy in found["remedy"]


def test_ask_says_the_model_and_what_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedModel(script=words) as model:
        configured(tmp_path, monkeypatch, {"architect": {"model": "opus"}},
                   ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=model.url)  # fmt: skip
        assert main(["ask", "architect", "How long do tokens live?", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["backend"], found["model"]) == ("llm", "claude-opus-5-5")
        assert found["cost"]["usd"] > 0
        assert (found["cost"]["input_tokens"], found["cost"]["output_tokens"]) == (25, 7)
        assert main(["ask", "architect", "How long do tokens live?"]) == 0
        assert "claude-opus-5-5 through llm: $" in capsys.readouterr().out


def test_ask_a_program_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(REPLY)}'\n")
    program.chmod(0o755)
    role = {"backend": "command", "command": [str(program)]}
    configured(tmp_path / "configs", monkeypatch, {"architect": role})
    assert main(["ask", "architect", "How long do tokens live?", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["answer"], found["backend"]) == ("Ten minutes.", "command")


def test_a_budget_of_nothing_stops_ask_before_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedModel(script=words) as model:
        configured(tmp_path, monkeypatch, {}, ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=model.url)
        path = tmp_path / "agents.yaml"
        agents = yaml.safe_load(path.read_text()) | {"budget": {"day": 0}}
        path.write_text(yaml.safe_dump(agents))
        assert main(["ask", "architect", "How long do tokens live?"]) == 3
        assert "the budget of $0.00" in capsys.readouterr().err
        assert model.requests == []
