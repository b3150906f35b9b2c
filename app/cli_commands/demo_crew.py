"""Who does the tasks of the demo: a scripted program, behind whatever walls work on this machine.

The service gets a configuration of its own for it, like the shipped one but for the backends of
those who write files; that of the operator is neither used nor changed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

ROLES = ("qa", "developer", "devops")
"""Who writes files; each does so by the scripted program."""
WITHOUT_MODEL = {
    "project-manager": "none",
    "architect": "retrieval",
    "product": "retrieval",
    "reviewer": "none",
}
"""The others: the demo works the same whatever keys there are on this machine."""
_PLAYGROUND = Path(__file__).resolve().parents[1] / "playground"
_NOTE = (
    "This is a GitHub in a box, on this machine only. @marie, @dede and @gustave are a scripted"
    " program here, not a model: what they write comes from templates."
)
_WALLS = {
    "strict": "",
    "landlock": " Only one of the two walls of the sandbox works here: Landlock.",
    "bwrap": " Only one of the two walls of the sandbox works here: bubblewrap.",
    "none": " The sandbox does not work on this machine, so that program runs without one.",
}
_HEAD = "# Made anew by `kr demo` at every start, from the shipped agents.yaml.\n"


@dataclass(frozen=True, slots=True)
class Crew:
    """The demo's configuration, its value of `KR_SANDBOX`, and what the pages say of both."""

    configs: Path
    sandbox: str
    note: str


def hire(folder: Path) -> Crew:
    """Write the configuration into the demo's data folder, and see which walls there are.

    Raises `OSError`.
    """
    from app.execution.walls import walls_here

    wanted = sandbox(walls_here())
    return Crew(_configured(folder / "demo-configs"), wanted, _NOTE + _WALLS[wanted])


def sandbox(here: Collection[str]) -> str:
    """The best of `KR_SANDBOX` with these walls: the program is our own, and harmless."""
    if {"landlock", "bwrap"} <= set(here):
        return "strict"
    return next((name for name in ("landlock", "bwrap") if name in here), "none")


def command() -> list[str]:
    """The scripted program. The interpreter is named as it is, not by links of an environment."""
    program = _PLAYGROUND / "scripted.py"
    python = os.path.realpath(sys.executable)
    return [python, "-I", "-S", str(program), str(_PLAYGROUND / "sample" / "work")]


def _configured(configs: Path) -> Path:
    import yaml

    from app.config.shipped import shipped_folder

    shutil.copytree(shipped_folder(), configs, dirs_exist_ok=True)
    path = configs / "agents.yaml"
    agents = yaml.safe_load(path.read_text("utf-8"))
    for name in ROLES:
        agents["roles"][name] |= {"backend": "command", "command": command(), "timeout": "2m"}
    for name, backend in WITHOUT_MODEL.items():
        agents["roles"][name]["backend"] = backend
    path.write_text(_HEAD + yaml.safe_dump(agents, sort_keys=False, allow_unicode=True), "utf-8")
    return configs
