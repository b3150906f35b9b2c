"""Which folder the server's configuration is in."""

from __future__ import annotations

from pathlib import Path

import app
from app.config.loader import FILES
from app.settings import Settings


def shipped_folder() -> Path:
    """The configuration that comes with the program."""
    return Path(app.__file__).resolve().parent.parent / "configs"


def config_folder(settings: Settings) -> Path:
    """The folder of `KR_CONFIG_DIR`; unless that is set, `configs` here, else the shipped one.

    A folder `configs` with none of our files in it is somebody else's.
    """
    folder = settings.config_dir
    ours = any((folder / file).is_file() for file in FILES.values())
    return folder if ours or "config_dir" in settings.model_fields_set else shipped_folder()
