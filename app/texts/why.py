"""`/why Q`: what is in the log about a question, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from app.features.model import Question
from app.texts.safe import cell, harmless, one_line

LONGEST = 40_000


class LineLike(Protocol):
    """An entry of the log."""

    @property
    def at(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def actor(self) -> str: ...
    @property
    def data(self) -> Any: ...


def why_text(question: Question, lines: Sequence[LineLike]) -> str:
    """Rule, agent, sources, confidence, threshold, times, cost; newest last."""
    heading = harmless(one_line(question.text, 300), 400)
    rows = [
        f"| {line.at[:19].replace('T', ' ')} | {cell(line.actor.lstrip('@'))}"
        f" | {cell(_what(line))} |"
        for line in lines
    ]
    text = [
        f"**Why {question.name}?** {heading}",
        "",
        _rule(question),
        "",
        "<details><summary>Everything about it, from the log</summary>",
        "",
        "| When (UTC) | Who | What |",
        "|---|---|---|",
    ]
    size = sum(map(len, text))
    for number, row in enumerate(rows):
        size += len(row)
        if size > LONGEST:
            text += ["", f"… and {len(rows) - number} more; `kr log` has all of them."]
            break
        text.append(row)
    return "\n".join([*text, "", "</details>"])


def _rule(question: Question) -> str:
    routed = question.routed
    if routed is None:
        return "It has not been routed yet."
    to = f"**{routed.agent}**" if routed.agent else f"`{routed.answerer}`"
    rule = f"the rule `{one_line(routed.rule, 100)}`"
    if routed.rule == "target":
        rule = "the target that @&#8203;baron suggested"
    elif routed.rule == "default":
        rule = "the default"
    parts = [f"Topic `{one_line(routed.topic, 100)}` went to {to} by {rule}"]
    if routed.note:
        parts.append(f"({one_line(routed.note, 100)})")
    parts.append(f"with {routed.threshold} % needed to be taken without a person")
    chain = " → ".join(f"`{answerer}`" for answerer, _ in routed.escalate_to)
    return " ".join(parts) + (f"; after that {chain}." if chain else ".")


def _what(line: LineLike) -> str:
    data = line.data
    match line.kind:
        case "question":
            return f"asked, topic {data.get('topic')}"
        case "routing":
            note = f" ({data['note']})" if data.get("note") else ""
            return f"routed to {data.get('answerer')} by {data.get('rule')}{note}"
        case "asked":
            return f"{data.get('role')} is asked, round {data.get('round')}"
        case "answer":
            return _answer(data)
        case "escalation":
            return f"{data.get('to')} is asked: {data.get('because')}"
        case "human":
            return one_line(
                f"{data.get('action')}: {data.get('text') or data.get('to') or ''}", 300
            )
        case "settled":
            by = ", validated by a person" if data.get("validated_by") else ""
            return one_line(f"settled: {data.get('answer')} (from {data.get('source')}{by})", 400)
        case "timeout":
            return f"{data.get('who')} did not answer within {data.get('sla')}"
        case "agent.failed":
            return one_line(f"failed: {data.get('error')}", 300)
        case _:
            shown = data.get("because") or data.get("to") or data.get("text") or ""
            return one_line(f"{line.kind}: {shown}".rstrip(": "), 300)


def _answer(data: Any) -> str:
    text = (
        f"{data.get('confidence')} % sure, {data.get('threshold')} % needed, {data.get('verdict')}:"
        f" {one_line(str(data.get('content')), 300)}"
    )
    sources = "; ".join(str(source[1]) for source in data.get("sources", [])[:5])
    if sources:
        text += f" Sources: {sources}."
    if data.get("backend"):
        text += f" By {data['backend']} {data.get('model') or ''}".rstrip() + "."
    cost = data.get("cost")
    if not cost:
        return text + " No cost."
    usd = cost.get("usd")
    spent = "at a price that nobody knows" if usd is None else f"${usd:.4f}"
    read, written = cost.get("input_tokens"), cost.get("output_tokens")
    return f"{text} Cost: {spent} ({read} tokens read, {written} written)."
