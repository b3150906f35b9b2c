"""Who is asked after whom: a rule's answerer, then `escalate_to`, then always a person."""

from __future__ import annotations

from dataclasses import dataclass

from app.questions.model import Routed

PEOPLE = ("human", "team")
LAST = "human/requester"


@dataclass(frozen=True, slots=True)
class Rung:
    """One answerer of the chain, and how long it has (`4h`)."""

    answerer: str
    sla: str

    @property
    def kind(self) -> str:
        """`agent`, `team`, `human` or `tool`."""
        return self.answerer.partition("/")[0]

    @property
    def name(self) -> str:
        return self.answerer.partition("/")[2]

    @property
    def is_people(self) -> bool:
        return self.kind in PEOPLE


def chain(routed: Routed, default_sla: str) -> tuple[Rung, ...]:
    """The whole chain of a decision (specs/2). Without any person in it, the requester ends it."""
    rungs = [Rung(routed.answerer, routed.sla or default_sla)]
    rungs += [Rung(answerer, sla or default_sla) for answerer, sla in routed.escalate_to]
    if not any(rung.is_people for rung in rungs):
        rungs.append(Rung(LAST, default_sla))
    return tuple(rungs)


def first_people(rungs: tuple[Rung, ...], start: int = 0) -> int | None:
    """Number of the first person or team at or after `start`; None if there is none."""
    return next((n for n, rung in enumerate(rungs) if n >= start and rung.is_people), None)
