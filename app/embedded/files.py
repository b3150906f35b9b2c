"""Folders, secrets, ports and logs of the embedded servers."""

from __future__ import annotations

import json
import os
import secrets
import socket
from pathlib import Path

from app.embedded.errors import EmbeddedError

LOOPBACK = "127.0.0.1"
LOG_LIMIT = 5_000_000


def data_folder(path: Path) -> Path:
    """Create KR_DATA_DIR with mode 0700; one that exists already keeps the mode it has.

    Raises `EmbeddedError` where that is not allowed.
    """
    return path if path.is_dir() else private_folder(path)


def private_folder(path: Path) -> Path:
    """Create a folder of ours, give it mode 0700, and return it. Raises `EmbeddedError`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise EmbeddedError(
            f"cannot use the folder {path}: {error.strerror}. "
            "Set KR_DATA_DIR to a folder that you may write."
        ) from error
    return path


def write_private(path: Path, text: str) -> None:
    """Write a secret (mode 0600) so that a reader never sees half of it."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def load_state(path: Path) -> dict[str, str]:
    """The stored passwords and port; empty if there are none yet. Raises `EmbeddedError`."""
    try:
        state = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EmbeddedError(
            f"cannot read {path}: {error}. Restore it from a backup; without it the server's "
            "passwords are lost."
        ) from error
    return {str(key): str(value) for key, value in state.items()}


def save_state(path: Path, state: dict[str, str]) -> None:
    """Store passwords and port, readable by the owner only."""
    write_private(path, json.dumps(state))


def new_password() -> str:
    """A password that needs no escaping in a URL, a shell or SQL."""
    return secrets.token_urlsafe(24)


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port(preferred: int | None = None) -> int:
    """The preferred loopback port if it is free, else any free one."""
    if preferred and port_is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def keep_port(state: dict[str, str], path: Path, *, insist: bool = False) -> int:
    """The port of last time; another one, stored, if somebody else has taken it.

    With `insist` another one will not do, because others already know this one.
    Raises `EmbeddedError`.
    """
    last = int(state.get("port", "0"))
    port = free_port(last or None)
    if insist and port != last:
        raise EmbeddedError(
            f"another program has taken port {last}. End it; the server starts by itself then."
        )
    if port != last:
        state["port"] = str(port)
        save_state(path, state)
    return port


def open_log(path: Path) -> int:
    """A descriptor that appends to a private log file."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def trim_log(path: Path, limit: int = LOG_LIMIT) -> None:
    """Move a log that has grown too long to `NAME.1`, while its writer goes on appending."""
    try:
        if path.stat().st_size <= limit:
            return
        with path.open("rb") as log:
            log.seek(-limit // 2, os.SEEK_END)
            write_private(path.with_name(path.name + ".1"), log.read().decode(errors="replace"))
        os.truncate(path, 0)
    except FileNotFoundError:
        return


def log_tail(path: Path, lines: int = 8) -> str:
    """The last lines of a log, for an error message."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
