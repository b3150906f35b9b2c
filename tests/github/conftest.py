"""Our client, talking to a playground in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from app.features.model import Place
from app.github.client import AppClient, RepoClient
from app.settings import Settings
from tests.playground.conftest import REPO, Running, _served, playground

__all__ = ["Work", "_served", "playground"]

Work = Callable[[RepoClient, Callable[[dict[str, Any]], bool]], Awaitable[Any]]


@pytest.fixture
def github(playground: Running, tmp_path: Path) -> Callable[[Work], Any]:
    """Runs what it is given with the repository's client and the App's recogniser."""
    key = tmp_path / "app.pem"
    key.write_text(playground.private_key)
    settings = Settings(
        github_api_url=playground.api,
        github_url=playground.url,
        github_app_id="1",
        github_private_key_path=key,
    )

    async def run(work: Work) -> Any:
        app = AppClient(settings)
        client = await app.repository(Place(0, 0, REPO, 1))
        return await work(client, await app.recogniser())

    return lambda work: asyncio.run(run(work))
