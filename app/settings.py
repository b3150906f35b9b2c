"""Settings from the environment, prefix `KR_` (README.md, Settings)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything the operator may set; read once, at the start of a process, never at import."""

    model_config = SettingsConfigDict(env_prefix="KR_", extra="ignore", hide_input_in_errors=True)

    github_api_url: str = "https://api.github.com"
    github_url: str = "https://github.com"
    github_app_id: str | None = None
    github_private_key: SecretStr | None = None
    github_private_key_path: Path | None = None
    github_webhook_secret: SecretStr | None = None
    github_writes_per_minute: int = Field(default=80, ge=1)
    github_writes_per_hour: int = Field(default=500, ge=1)
    github_writes_burst: int = Field(default=10, ge=1)

    database_url: str | None = None
    redis_url: str | None = None
    data_dir: Path = Path(".kr")
    config_dir: Path = Path("configs")

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    public_url: str | None = None
    workers: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    api_secret: SecretStr | None = None
    embedding_model: str = "bundled"
    web_search_url: str = ""
    web_search_key: SecretStr | None = None
    model_calls: int = Field(default=100, ge=1, le=1000)
    """Calls of one provider under way at a time; more wait in order."""
    claude_memory: int = Field(default=4096, ge=200)
    """MB that Claude Code processes may take together, at about 200 each; more wait in order."""
    tasks: int = Field(default=5, ge=1, le=100)
    """Tasks of execution agents that one process does at a time; more wait in order."""
    sandbox: Literal["strict", "landlock", "bwrap", "none"] = "strict"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    # The providers' own names. Only the forwarder reads them; no agent ever sees them.
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    anthropic_base_url: str = Field(
        default="https://api.anthropic.com", validation_alias="ANTHROPIC_BASE_URL"
    )
    claude_code_oauth_token: SecretStr | None = Field(
        default=None, validation_alias="CLAUDE_CODE_OAUTH_TOKEN"
    )
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str = Field(
        default="https://api.openai.com/v1", validation_alias="OPENAI_BASE_URL"
    )
    google_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("GOOGLE_API_KEY", "GEMINI_API_KEY")
    )
    google_base_url: str = Field(
        default="https://generativelanguage.googleapis.com",
        validation_alias="GOOGLE_GEMINI_BASE_URL",
    )
    playground_port: int = Field(default=8080, ge=0, le=65535)

    @field_validator("log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _without_trailing_slash(self) -> Settings:
        self.github_api_url = self.github_api_url.rstrip("/")
        self.github_url = self.github_url.rstrip("/")
        return self

    @property
    def base_url(self) -> str:
        """Where people reach this service."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    def private_key(self) -> str | None:
        """The App's private key (PEM). Raises `OSError` if its file cannot be read."""
        if self.github_private_key is not None:
            return self.github_private_key.get_secret_value().replace("\\n", "\n")
        if self.github_private_key_path is not None:
            return self.github_private_key_path.read_text()
        return None
