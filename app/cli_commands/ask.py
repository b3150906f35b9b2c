"""`kr ask ROLE "question"`: what an agent or a tool would answer, without any issue."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from app.cli_commands import CommandError, load_settings, print_json
from app.config.loader import Config, load_config
from app.config.shipped import config_folder
from app.questions.model import Answer, Cost, Inquiry
from app.questions.routing import Router
from app.texts.question import cost_line

if TYPE_CHECKING:
    from app.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `kr ask`."""
    parser.add_argument("role", metavar="ROLE", help="architect, @duc, product, …")
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("--topic", default="", help="decides the threshold, for example security")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """0 with an answer that would be taken, 1 with one that a person would be asked about."""
    from app.agents.protocols import AgentUnavailable

    settings = load_settings()
    config = load_config(config_folder(settings))
    router = Router(config)
    answerer = router.answerer(args.role)
    if answerer is None or not answerer.startswith("agent/"):
        known = ", ".join(sorted(config.agents.roles))
        raise CommandError(f"{args.role} is nobody here; there are: {known}.", 2)
    role = answerer.removeprefix("agent/")
    capability = router.route(args.topic, role).capability
    model = config.model_for(role, capability)
    inquiry = Inquiry(role, args.topic, args.question, capability=capability, model=model)
    try:
        answer = asyncio.run(_asked(settings, config, inquiry, role, quiet=args.json))
    except AgentUnavailable as error:
        raise CommandError(f"{role} cannot answer: {error}.", 3) from None
    print_json(as_json(answer)) if args.json else print(as_text(answer))
    threshold = router.route(args.topic, role).threshold
    sure = answer.confidence >= threshold and threshold < 100 and not answer.doubt
    return 0 if sure else 1


async def _asked(
    settings: Settings, config: Config, inquiry: Inquiry, role: str, *, quiet: bool
) -> Answer:
    """The answer, with a sign of life on a terminal while it is waited for."""
    from app.agents.building import build_team
    from app.agents.meter import BudgetMeter, MemoryLedger
    from app.agents.models import prices_of
    from app.agents.protocols import Account
    from app.questions.caps import Caps

    caps = Caps(**config.agents.budget.model_dump())
    meter = BudgetMeter(MemoryLedger(), lambda repo: caps, lambda: prices_of(config))
    team = await asyncio.to_thread(build_team, settings, meter)
    account = Account(person="terminal", role=role, key="kr ask")
    waiting = None if quiet else asyncio.create_task(_progress(inquiry.role))
    try:
        answer = await team.ask(inquiry, account=account)
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await team.stop()
    return replace(answer, cost=meter.cost(account.key) or answer.cost)


async def _progress(role: str) -> None:
    """A line that counts the seconds, where somebody looks at it; it is gone when all is done."""
    if not sys.stderr.isatty():
        return
    try:
        for seconds in itertools.count(1):
            await asyncio.sleep(1)
            print(f"\r{role} is thinking … {seconds} s ", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as scripts read it; handbooks cost nothing."""
    cost = answer.cost or Cost()
    return {
        "answer": answer.content,
        "rationale": answer.rationale,
        "confidence": answer.confidence,
        "uncertainty_reasons": list(answer.uncertainty_reasons),
        "sources": [asdict(source) for source in answer.sources],
        "backend": answer.backend,
        "model": answer.model or None,
        "cost": {
            "usd": cost.usd,
            "input_tokens": cost.input_tokens,
            "output_tokens": cost.output_tokens,
        },
    }


def as_text(answer: Answer) -> str:
    """The answer as people read it."""
    lines = [answer.content, "", f"{answer.confidence} % sure. {answer.rationale}"]
    lines += [f"- unsure: {reason}" for reason in answer.uncertainty_reasons]
    lines += [f"- source: {source.title} ({source.ref})" for source in answer.sources]
    if answer.cost is not None:
        lines.append(f"- {answer.model} through {answer.backend}: {cost_line(answer.cost)}")
    return "\n".join(lines)
