"""Which person or team an answerer of the configuration means on this issue."""

from __future__ import annotations

from app.features.model import Question
from app.handlers.turn import Turn
from app.questions.chain import Rung

ANY_MAINTAINER = "a maintainer"
"""Nobody in particular: whoever may triage may answer, and nobody is mentioned. No login can be
called so."""
_ROLE = "maintainer"


def resolve(turn: Turn, question: Question, rung: Rung) -> str:
    """A login, a team as `owner/slug`, or `a maintainer`.

    Somebody who used `/ask` is never asked back; then a maintainer is.
    """
    if rung.kind == "team":
        return team(turn, rung.name)
    feature = turn.feature
    match rung.name:
        case "requester":
            who = "" if question.person_asking else feature.started_by
            return who or _maintainer(turn, question)
        case "author":
            author = "" if feature.author == question.person_asking else feature.author
            return author or _maintainer(turn, question)
        case "maintainer":
            return _maintainer(turn, question)
        case name:
            return _named(turn, name)


def team(turn: Turn, slug: str) -> str:
    """A team of the organisation that owns the repository."""
    return f"{turn.place.repo.partition('/')[0]}/{slug}"


def _named(turn: Turn, name: str) -> str:
    """A login, or what an alias stands for."""
    meant = turn.facts.policy.people.get(name.lower(), name)
    kind, slash, rest = meant.partition("/")
    if slash and kind == "team":
        return team(turn, rest)
    return rest if slash and kind == "human" else meant


def _maintainer(turn: Turn, question: Question) -> str:
    """Who is configured; else who started the feature, for that one may triage here."""
    configured = turn.facts.policy.people.get(_ROLE)
    if configured:
        return _named(turn, _ROLE)
    started_by = turn.feature.started_by
    return started_by if started_by and started_by != question.person_asking else ANY_MAINTAINER
