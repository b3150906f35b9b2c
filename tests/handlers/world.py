"""A feature in memory: events in, actions out, state carried from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from app.actions import (
    Action,
    AskAgent,
    CommitFiles,
    DropEffects,
    GenerateQuestions,
    React,
    Record,
    SaveFeature,
    SaveQuestion,
    SaveTask,
    ShowComment,
    ShowLabel,
)
from app.events import (
    AgentAnswered,
    Commented,
    Event,
    FilesCommitted,
    Issue,
    Labeled,
    Person,
    QuestionsGenerated,
)
from app.features.dispatch import ExecutionTask
from app.features.model import Feature, Place, Question
from app.handlers import handle
from app.handlers.facts import Facts, Permission, Policy
from app.questions.model import Answer, Choice, Draft, Routed, Source

PLACE = Place(7, 70, "acme/storefront", 12)
HANDLES = {"architect": "@duc", "product": "@veuve", "security-reviewer": "@duc"}


class Table:
    """Routes by table: topic → what is routed; architect for what is not in it."""

    def __init__(self, rows: dict[str, Routed] | None = None) -> None:
        self.rows = rows or {}

    def route(self, topic: str, target: str | None = None) -> Routed:
        return self.rows.get(topic, routed(topic, "agent/architect", "@duc"))

    def answerer(self, name: str) -> str | None:
        role = {"duc": "architect", "veuve": "product"}.get(name.lstrip("@"), name)
        return f"agent/{role}" if role in HANDLES else None


def routed(topic: str, answerer: str, agent: str | None, threshold: int = 80, **more) -> Routed:
    return Routed(topic, answerer, agent, more.pop("rule", topic), threshold, **more)


def draft(topic: str = "architecture.data", **changes) -> Draft:
    values = {
        "topic": topic,
        "text": f"What about {topic}?",
        "target": "architect",
        "why": "It decides the schema.",
        "choices": (Choice("A", "One table", "Simple."), Choice("B", "Two tables", "Clean.")),
        "recommended": "B",
        "category": "data",
    }
    return Draft(**{**values, **changes})


def answer(confidence: int = 92, **changes) -> Answer:
    values = {
        "content": "B: Two tables. Keep what changes apart from what does not.",
        "rationale": "The handbook says so.",
        "confidence": confidence,
        "uncertainty_reasons": () if confidence > 80 else ("The passage is about files.",),
        "sources": (Source("Data modelling", "architect/data.md#tables", "Keep them apart."),),
        "backend": "retrieval",
    }
    return Answer(**{**values, **changes})


@dataclass
class World:
    """One issue and its feature, as the database would hold it."""

    table: Table = field(default_factory=Table)
    feature: Feature | None = field(default_factory=lambda: Feature(1, PLACE))
    questions: dict[int, Question] = field(default_factory=dict)
    tasks: dict[str, ExecutionTask] = field(default_factory=dict)
    log: list[Record] = field(default_factory=list)
    shown: dict[str, ShowComment] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    dropped: bool = False
    comments: str = "all"
    counter: int = 100
    now: datetime = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
    handles: dict[str, str] = field(default_factory=lambda: HANDLES)
    policy: dict[str, Any] = field(default_factory=dict)
    """Further fields of the policy."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further facts."""

    def send(self, event: Event, permission: Permission = Permission.TRIAGE) -> list[Action]:
        facts = Facts(
            now=self.now,
            policy=Policy(self.table, self.handles, 6, self.comments, **self.policy),
            permission=permission,
            feature=self.feature,
            questions=tuple(self.questions[n] for n in sorted(self.questions)),
            tasks=tuple(self.tasks.values()),
            next_seq=len(self.log) + 1,
            **self.facts,
        )
        self.actions = handle(event, facts)
        for action in self.actions:
            match action:
                case SaveFeature():
                    self.feature = action.feature
                case SaveQuestion():
                    self.questions[action.question.number] = action.question
                case SaveTask():
                    self.tasks[action.task.name] = action.task
                case Record():
                    assert action.seq == len(self.log) + 1
                    assert all(0 < link < action.seq for link in action.links)
                    self.log.append(action)
                case ShowComment():
                    self.shown[action.key] = action
                case DropEffects():
                    self.dropped = True
        return self.actions

    def issue(self, **changes) -> Issue:
        issue = Issue(
            place=PLACE,
            title="Let customers export their order history",
            body="Customers ask for their orders as a file.",
            author="rosa",
            labels=("feature",),
        )
        return replace(issue, **changes)

    def label(self, name: str = "feature", by: str = "mara", **kwargs) -> list[Action]:
        issue = self.issue(labels=(name,), **kwargs.pop("issue", {}))
        return self.send(Labeled("d-label", Person(by), issue, name), **kwargs)

    def generate(self, *drafts: Draft, **changes) -> list[Action]:
        run = self.feature.run if self.feature else 1
        event = QuestionsGenerated(1, run, tuple(drafts), "checklist")
        return self.send(replace(event, **changes))

    def answer(self, number: int, given: Answer | None = None, **changes) -> list[Action]:
        question = self.questions[number]
        event = AgentAnswered(1, number, question.ask_round, question.ask_role or "", given)
        return self.send(replace(event, **changes))

    def say(self, body: str, by: str = "mara", permission=Permission.TRIAGE, **changes):
        self.counter += 1
        event = Commented(f"d-{self.counter}", Person(by), self.issue(), self.counter, body)
        return self.send(replace(event, **changes), permission)

    def committed(self, revision: int | None = None) -> list[Action]:
        wanted = revision or (self.feature.spec_revision if self.feature else 1)
        return self.send(FilesCommitted(1, wanted, "c0ffee" * 6))

    def of(self, kind: type) -> list:
        return [action for action in self.actions if isinstance(action, kind)]

    def reactions(self) -> list[str]:
        return [action.content for action in self.of(React)]

    def replies(self) -> list[str]:
        return [c.body.partition("\n")[2] for c in self.of(ShowComment) if ":reply" in f":{c.key}"]

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.log]

    def entry(self, kind: str) -> Record:
        return [entry for entry in self.log if entry.kind == kind][-1]

    def label_shown(self) -> str | None:
        return self.of(ShowLabel)[-1].label


def started(*drafts: Draft, table: Table | None = None, label: str = "feature") -> World:
    """A world whose feature has its questions asked."""
    world = World(table or Table())
    world.label(label)
    world.generate(*(drafts or (draft(),)))
    return world


def escalated(confidence: int = 65, table: Table | None = None) -> World:
    """A world in which Q1 waits for a person, with a tentative answer."""
    world = started(table=table)
    world.answer(1, answer(confidence))
    return world


__all__ = [
    "PLACE",
    "AskAgent",
    "CommitFiles",
    "GenerateQuestions",
    "Table",
    "World",
    "answer",
    "draft",
    "escalated",
    "routed",
    "started",
]
