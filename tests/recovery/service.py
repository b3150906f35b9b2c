"""The service of a town, in a process of its own: `service FOLDER OPTIONS`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from app.embedded.servers import Servers
from app.store.migrate import migrate
from app.supervisor import Program, Supervisor, web, worker_programs


def main(folder: Path, options: dict) -> None:
    servers = Servers(folder)
    database_url, redis_url = servers.start()
    try:
        migrate(database_url)
        env = {**os.environ, "KR_DATABASE_URL": database_url, "KR_REDIS_URL": redis_url}
        supervisor = Supervisor(_programs(options), env=env, servers=servers, logs=folder / "logs")

        def note() -> bool:
            new = folder / "pids.json.new"
            new.write_text(json.dumps(supervisor.pids()))
            new.replace(folder / "pids.json")
            return False

        supervisor.run(note)
    finally:
        servers.stop()


def _programs(options: dict) -> list[Program]:
    programs = [web(), *worker_programs(2)]
    programs = [one for one in programs if one.name not in options["without"]]
    if not options["crash"]:
        return programs
    kind, point, nth = options["crash"]
    crashing = Program(
        kind,
        (sys.executable, "-m", "tests.recovery.crashing", kind, point, str(nth), options["token"]),
    )
    return [crashing, *(one for one in programs if one.name.partition("-")[0] != kind)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
