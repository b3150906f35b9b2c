"""How a playground is set up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PlaygroundConfig:
    """Fixed for the life of a playground.

    Without `app_public_key_pem` any well-formed App JWT is accepted; without `webhook_url` no
    webhook is sent until one is set by `POST /_playground/webhook`.
    """

    base_url: str
    data_dir: Path
    webhook_url: str | None
    webhook_secret: str
    app_id: str = "1"
    app_slug: str = "baron"
    app_public_key_pem: str | None = None
    seed: bool = True
    note: str = ""
    """Stands on top of every page, for people."""

    @property
    def api_url(self) -> str:
        """Where the REST API starts."""
        return f"{self.base_url.rstrip('/')}/api/v3"

    @property
    def web_url(self) -> str:
        """Where pages and git start."""
        return self.base_url.rstrip("/")
