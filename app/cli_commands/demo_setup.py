"""What the demo needs before it starts: keys, ports, programs, environment."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli_commands.demo_crew import Crew, hire
from app.cli_commands.running import child_environment
from app.embedded.files import LOOPBACK, free_port, port_is_free, private_folder, write_private
from app.supervisor import Program, web, worker_programs

if TYPE_CHECKING:
    from app.settings import Settings


MODEL_KEYS = (
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENAI_API_KEY",
)


@dataclass(frozen=True)
class DemoSetup:
    """All that the demo runs on."""

    playground: str
    service: str
    programs: Sequence[Program]
    env: Mapping[str, str]
    logs: Path


@dataclass(frozen=True)
class Keys:
    """The sample App's credentials, in a folder with mode 0700."""

    private: Path
    public: Path
    webhook_secret: Path


def prepare(
    settings: Settings,
    folder: Path,
    port: int | None,
    database_url: str,
    redis_url: str,
    crew: Crew | None = None,
) -> DemoSetup:
    """Make the keys, find the ports and name the programs.

    Only the servers of the demo are used, whatever the environment says.
    """
    crew = crew or hire(folder)
    keys = make_keys(private_folder(folder / "keys"))
    playground_port = next_free(settings.playground_port if port is None else port)
    web_port = free_port(settings.port)
    playground = f"http://{LOOPBACK}:{playground_port}"
    service = f"http://{LOOPBACK}:{web_port}"
    env = {
        **child_environment(settings, database_url, redis_url),
        "KR_DATA_DIR": str(folder),
        "KR_CONFIG_DIR": str(crew.configs),
        "KR_SANDBOX": crew.sandbox,
        "KR_GITHUB_API_URL": f"{playground}/api/v3",
        "KR_GITHUB_URL": playground,
        "KR_GITHUB_APP_ID": "1",
        "KR_GITHUB_PRIVATE_KEY_PATH": str(keys.private),
        "KR_GITHUB_WEBHOOK_SECRET": keys.webhook_secret.read_text(),
        "KR_HOST": LOOPBACK,
        "KR_PORT": str(web_port),
        "KR_PUBLIC_URL": service,
    }
    for name in (
        "KR_GITHUB_PRIVATE_KEY",
        *MODEL_KEYS,
    ):  # no key of the operator's is used, or spent
        env.pop(name, None)
    box = _playground(playground_port, folder / "playground", service, keys, crew.note)
    workers = worker_programs(min(settings.workers, 2))
    return DemoSetup(playground, service, [box, web(), *workers], env, folder / "logs")


def make_keys(folder: Path) -> Keys:
    """An RSA key pair and a webhook secret; those of last time if they are there."""
    keys = Keys(
        folder / "app-private-key.pem", folder / "app-public-key.pem", folder / "webhook-secret"
    )
    if not keys.private.exists() or not keys.public.exists():
        _make_key_pair(keys)
    if not keys.webhook_secret.exists():
        write_private(keys.webhook_secret, secrets.token_urlsafe(32))
    return keys


def _make_key_pair(keys: Keys) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    write_private(keys.public, public.decode())
    write_private(keys.private, private.decode())


def next_free(port: int) -> int:
    """This port, or the next one up that is free; any free one for 0."""
    for candidate in range(port, min(port + 50, 65536)) if port else ():
        if port_is_free(candidate):
            return candidate
    return free_port()


def _playground(port: int, folder: Path, service: str, keys: Keys, note: str) -> Program:
    argv = (
        *(sys.executable, "-m", "app.playground"),
        *("--host", LOOPBACK, "--port", str(port)),
        *("--data-dir", str(folder)),
        *("--webhook-url", f"{service}/webhooks/github"),
        *("--webhook-secret-file", str(keys.webhook_secret)),
        *("--app-public-key-file", str(keys.public)),
        *("--note", note),
    )
    return Program("playground", argv)
