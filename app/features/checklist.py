"""@baron without a model: asks from the bank what the issue leaves open, most worthwhile first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.features.bank import Bank, Entry
from app.features.coverage import Embed, Scan
from app.features.types import FeatureRequest
from app.questions.model import Draft

_SPREAD = 0.75
"""What a further question of the same category counts, so that one topic does not take all."""
_GENERAL = 0.5
"""What a question that fits every issue counts beside one that this issue brings up."""


@dataclass(frozen=True, slots=True)
class _Open:
    entry: Entry
    quote: str
    uncertainty: float

    @property
    def worth(self) -> float:
        general = 1.0 if self.entry.triggers else _GENERAL
        return self.entry.impact * self.uncertainty * general


class Checklist:
    """A coverage scan over the bank."""

    def __init__(self, bank: Bank, embed: Embed) -> None:
        self._bank = bank
        self._embed = embed

    def look(self, request: FeatureRequest, limit: int) -> list[Draft]:
        """At most `limit` questions, none that the issue answers, dependents after what they need.

        Takes a while on a long issue: a few milliseconds a sentence.
        """
        scan = Scan(request.title, request.body, self._embed)
        found = []
        for entry in self._bank.entries:
            if request.type not in entry.types:
                continue
            coverage = scan.of(entry)
            if coverage.relevant is not None and coverage.answered is None:
                quote = coverage.relevant if entry.triggers else ""
                found.append(_Open(entry, quote, coverage.uncertainty))
        chosen = _in_order(_most_worthwhile(found, limit))
        places = {one.entry.id: number for number, one in enumerate(chosen, start=1)}
        return [_draft(one, places) for one in chosen]


def _most_worthwhile(found: Sequence[_Open], limit: int) -> list[_Open]:
    """Greedy by impact × uncertainty, later ones of a category counting less."""
    left = list(found)
    chosen: list[_Open] = []
    asked: dict[str, int] = {}
    while left and len(chosen) < limit:
        best = max(left, key=lambda one: one.worth * _SPREAD ** asked.get(one.entry.category, 0))
        left.remove(best)
        chosen.append(best)
        asked[best.entry.category] = asked.get(best.entry.category, 0) + 1
    return chosen


def _in_order(chosen: Sequence[_Open]) -> list[_Open]:
    """What others depend on first; otherwise as chosen. A cycle is broken where it is met."""
    by_id = {one.entry.id: one for one in chosen}
    done: dict[str, _Open] = {}

    def visit(one: _Open, above: frozenset[str]) -> None:
        if one.entry.id in done or one.entry.id in above:
            return
        for other in one.entry.depends_on:
            if other in by_id:
                visit(by_id[other], above | {one.entry.id})
        done[one.entry.id] = one

    for one in chosen:
        visit(one, frozenset())
    return list(done.values())


def _draft(one: _Open, places: dict[str, int]) -> Draft:
    entry = one.entry
    here = places[entry.id]
    before = (places[other] for other in entry.depends_on if other in places)
    return Draft(
        topic=entry.topic,
        text=entry.question,
        target=entry.target,
        context=f"“{one.quote[:300]}”" if one.quote else "",
        why=entry.why,
        choices=entry.choices,
        recommended=entry.recommended,
        depends_on=tuple(sorted(place for place in before if place < here)),
        impact=entry.impact,
        uncertainty=round(one.uncertainty, 3),
        category=entry.category,
    )
