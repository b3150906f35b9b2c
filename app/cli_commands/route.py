"""`kr route TOPIC`: who would be asked, and by which rule."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from app.cli_commands import CommandError, load_settings, print_json
from app.config.loader import load_config
from app.config.problems import ConfigInvalid
from app.config.shipped import config_folder
from app.questions.model import Routed
from app.questions.routing import Router


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `kr route`."""
    parser.add_argument("topic", metavar="TOPIC", help="for example security.tokens")
    parser.add_argument("--target", help="the role that the question suggests, or human")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """Print the decision. 2 if the configuration is invalid or cannot be read."""
    folder = config_folder(load_settings())
    try:
        config = load_config(folder)
    except ConfigInvalid as invalid:
        print(*invalid.errors, sep="\n", file=sys.stderr)
        return 2
    except OSError as error:
        raise CommandError(f"cannot read {error.filename or folder}: {error.strerror}", 2) from None
    routed = Router(config).route(args.topic, args.target)
    if args.json:
        print_json(as_json(routed))
    else:
        print(as_text(routed))
    return 0


def as_json(routed: Routed) -> dict[str, Any]:
    """The decision as scripts read it."""
    return {
        "topic": routed.topic,
        "answerer": routed.answerer,
        "agent": routed.agent,
        "rule": routed.rule,
        "threshold": routed.threshold,
        "sla": routed.sla,
        "override": routed.override,
        "note": routed.note,
    }


def as_text(routed: Routed) -> str:
    """The decision as people read it."""
    agent = f" ({routed.agent})" if routed.agent else ""
    lines = [f"{routed.topic} → {routed.answerer}{agent}"]
    lines.append(f"  by {'the override ' if routed.override else ''}{routed.rule}")
    lines.append(f"  accepted from a confidence of {routed.threshold}")
    if routed.sla:
        lines.append(f"  within {routed.sla}")
    for answerer, sla in routed.escalate_to:
        lines.append(f"  then {answerer}{f' within {sla}' if sla else ''}")
    if routed.note:
        lines.append(f"  note: {routed.note}")
    return "\n".join(lines)
