"""The supervisor's last will: `python -m app.supervisor.guard MARK SECONDS`.

It waits until its standard input ends, which happens however the supervisor ends; gives the
children, which the kernel has told to stop, so many seconds; and kills what is still there.
"""

from __future__ import annotations

import signal
import sys

from app.embedded.process import wait_until
from app.supervisor.mark import marked, send


def main() -> int:
    """Wait for the end of the supervisor, then see to it that nothing remains."""
    mark, seconds = sys.argv[1], float(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    if not wait_until(lambda: not marked(mark), seconds, pause=0.2):
        send(marked(mark), signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
