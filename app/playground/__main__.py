"""`python -m app.playground`: serve a playground until it is told to stop."""

from __future__ import annotations

import argparse
import contextlib
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from app.playground.config import GivenApp, PlaygroundConfig
from app.playground.server import create_playground


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app.playground", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080, help="0: any that is free")
    parser.add_argument("--base-url", help="how others reach it (default: from host and port)")
    parser.add_argument("--data-dir", type=Path, help="default: a temporary folder")
    parser.add_argument("--webhook-url", help="default: no webhooks")
    parser.add_argument("--webhook-secret-file", type=Path)
    parser.add_argument("--app-id", default="1")
    parser.add_argument("--app-slug", default="baron")
    parser.add_argument(
        "--app-public-key-file", type=Path, help="PEM; without it any well-formed App JWT is taken"
    )
    parser.add_argument(
        "--app",
        action="append",
        default=[],
        metavar="NAME=ID:PUBLIC_KEY_FILE",
        type=_app,
        help="one more App, which writes as NAME[bot]; may be given again",
    )
    parser.add_argument("--note", default="", help="stands on top of every page")
    parser.add_argument("--no-sample", action="store_true", help="start empty")
    return parser


def _app(text: str) -> tuple[str, str, Path]:
    """(slug, number, file of the public key)."""
    name, _, rest = text.partition("=")
    number, _, file = rest.partition(":")
    if not (name and number.isdigit() and file):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=ID:PUBLIC_KEY_FILE")
    return name, number, Path(file)


def _further(given: list[tuple[str, str, Path]]) -> tuple[GivenApp, ...]:
    return tuple(GivenApp(number, slug, _read(file)) for slug, number, file in given)


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


def _read(path: Path | None) -> str | None:
    return path.read_text(encoding="utf-8").strip() if path else None


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    """The one that was named, or one that goes when we do."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="playground-") as spare:
        yield Path(spare)


def main(argv: list[str] | None = None) -> int:
    """Serve. Secrets come in files, never on the command line."""
    args = _parser().parse_args(argv)
    try:
        secret, key = _read(args.webhook_secret_file), _read(args.app_public_key_file)
        further = _further(args.app)
        listener = _listen(args.host, args.port)
    except OSError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    name = f"[{args.host}]" if ":" in args.host else args.host
    with _folder(args.data_dir) as folder:
        config = PlaygroundConfig(
            base_url=args.base_url or f"http://{name}:{listener.getsockname()[1]}",
            data_dir=folder,
            webhook_url=args.webhook_url,
            webhook_secret=secret or "playground",
            app_id=args.app_id,
            app_slug=args.app_slug,
            app_public_key_pem=key,
            seed=not args.no_sample,
            note=args.note,
            further=further,
        )
        _Server(config).run(sockets=[listener])
    return 0


class _Server(uvicorn.Server):
    """Says that it is ready, once."""

    def __init__(self, config: PlaygroundConfig) -> None:
        self._url = config.base_url
        super().__init__(
            uvicorn.Config(
                create_playground(config),
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=2,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            print(f"The playground listens on {self._url}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
