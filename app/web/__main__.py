"""`python -m app.web`: the web process."""

from __future__ import annotations

import logging

import uvicorn

from app.settings import Settings
from app.web.app import create_app


def main() -> None:
    """Serve until SIGTERM. Raises `ValueError` where a server's URL is missing."""
    settings = Settings()
    logging.basicConfig(level=settings.log_level.upper())
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        server_header=False,
    )


if __name__ == "__main__":
    main()
