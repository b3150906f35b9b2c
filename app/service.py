"""`KnowledgeRouterService`: the nine methods of specs/1, for the REST API, the CLI and embedders.

It decides nothing itself: every method is an event for the same handlers that GitHub's events
go to, in one transaction, and returns what is so afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from app.config.problems import ConfigInvalid
from app.deciding import load_of
from app.events import AgentAnswered, Commented, OwnEvent, QuestionAsked, ToPeople
from app.features.model import FULL, Feature, FeatureState, Question
from app.handlers import handle
from app.intake import carry_out
from app.policies import Policies
from app.questions.model import Answer, Draft, QuestionState
from app.service_parts import (
    comment,
    facts_of,
    handle_of,
    one_command,
    parts,
    question_of,
    request_of,
    task_handle,
    task_of,
    task_status,
    thread_of,
    wanted,
)
from app.service_types import (
    Accepted,
    AcceptedOrEscalate,
    AgentHandle,
    AgentStatus,
    EscalationRequest,
    FinalAnswer,
    HumanResponse,
    NewQuestion,
    NotFound,
    Refused,
    RetroReport,
    Rule,
)
from app.store import log, outbox, threads
from app.store.engine import Engine
from app.store.layers import Layers
from app.store.threads import Thread

_COMMANDS = {"confirm": "/confirm", "correct": "/correct", "add_context": "/context"}


class KnowledgeRouterService:
    """One for a process; methods block for as long as the database takes.

    After the commit `ring` is told the queues in which there is work, `publish` what happened.
    """

    def __init__(
        self,
        engine: Engine,
        policies: Policies,
        ring: Callable[[str], object] = lambda queue: None,
        publish: Callable[[Sequence[dict[str, Any]]], object] = lambda events: None,
    ) -> None:
        self._engine = engine
        self._policies = policies
        self._ring = ring
        self._publish = publish

    def route_question(self, question: NewQuestion, by: str) -> AgentHandle:
        """Route a question and put it to whoever answers. Raises `NotFound`, `Refused`."""
        if not question.topic.strip() or not question.text.strip():
            raise Refused("A question needs a topic and a text.")
        draft = Draft(
            topic=question.topic,
            text=question.text,
            target=question.target,
            context=question.context,
            why=question.why,
            choices=question.choices,
            recommended=question.recommended,
        )
        with self._engine.connect() as connection:
            thread = thread_of(connection, question.feature)
        if thread.feature.state is FeatureState.GONE:
            raise Refused(f"{question.feature} is gone: its issue was deleted or transferred.")
        if len(thread.questions) >= FULL:
            raise Refused(f"{question.feature} has {FULL} questions: open another issue.")
        after = self._decide(thread, QuestionAsked(thread.feature.id, draft, by))
        return handle_of(after.questions[-1])

    def submit_answer(self, handle: AgentHandle | str, answer: Answer) -> AcceptedOrEscalate:
        """Judge an agent's answer by the threshold. Raises `NotFound`, `Refused`."""
        if not 0 <= answer.confidence <= 100:
            raise Refused("The confidence is a whole number from 0 to 100.")
        gid, round_ = parts(str(handle))
        thread, question = self._find(gid)
        if question.state is not QuestionState.ASKING or round_ not in {None, question.ask_round}:
            raise Refused(f"{gid} waits for no such answer: it is {question.state.value}.")
        role = question.ask_role or answer.agent or "agent"
        event = AgentAnswered(thread.feature.id, question.number, question.ask_round, role, answer)
        after = question_of(self._decide(thread, event), question.number)
        if after.settled:
            return Accepted(gid, after.answer, after.source)
        return request_of(after)

    def escalate_to_human(self, gid: str, because: str, by: str) -> EscalationRequest:
        """Put a question to a person, whatever its agent says. Raises `NotFound`, `Refused`."""
        thread, question = self._find(gid)
        if question.ended:
            raise Refused(f"{gid} is {question.state.value}.")
        if thread.feature.state is FeatureState.STOPPED:
            raise Refused(f"{thread.feature.place} is paused: {thread.feature.stopped_because}.")
        event = ToPeople(thread.feature.id, question.number, because, by)
        return request_of(question_of(self._decide(thread, event), question.number))

    def handle_human_response(self, gid: str, response: HumanResponse) -> FinalAnswer:
        """Confirm, correct or add context, as with the commands. Raises `NotFound`, `Refused`."""
        thread, question = self._find(gid)
        ref = f"{question.name}@{response.digest}" if response.digest else question.name
        text = response.text.replace("\r", "")
        if response.action != "confirm" and not text.strip():
            raise Refused(f"{response.action} needs a text.")
        body = f"{_COMMANDS[response.action]} {ref} {one_command(text)}"
        event = comment(thread.feature, response.by, body)
        after = question_of(self._decide(thread, event), question.number)
        return FinalAnswer(
            gid,
            after.settled,
            after.state.value,
            after.answer if after.settled else "",
            after.source if after.settled else "",
            after.validated_by if after.settled else None,
        )

    def dispatch_task(self, feature: str, task: str, role: str, by: str) -> AgentHandle:
        """Give a task to an execution role, as `/assign` does. Raises `NotFound`, `Refused`.

        It starts when all that comes before it is done.
        """
        with self._engine.connect() as connection:
            thread = thread_of(connection, feature)
        known = task_of(thread, task)
        handle = self._policies.known(thread.feature.place.repo).handles.get(role)
        if handle is None:
            raise Refused(f"{role} is no role of the roster.")
        event = comment(thread.feature, by, f"/assign {known.name} {handle}")
        after = self._decide(thread, event)
        return task_handle(after, task_of(after, known.name))

    def get_qa_log(self, feature: str) -> list[log.Entry]:
        """The whole log of a feature, in order. Raises `NotFound`."""
        with self._engine.connect() as connection:
            return log.entries(connection, thread_of(connection, feature).feature.id)

    def generate_retro(self, feature: str) -> RetroReport:
        """The figures of a feature. Raises `NotFound`."""
        from app.retro.figures import figures

        with self._engine.connect() as connection:
            thread = thread_of(connection, feature)
            entries = log.entries(connection, thread.feature.id)
        return figures(str(thread.feature.place), thread.questions, entries)

    def configure_routing(self, rules: Sequence[Rule], by: str) -> int:
        """Put rules before the server's, in place of those set before; none takes them away.

        In force within ten seconds. Returns their revision. Raises `Refused` with every mistake.
        """
        try:
            self._policies.try_rules(rules, by)
        except ConfigInvalid as error:
            raise Refused("; ".join(str(problem) for problem in error.errors)) from error
        return Layers(self._engine).set_rules(rules, by)

    def get_agent_status(self, handle: AgentHandle | str) -> AgentStatus:
        """Where the asking, or the task, stands. Raises `NotFound`."""
        if "#" in str(handle):
            return self._task_status(str(handle))
        gid, round_ = parts(str(handle))
        thread, question = self._find(gid)
        number = round_ if round_ is not None else question.ask_round
        if number != question.ask_round or question.state is not QuestionState.ASKING:
            return self._past(thread.feature.id, question, number)
        key = f"f{thread.feature.id}:{question.name}:ask:{number}"
        with self._engine.connect() as connection:
            held = outbox.is_held(connection, key)
        return AgentStatus.RUNNING if held else AgentStatus.QUEUED

    def _task_status(self, handle: str) -> AgentStatus:
        about, _, run = handle.rpartition(":")
        feature, _, name = about.rpartition("/")
        with self._engine.connect() as connection:
            thread = thread_of(connection, feature)
            task = task_of(thread, name)
            key = f"f{thread.feature.id}:{task.name}:run:{task.run}"
            held = outbox.is_held(connection, key)
        return task_status(task, int(run) if run.isdigit() else None, held=held)

    def question(self, gid: str) -> tuple[Feature, Question]:
        """A question by its global name. Raises `NotFound`."""
        thread, question = self._find(gid)
        return thread.feature, question

    def _past(self, feature_id: int, question: Question, number: int) -> AgentStatus:
        """What became of a round of asking that is over, from the log."""
        if question.state is QuestionState.CANCELLED:
            return AgentStatus.CANCELLED
        with self._engine.connect() as connection:
            entries = log.entries(connection, feature_id)
        found = AgentStatus.CANCELLED
        for entry in entries:
            if entry.question != question.name:
                continue
            if entry.kind == "answer" and entry.data.get("round") == number:
                return AgentStatus.ANSWERED
            if entry.kind == "agent.failed" and entry.data.get("round") == number:
                late = "no answer within" in str(entry.data.get("error"))
                found = AgentStatus.TIMEOUT if late else AgentStatus.FAILED
            if entry.kind == "timeout" and entry.data.get("round") == number:
                found = AgentStatus.TIMEOUT
        return found

    def _find(self, gid: str) -> tuple[Thread, Question]:
        with self._engine.connect() as connection:
            found = threads.feature_of(connection, gid)
            if found is None:
                raise NotFound(f"There is no question {gid}. `/questions` shows their ids.")
            thread = threads.read_by_id(connection, found[0])
        return thread, question_of(thread, found[1])

    def _decide(self, thread: Thread, event: OwnEvent | Commented) -> Thread:
        """Have the handlers decide, store it, and return the thread as it is then."""
        policy = self._policies.known(thread.feature.place.repo)
        now = datetime.now(UTC)
        with self._engine.begin() as connection:
            locked = threads.lock_by_id(connection, thread.feature.id) or thread
            facts = replace(facts_of(locked, policy, now), load=load_of(connection, policy, locked))
            actions = wanted(handle(event, facts))
            done = carry_out(connection, actions, locked, policy, now)
            after = threads.read_by_id(connection, thread.feature.id)
        for queue in done.queues:
            self._ring(queue)
        self._publish(done.events)
        return after
