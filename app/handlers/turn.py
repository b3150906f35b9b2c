"""One turn of a feature: collects what was decided, and knows the state after each decision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.actions import Action, Effect, Record, SaveFeature, SaveQuestion, SaveTask
from app.features.dispatch import ExecutionTask
from app.features.model import Feature, FeatureState, Place, Question
from app.handlers.facts import Facts, Load


class Turn:
    """Decisions about one feature, in order. `actions()` is what the handler returns."""

    def __init__(self, facts: Facts, feature: Feature) -> None:
        self.facts = facts
        self._before = feature
        self.feature = feature
        self._questions_before = {question.number: question for question in facts.questions}
        self._questions = dict(self._questions_before)
        self._tasks_before = {task.name: task for task in facts.tasks}
        self._tasks = dict(self._tasks_before)
        self._seq = facts.next_seq
        self._records: list[Record] = []
        self._effects: dict[str, Effect] = {}
        self._others: list[Action] = []
        self._load = dict(facts.load)

    @property
    def next_seq(self) -> int:
        """The number of the next log entry: a name that no other turn gives."""
        return self._seq

    @property
    def place(self) -> Place:
        return self.feature.place

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(self._questions[number] for number in sorted(self._questions))

    def question(self, number: int) -> Question | None:
        return self._questions.get(number)

    @property
    def tasks(self) -> tuple[ExecutionTask, ...]:
        """In the order of tasks.md."""
        return tuple(sorted(self._tasks.values(), key=lambda task: task.place))

    def task(self, name: str) -> ExecutionTask | None:
        return self._tasks.get(name)

    def put_task(self, task: ExecutionTask) -> ExecutionTask:
        """Save a task, new or changed."""
        self._tasks[task.name] = task
        return task

    def record_task(self, kind: str, actor: str, task: ExecutionTask, **data: Any) -> ExecutionTask:
        """Write a log entry about a task, linked to the newest one about it."""
        seq = self._seq
        self._seq += 1
        links = (task.entry,) if task.entry else ()
        told = {"task": task.name, **data}
        self._records.append(Record(self.feature.id, seq, kind, actor, None, told, links))
        return self.put_task(replace(task, entry=seq))

    def load_of(self, who: str) -> Load:
        """What a person or team has to answer, with what this turn put to them."""
        return self._load.get(who.lower(), Load())

    def asked(self, who: str) -> None:
        """Count one more question for them."""
        load = self.load_of(who)
        self._load[who.lower()] = Load(load.open + 1, load.today + 1)

    def update(self, **changes: Any) -> None:
        """Change the feature."""
        self.feature = replace(self.feature, **changes)

    def enter(self, state: FeatureState) -> None:
        self.feature = replace(self.feature, state=state)

    def put(self, question: Question) -> Question:
        """Save a question, new or changed."""
        self._questions[question.number] = question
        return question

    def record(
        self,
        kind: str,
        actor: str,
        question: Question | None = None,
        **data: Any,
    ) -> int:
        """Write a log entry, linked to the newest one about the same question."""
        seq = self._seq
        self._seq += 1
        links = (question.entry,) if question and question.entry else ()
        name = question.name if question else None
        self._records.append(Record(self.feature.id, seq, kind, actor, name, data, links))
        if question and question.number in self._questions:
            self._questions[question.number] = replace(self._questions[question.number], entry=seq)
        return seq

    def do(self, effect: Effect) -> None:
        """Have something done; the same key again replaces what was decided before."""
        self._effects.pop(effect.key, None)
        self._effects[effect.key] = effect

    def add(self, action: Action) -> None:
        self._others.append(action)

    def actions(self) -> list[Action]:
        """Changed state first, then the log, then the effects."""
        changed: list[Action] = []
        if self.feature != self._before:
            changed.append(SaveFeature(self.feature))
        changed += [
            SaveQuestion(self.feature.id, question)
            for number, question in sorted(self._questions.items())
            if question != self._questions_before.get(number)
        ]
        changed += [
            SaveTask(self.feature.id, task)
            for task in self.tasks
            if task != self._tasks_before.get(task.name)
        ]
        return [*changed, *self._records, *self._others, *self._effects.values()]
