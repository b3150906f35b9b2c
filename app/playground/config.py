"""How a playground is set up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GivenApp:
    """An App of the playground. Without `public_key_pem` any well-formed JWT of its is taken."""

    id: str
    slug: str
    public_key_pem: str | None = None

    @property
    def bot(self) -> str:
        """The login under which it writes."""
        return f"{self.slug}[bot]"


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
    further: tuple[GivenApp, ...] = ()
    """More Apps, installed like the first; webhooks go to the first alone."""

    @property
    def apps(self) -> tuple[GivenApp, ...]:
        """All Apps, the first one first."""
        return (GivenApp(self.app_id, self.app_slug, self.app_public_key_pem), *self.further)

    def app(self, app_id: str) -> GivenApp | None:
        """The App with this number."""
        return next((app for app in self.apps if app.id == app_id), None)

    def app_of_bot(self, login: str) -> GivenApp:
        """The App that writes as `login`; the first if none does."""
        return next((app for app in self.apps if app.bot == login), self.apps[0])

    @property
    def api_url(self) -> str:
        """Where the REST API starts."""
        return f"{self.base_url.rstrip('/')}/api/v3"

    @property
    def web_url(self) -> str:
        """Where pages and git start."""
        return self.base_url.rstrip("/")
