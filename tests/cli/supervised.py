"""A small service for the tests: `python supervised.py FOLDER [servers]`.

Two children, each with a child of its own in another session; one of the two ignores SIGTERM if
FOLDER holds a file `stubborn`. Prints a JSON line with all process ids whenever they change.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from app.embedded import Servers
from app.supervisor import Program, Supervisor

CHILD = """
import os, signal, subprocess, sys, time
folder, name, stubborn = sys.argv[1:]
if stubborn == "yes":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = subprocess.Popen(["sleep", "300"], start_new_session=True)
with open(f"{folder}/{name}.inner", "a") as file:
    print(inner.pid, file=file)
print("hello", flush=True)
time.sleep(300)
"""


def main() -> None:
    folder = Path(sys.argv[1])
    stubborn = "yes" if (folder / "stubborn").exists() else "no"
    servers, env = None, dict(os.environ)
    if "servers" in sys.argv:
        servers = Servers(folder / "kr")
        env["KR_DATABASE_URL"], env["KR_REDIS_URL"] = servers.start()
    programs = [
        Program("one", (sys.executable, "-c", CHILD, str(folder), "one", stubborn)),
        Program("two", (sys.executable, "-c", CHILD, str(folder), "two", "no")),
    ]
    supervisor = Supervisor(
        programs,
        env=env,
        servers=servers,
        on_exit=lambda name, pid: print(json.dumps({"exit": name, "pid": pid}), flush=True),
        stop_seconds=1.0,
    )
    last: dict[str, int] = {}

    def report() -> bool:
        nonlocal last
        pids = supervisor.pids()
        if pids != last:
            last = pids
            print(json.dumps({"pids": pids}), flush=True)
        return False

    supervisor.run(report)


if __name__ == "__main__":
    main()
