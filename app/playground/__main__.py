"""`python -m app.playground`: serve a playground until it is told to stop."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import uvicorn

from app.playground.config import PlaygroundConfig
from app.playground.server import create_playground


def main(argv: list[str] | None = None) -> int:
    """Serve. Secrets come in files, never on the command line."""
    parser = argparse.ArgumentParser(prog="python -m app.playground", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--webhook-url")
    parser.add_argument("--webhook-secret-file", type=Path, required=True)
    parser.add_argument("--app-public-key-file", type=Path)
    args = parser.parse_args(argv)
    key = args.app_public_key_file
    config = PlaygroundConfig(
        base_url=f"http://{args.host}:{args.port}",
        data_dir=args.data_dir,
        webhook_url=args.webhook_url,
        webhook_secret=args.webhook_secret_file.read_text().strip(),
        app_public_key_pem=key.read_text() if key else None,
    )
    print(f"The playground listens on {config.base_url}", flush=True)
    uvicorn.run(
        create_playground(config),
        host=args.host,
        port=args.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
