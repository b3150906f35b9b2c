"""The small pieces of `KnowledgeRouterService`: what goes into a decision and comes out of it."""

from __future__ import annotations

from datetime import datetime

from app.actions import Action, React, ShowComment
from app.events import Commented, Issue, Person
from app.features.dispatch import ExecutionTask, TaskState
from app.features.model import Feature, Question
from app.handlers.facts import Facts, Permission, Policy
from app.service_types import AgentHandle, AgentStatus, EscalationRequest, NotFound, Refused
from app.store import threads
from app.store.engine import Connection
from app.store.threads import Thread


def facts_of(thread: Thread, policy: Policy, now: datetime) -> Facts:
    """What the handlers know of a call."""
    return Facts(
        now=now,
        policy=policy,
        permission=Permission.TRIAGE,
        feature=thread.feature,
        questions=thread.questions,
        tasks=thread.tasks,
        next_seq=thread.next_seq,
    )


def wanted(actions: list[Action]) -> list[Action]:
    """Without what a comment on GitHub would be answered with. Raises `Refused` for a refusal."""
    kept: list[Action] = []
    for action in actions:
        if (
            isinstance(action, ShowComment)
            and action.key.endswith(":0")
            and action.key.startswith("reply:")
        ):
            said = action.body.partition("\n")[2].strip()
            if "😕" in said:
                raise Refused(said.replace("😕 ", ""))
        elif not (isinstance(action, React) and action.comment_id == 0):
            kept.append(action)
    return kept


def one_command(text: str) -> str:
    """A text in which no line is taken for a further command."""
    return "\n".join(f"\u2060{line}" if line.lstrip().startswith(("/", "@")) else line
                     for line in text.splitlines())  # fmt: skip


def comment(feature: Feature, by: str, body: str) -> Commented:
    """The same as a command on the issue."""
    issue = Issue(feature.place, feature.title, "", feature.author)
    return Commented(f"api:{feature.id}", Person(by), issue, 0, body)


def thread_of(connection: Connection, feature: str) -> Thread:
    """The feature of that name. Raises `NotFound`."""
    repo, _, number = feature.rpartition("#")
    is_number = number.isascii() and number.isdecimal() and len(number) < 19
    thread = threads.read(connection, repo, int(number)) if is_number and repo else None
    if thread is None:
        raise NotFound(f"There is no feature {feature}: name it as owner/repo#N.")
    return thread


def question_of(thread: Thread, number: int) -> Question:
    """The question of that number."""
    return next(question for question in thread.questions if question.number == number)


def parts(handle: str) -> tuple[str, int | None]:
    """`gid:round`, the round None if it is not named."""
    gid, _, round_ = handle.partition(":")
    return gid, int(round_) if round_.isdigit() else None


def handle_of(question: Question) -> AgentHandle:
    """Who has it now."""
    answerer = question.routed.answerer if question.routed else ""
    return AgentHandle(question.gid, question.ask_round, answerer)


def request_of(question: Question) -> EscalationRequest:
    """All that a person needs to decide."""
    return EscalationRequest(
        question=question.gid,
        digest=question.digest,
        text=question.text,
        why=question.why,
        context=question.context,
        choices=question.choices,
        recommended=question.recommended,
        asked=question.asked or "",
        because=question.note,
        deadline=question.clock.deadline,
        tentative=question.tentative,
        others=question.others,
        added=tuple((added.by, added.text) for added in question.added),
    )


def task_of(thread: Thread, name: str) -> ExecutionTask:
    """The task of that name. Raises `NotFound`."""
    found = next((task for task in thread.tasks if task.name == name), None)
    if found is None:
        raise NotFound(f"{thread.feature.place} has no task {name}; `/tasks` shows what there is.")
    return found


def task_handle(thread: Thread, task: ExecutionTask) -> AgentHandle:
    """Who has a task: `owner/repo#12/T003`, and which run of it."""
    answerer = f"agent/{task.role}" if task.role else f"human/{task.person or 'anybody'}"
    return AgentHandle(f"{thread.feature.place}/{task.name}", task.run, answerer)


_STATUS = {
    TaskState.WAITING: AgentStatus.QUEUED,
    TaskState.RUNNING: AgentStatus.QUEUED,
    TaskState.LANDING: AgentStatus.RUNNING,
    TaskState.REVIEW: AgentStatus.ANSWERED,
    TaskState.DONE: AgentStatus.ANSWERED,
    TaskState.FAILED: AgentStatus.FAILED,
    TaskState.OFFERED: AgentStatus.FAILED,
}


def task_status(task: ExecutionTask, run: int | None, *, held: bool) -> AgentStatus:
    """Where a run of a task stands; `held` says whether somebody is at work on it just now."""
    if run not in {None, task.run}:
        return AgentStatus.CANCELLED  # another run has taken its place
    if task.state is TaskState.RUNNING and held:
        return AgentStatus.RUNNING
    return _STATUS.get(task.state, AgentStatus.CANCELLED)
