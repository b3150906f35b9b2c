"""A process of ours that kills itself, once, at a named point: `crashing KIND POINT NTH TOKEN`.

TOKEN is a file; it is removed before the kill, so that the process that is started instead lives.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

POINTS = {
    "web": ("before-intake-commit", "after-intake-commit"),
    "events": ("after-event-claim", "before-event-commit", "after-event-commit"),
    "outbox": (
        "after-effect-claim",
        "before-write",
        "after-write",
        "before-outbox-commit",
        "after-outbox-commit",
    ),
    "agents": ("after-effect-claim", "before-agent-commit", "after-agent-commit"),
}
"""Each side of each commit and of each write to GitHub."""


def killer(point: str, nth: int, token: Path) -> Callable[[str], None]:
    """Kills this process, without any farewell, when `point` is reached for the `nth` time."""
    left = nth

    def crash(reached: str) -> None:
        nonlocal left
        if reached != point or not token.exists():
            return
        left -= 1
        if left == 0:
            token.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    return crash


def main(kind: str, point: str, nth: str, token: str) -> None:
    from app.settings import Settings

    crash = killer(point, int(nth), Path(token))
    settings = Settings()
    if kind == "web":
        import uvicorn

        from app.web.app import create_app

        uvicorn.run(create_app(settings, crash), port=settings.port, log_level="warning")
    else:
        from app.deps import build_deps
        from workers.__main__ import start

        start(kind, build_deps(settings), crash)


if __name__ == "__main__":
    main(*sys.argv[1:])
