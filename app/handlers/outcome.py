"""What came of one command, and how the question it means is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.commands import QuestionRef
from app.events import Commented
from app.features.model import FeatureState, Question
from app.handlers.facts import Permission
from app.handlers.turn import Turn
from app.texts import replies


@dataclass(frozen=True, slots=True)
class Outcome:
    """`said` goes into the reply, `refused` makes it 😕, `changed` has the pictures redrawn."""

    said: str = ""
    refused: bool = False
    changed: bool = False


DONE = Outcome(changed=True)


def refusal(command: str, why: str) -> Outcome:
    """The command was not carried out; `why` says what to do instead."""
    return Outcome(replies.refused(command, why), refused=True)


def waits_for_a_person(question: Question) -> bool:
    return question.waits_for_a_person


def named(turn: Turn, command: str, ref: QuestionRef) -> Question | Outcome:
    """The question that a command names, whatever state the feature is in."""
    for question in turn.questions:
        if question.number == ref.number or (ref.gid and question.gid == ref.gid):
            if ref.digest and not question.digest.startswith(ref.digest):
                return refusal(command, replies.stale(question))
            return question
    return refusal(command, replies.no_such_question(str(ref), turn.questions))


def find(
    turn: Turn, command: str, ref: QuestionRef | None, meant: Callable[[Question], bool]
) -> Question | Outcome:
    """The question a command means: the one named, else the only one that is `meant`."""
    if turn.feature.state is FeatureState.STOPPED:
        return refusal(command, replies.paused(turn.feature))
    if ref is not None:
        return named(turn, command, ref)
    candidates = [question for question in turn.questions if meant(question)]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        return refusal(command, replies.nothing_open())
    return refusal(command, replies.which_one(command, candidates))


def was_asked(turn: Turn, question: Question, login: str) -> bool:
    """Whether it is this person's to answer, by name or as a member of the team."""
    asked = (question.asked or "").lower()
    return login.lower() == asked or asked in turn.facts.teams


def may_settle(turn: Turn, question: Question, event: Commented) -> bool:
    """Whoever was asked, and everybody who may triage."""
    if turn.facts.permission >= Permission.TRIAGE:
        return True
    return was_asked(turn, question, event.sender.login)


def not_allowed(command: str, question: Question) -> Outcome:
    asked = f"{question.asked} (who was asked)" if question.asked else "whoever is asked"
    return refusal(command, replies.may_not(f"{asked} and people who may triage here"))


def triage_only(turn: Turn, command: str) -> Outcome | None:
    """A refusal for whoever may not triage here."""
    if turn.facts.permission >= Permission.TRIAGE:
        return None
    return refusal(command, replies.may_not("people who may triage here"))
