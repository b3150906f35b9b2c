"""`python -m workers events|outbox|agents|timer`: one process, one queue."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable

from app.deps import Deps, build_deps
from app.queue import AGENTS, EVENTS, OUTBOX
from app.settings import Settings
from app.store.beat import Beat
from app.store.engine import Connection
from workers import jobs
from workers.drain import Drain
from workers.events import Events
from workers.listen import listen
from workers.outbox import Outbox
from workers.outlets import Outlets
from workers.timer import Timer

KINDS = (EVENTS, OUTBOX, AGENTS, "timer")


def main(argv: list[str] | None = None) -> int:
    """Work until SIGTERM; what is in hand is finished or handed back."""
    parser = argparse.ArgumentParser(prog="python -m workers", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    kind: str = parser.parse_args(argv).kind
    settings = Settings()
    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(message)s")
    logging.getLogger("rq").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    deps = build_deps(settings)
    if settings.github_app_id and settings.private_key():
        start(kind, deps)
    else:
        _idle(kind, deps)
    return 0


def _idle(kind: str, deps: Deps) -> None:
    """Without an App there is nothing to do; to end would only have us started again."""
    logging.getLogger(__name__).warning(
        "no GitHub App is set: open %s/setup", deps.settings.base_url
    )
    beat = Beat(deps.engine, kind, lambda connection: None)
    beat.start()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    beat.stop()


def start(kind: str, deps: Deps, crash: Callable[[str], None] = lambda point: None) -> None:
    """Run one kind of worker in this process until it is told to stop."""
    if kind == EVENTS:
        _events(deps, crash)
    elif kind == OUTBOX:
        _carry(OUTBOX, deps, Outbox(deps, crash), Outlets(deps, crash))
    elif kind == AGENTS:
        from app.agents.building import build_team
        from app.agents.team import Team
        from workers.agents import Agents
        from workers.metering import build_meter
        from workers.tools import build_tools

        meter = build_meter(deps)

        def build() -> Team:
            return build_team(deps.settings, meter, build_tools(deps))

        _carry(AGENTS, deps, Agents(deps, build(), crash, build, meter))
    else:
        _timer(deps)


def _events(deps: Deps, crash: Callable[[str], None]) -> None:
    events = Events(deps, crash)
    beat = Beat(deps.engine, EVENTS, events.renew)
    beat.start()
    jobs.serve(EVENTS, events.drain)
    listen(EVENTS, deps.settings)
    beat.stop()


def _carry(queue: str, deps: Deps, *drains: Drain) -> None:
    """Run loops that share a queue and a process; each takes what is its own."""

    def renew(connection: Connection) -> None:
        for drain in drains:
            drain.renew(connection)

    def ring() -> None:
        for drain in drains:
            drain.ring()

    beat = Beat(deps.engine, queue, renew)
    beat.start()
    jobs.serve(queue, ring)
    for drain in drains:
        drain.start()
        threading.Thread(target=_die_with, args=(drain,), daemon=True).start()
    listen(queue, deps.settings)
    for drain in drains:
        drain.stop()
    beat.stop()


def _die_with(drain: Drain) -> None:
    """A worker whose loop has ended is no worker: end, so that another is started."""
    drain.join()
    if not drain.stopping:
        logging.getLogger(__name__).critical("the loop ended; the process ends with it")
        os._exit(1)


def _timer(deps: Deps) -> None:
    timer = Timer(deps)
    beat = Beat(deps.engine, "timer", lambda connection: None)
    beat.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: timer.stop())
    timer.run()
    beat.stop()


if __name__ == "__main__":
    sys.exit(main())
