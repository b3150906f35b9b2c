"""Which backend a role has, by its configuration and by what there is a key for."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from app.agents import choosing
from app.agents.choosing import Chosen, choose
from app.config.models import Role
from app.settings import Settings

ANTHROPIC = {"anthropic_api_key": SecretStr("k")}
OPENAI = {"openai_api_key": SecretStr("k")}
OAUTH = {"claude_code_oauth_token": SecretStr("k")}


def chosen(keys: dict[str, Any], **role: Any) -> Chosen:
    settings = Settings().model_copy(update=keys)
    return choose("architect", Role.model_validate({"handle": "@duc", **role}), settings)


@pytest.mark.parametrize(
    ("keys", "role", "kind", "provider"),
    [
        ({}, {}, "retrieval", ""),
        ({}, {"kind": "driver"}, "none", ""),
        (ANTHROPIC, {}, "llm", "anthropic"),
        (ANTHROPIC, {"kind": "driver"}, "llm", "anthropic"),
        (ANTHROPIC, {"kind": "execution"}, "none", ""),
        (OPENAI, {}, "llm", "openai"),
        (ANTHROPIC | OPENAI, {"model": "gpt-5"}, "llm", "openai"),
        (OPENAI, {"model": "opus"}, "retrieval", ""),
        (ANTHROPIC, {"backend": "retrieval"}, "retrieval", ""),
        (ANTHROPIC, {"base_url": "http://vllm:8000/v1", "model": "llama"}, "llm", "role:architect"),
        ({}, {"base_url": "http://vllm:8000/v1", "model": "llama"}, "llm", "role:architect"),
        (ANTHROPIC, {"command": ["/bin/agent"]}, "command", ""),
    ],
)
def test_auto(keys: dict[str, Any], role: dict[str, Any], kind: str, provider: str) -> None:
    found = chosen(keys, **role)
    assert (found.kind, found.provider, found.problem) == (kind, provider, "")


def test_claude_by_itself_wants_its_token_and_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "find_claude", lambda: "/usr/bin/claude")
    assert chosen(OAUTH).kind == "claude"
    assert chosen(OAUTH, model="gpt-5").kind == "retrieval"
    monkeypatch.setattr(choosing, "find_claude", lambda: None)
    assert chosen(OAUTH).kind == "retrieval"
    assert chosen(ANTHROPIC, backend="claude").problem == "Claude Code is not here"
