"""`kr log owner/repo#N`: the Q&A log of a feature."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence

from app.embedded.servers import reach_servers
from app.settings import Settings
from app.store import log, threads
from app.store.engine import DatabaseError, ProgrammingError, connect
from app.store.log import Entry

FEATURE = re.compile(r"([^/\s]+/[^/\s#]+)#([0-9]{1,18})")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("feature", metavar="OWNER/REPO#N", help="the feature's issue")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """0 with the log; 1 if its hash chain is broken; 2 if there is no such feature."""
    found = FEATURE.fullmatch(args.feature)
    if found is None:
        print(f"{args.feature!r} is no feature: write owner/repo#12.", file=sys.stderr)
        return 2
    settings = Settings()
    no_redis = settings.redis_url or "redis://not-needed-here"
    try:
        with reach_servers(settings.data_dir, settings.database_url, no_redis) as (url, _):
            chain = _entries(url, found.group(1), int(found.group(2)))
    except ProgrammingError:
        chain = None  # a database without our tables holds no feature
    except DatabaseError as error:
        print(f"The database does not answer: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2
    if chain is None:
        print(f"No feature was started on {args.feature}.", file=sys.stderr)
        return 2
    _show(args.feature, chain, as_json=args.json)
    broken = log.broken_at(chain)
    if broken is not None:
        print(f"The hash chain is broken at entry {broken}.", file=sys.stderr)
        return 1
    return 0


def _entries(url: str, repo: str, number: int) -> list[Entry] | None:
    engine = connect(url, pool=1)
    try:
        with engine.connect() as connection:
            thread = threads.read(connection, repo, number)
            return log.entries(connection, thread.feature.id) if thread else None
    finally:
        engine.dispose()


def _show(feature: str, chain: Sequence[Entry], *, as_json: bool) -> None:
    if as_json:
        document = {"feature": feature, "entries": [entry.as_json() for entry in chain]}
        print(json.dumps(document, ensure_ascii=False))
        return
    for entry in chain:
        links = f" ← {', '.join(map(str, entry.links))}" if entry.links else ""
        print(f"{entry.seq:>4} {entry.at} {entry.question or '':<4} {entry.kind:<11} "
              f"{entry.actor}{links}")  # fmt: skip
        for name, value in entry.data.items():
            if value not in (None, "", [], {}):
                print(f"       {name}: {json.dumps(value, ensure_ascii=False)[:300]}")
