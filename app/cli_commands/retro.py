"""`kr retro owner/repo#N`: the figures of a feature."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from app.cli_commands import load_settings, print_json
from app.cli_commands.log import FEATURE
from app.embedded.servers import reach_servers
from app.retro.figures import figures
from app.service_types import RetroReport
from app.store import log, threads
from app.store.engine import DatabaseError, ProgrammingError, connect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `kr retro`."""
    parser.add_argument("feature", metavar="OWNER/REPO#N", help="the feature's issue")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """0 with the report; 2 if there is no such feature."""
    found = FEATURE.fullmatch(args.feature)
    if found is None:
        print(f"{args.feature!r} is no feature: write owner/repo#12.", file=sys.stderr)
        return 2
    settings = load_settings()
    no_redis = settings.redis_url or "redis://not-needed-here"
    try:
        with reach_servers(settings.data_dir, settings.database_url, no_redis) as (url, _):
            report = _report(url, found.group(1), int(found.group(2)))
    except ProgrammingError:
        report = None  # a database without our tables holds no feature
    except DatabaseError as error:
        print(f"The database does not answer: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2
    if report is None:
        print(f"No feature was started on {args.feature}.", file=sys.stderr)
        return 2
    if args.json:
        print_json(asdict(report))
    else:
        print(as_text(report))
    return 0


def _report(url: str, repo: str, number: int) -> RetroReport | None:
    engine = connect(url, pool=1)
    try:
        with engine.connect() as connection:
            thread = threads.read(connection, repo, number)
            if thread is None:
                return None
            entries = log.entries(connection, thread.feature.id)
            return figures(str(thread.feature.place), thread.questions, entries)
    finally:
        engine.dispose()


def as_text(report: RetroReport) -> str:
    """The report as people read it."""
    rate = "–" if report.acceptance_rate is None else f"{report.acceptance_rate} %"
    lines = [
        f"{report.feature}: {report.questions} questions, {report.accepted} accepted directly"
        f" ({rate}), {report.escalated} escalated, {report.open} open",
    ]
    if report.average_confidence is not None:
        lines.append(f"average confidence {report.average_confidence} %")
    if report.escalated_topics:
        lines.append(f"escalated: {', '.join(report.escalated_topics)}")
    for handle, found in report.by_agent.items():
        lines.append(
            f"{handle}: {found['answers']:g} answers, {found['accepted']:g} accepted,"
            f" {found['average_confidence']} % on average"
        )
    lines += [f"people: {action} {count}×" for action, count in report.human_actions.items()]
    return "\n".join(lines)
