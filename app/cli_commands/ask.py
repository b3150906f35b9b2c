"""`kr ask ROLE "question"`: what an agent or a tool would answer, without any issue."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict
from typing import Any

from app.cli_commands import CommandError, load_settings, print_json
from app.config.loader import load_config
from app.config.shipped import config_folder
from app.questions.model import Answer, Inquiry
from app.questions.routing import Router


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `kr ask`."""
    parser.add_argument("role", metavar="ROLE", help="architect, @duc, product, …")
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("--topic", default="", help="decides the threshold, for example security")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """0 with an answer that would be taken, 1 with one that a person would be asked about."""
    from app.agents.protocols import AgentUnavailable
    from app.agents.team import build_team

    settings = load_settings()
    config = load_config(config_folder(settings))
    router = Router(config)
    answerer = router.answerer(args.role)
    if answerer is None or not answerer.startswith("agent/"):
        known = ", ".join(sorted(config.agents.roles))
        raise CommandError(f"{args.role} is nobody here; there are: {known}.", 2)
    role = answerer.removeprefix("agent/")
    inquiry = Inquiry(role=role, topic=args.topic, text=args.question)
    try:
        answer = asyncio.run(build_team(settings).ask(inquiry))
    except AgentUnavailable as error:
        raise CommandError(f"{role} cannot answer: {error}.", 3) from None
    print_json(as_json(answer)) if args.json else print(as_text(answer))
    threshold = router.route(args.topic, role).threshold
    return 0 if answer.confidence >= threshold and threshold < 100 else 1


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as scripts read it; handbooks cost nothing."""
    return {
        "answer": answer.content,
        "rationale": answer.rationale,
        "confidence": answer.confidence,
        "uncertainty_reasons": list(answer.uncertainty_reasons),
        "sources": [asdict(source) for source in answer.sources],
        "backend": answer.backend,
        "model": answer.model or None,
        "cost": {"usd": 0.0, "input_tokens": 0, "output_tokens": 0},
    }


def as_text(answer: Answer) -> str:
    """The answer as people read it."""
    lines = [answer.content, "", f"{answer.confidence} % sure. {answer.rationale}"]
    lines += [f"- unsure: {reason}" for reason in answer.uncertainty_reasons]
    lines += [f"- source: {source.title} ({source.ref})" for source in answer.sources]
    return "\n".join(lines)
