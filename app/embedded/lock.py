"""One service for each data folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.files import data_folder


class DataDirLocked(EmbeddedError):
    """Another process uses this data folder; its id is in `pid` (0 if unknown)."""

    def __init__(self, data_dir: Path, pid: int) -> None:
        who = f"process {pid}" if pid else "another process"
        stop = f"Stop it (kill {pid})" if pid else "Stop it"
        super().__init__(
            f"{data_dir} is in use by {who}. {stop}, or give this one a folder of its own: "
            "KR_DATA_DIR=/another/folder."
        )
        self.pid = pid


class DataDirLock:
    """Held from `acquire()` to `release()` or the end of the process, however it ends."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock. Raises `DataDirLocked` if somebody has it."""
        data_folder(self._data_dir)
        descriptor = os.open(self._data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(descriptor, 20).decode(errors="replace").strip()
            os.close(descriptor)
            raise DataDirLocked(self._data_dir, int(holder) if holder.isdigit() else 0) from None
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; does nothing if it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
