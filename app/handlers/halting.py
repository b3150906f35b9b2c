"""`/pause`, `/resume`, `/stop`, `/retry`: people hold the brake."""

from __future__ import annotations

from dataclasses import replace

from app.actions import DropAgentWork
from app.commands import Pause, Resume, Retry, Stop
from app.events import Commented
from app.features.dispatch import TaskState
from app.features.model import SPECIFIED, FeatureState, Question
from app.handlers.asking import ask
from app.handlers.assign import retry_failed, retry_pull, retry_task, stop_task
from app.handlers.clocks import stopped
from app.handlers.generating import generate_again
from app.handlers.lifecycle import halt, resume
from app.handlers.outcome import (
    DONE,
    Outcome,
    find,
    may_settle,
    named,
    not_allowed,
    refusal,
    triage_only,
)
from app.handlers.specifying import write_specification
from app.handlers.turn import Turn
from app.questions.model import QuestionState
from app.texts import replies


def pause(turn: Turn, command: Pause, event: Commented) -> Outcome:
    """No new question and no clock until `/resume`; answers that come meanwhile are kept."""
    if refused := triage_only(turn, "pause"):
        return refused
    if turn.feature.state is FeatureState.STOPPED:
        return refusal("pause", replies.paused(turn.feature))
    if turn.feature.state is FeatureState.DONE:
        return refusal("pause", "nothing is under way here any more.")
    halt(turn, event.sender.login, f"{event.sender.login} said `/pause`; `/resume` goes on")
    return DONE


def resume_(turn: Turn, command: Resume, event: Commented) -> Outcome:
    """Go on, with the time that was left."""
    if refused := triage_only(turn, "resume"):
        return refused
    if turn.feature.state is not FeatureState.STOPPED:
        return refusal("resume", replies.not_paused())
    if event.issue.closed and not event.issue.pull_request:
        return refusal("resume", "the issue is closed. Reopen it.")
    resume(turn, event.sender.login)
    return DONE


def stop(turn: Turn, command: Stop, event: Commented) -> Outcome:
    """End a conversation, give up a question, or stop the feature."""
    login = event.sender.login
    talking = next((q for q in turn.questions if q.chat_with == login), None)
    if command.question is None and command.task is None and talking is not None:
        turn.record("chat.ended", f"@{login}", talking)
        turn.put(replace(turn.question(talking.number) or talking, chat_with=""))
        return Outcome(replies.chat_ended(talking), changed=True)
    if refused := triage_only(turn, "stop"):
        return refused
    if command.task is not None:
        return stop_task(turn, command.task, event)
    if command.question is None:
        halt(turn, login, f"{login} said `/stop`; `/resume` goes on after all")
        turn.add(DropAgentWork(turn.feature.id))
        turn.update(drafted="")  # what was being written is not coming any more
        for task in turn.tasks:
            if task.state is TaskState.RUNNING:  # done anew if it goes on after all
                turn.put_task(replace(task, state=TaskState.WAITING))
        for asking in turn.questions:
            if asking.state is QuestionState.ASKING:  # asked anew if it goes on after all
                fresh = replace(stopped(asking), state=QuestionState.PENDING)
                turn.put(replace(fresh, since_round=asking.ask_round + 1))
        return DONE
    question = named(turn, "stop", command.question)
    if isinstance(question, Outcome):
        return question
    if question.ended:
        return refusal("stop", replies.not_waiting(question))
    if question.state is QuestionState.ASKING:
        key = f"f{turn.feature.id}:{question.name}:ask:{question.ask_round}"
        turn.add(DropAgentWork(turn.feature.id, key))
    turn.record(
        "human", f"@{login}", question, action="stop", text=command.text, comment=event.comment_id
    )
    question = turn.question(question.number) or question
    turn.put(replace(stopped(question), state=QuestionState.CANCELLED, note=f"{login} gave it up"))
    return DONE


def retry(turn: Turn, command: Retry, event: Commented) -> Outcome:
    """Ask the agents of a question again, or try again what failed last."""
    if command.task is not None:
        return retry_task(turn, command.task, event)
    if command.question is not None:
        return _retry_question(turn, command, event)
    if refused := triage_only(turn, "retry"):
        return refused
    unpaid = [q for q in turn.questions if q.unpaid and q.waits_for_a_person]
    if unpaid:
        turn.record("human", f"@{event.sender.login}", action="retry", comment=event.comment_id)
        turn.update(unpaid="")
        for question in unpaid:
            ask(turn, turn.put(_afresh(turn.question(question.number) or question)))
        return DONE
    if retry_failed(turn, event) or retry_pull(turn, event):
        return DONE
    if turn.feature.unwritten and turn.feature.state in SPECIFIED:
        turn.record("human", f"@{event.sender.login}", action="retry", comment=event.comment_id)
        turn.update(unwritten="", drafted="")
        write_specification(turn)
        return DONE
    if turn.feature.state is not FeatureState.FAILED:
        return refusal("retry", "nothing has failed. `/retry Q3` asks the agent of Q3 again.")
    turn.record("human", f"@{event.sender.login}", action="retry", comment=event.comment_id)
    if any(not question.asker for question in turn.questions):
        return DONE
    generate_again(turn)
    return Outcome()


def _retry_question(turn: Turn, command: Retry, event: Commented) -> Outcome:
    question = find(turn, "retry", command.question, lambda question: True)
    if isinstance(question, Outcome):
        return question
    if not may_settle(turn, question, event):
        return not_allowed("retry", question)
    if not question.waits_for_a_person:
        return refusal("retry", replies.not_waiting(question))
    turn.record(
        "human",
        f"@{event.sender.login}",
        question,
        action="retry",
        comment=event.comment_id,
    )
    question = turn.question(question.number) or question
    ask(turn, turn.put(_afresh(question)))
    return DONE


def _afresh(question: Question) -> Question:
    return replace(question, tried=(), unpaid=False, others=(), since_round=question.ask_round + 1)
