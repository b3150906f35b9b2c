"""One frozen record per command, named as it is typed. A closed union: `Command`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.commands.refs import QuestionRef


@dataclass(frozen=True, slots=True)
class Confirm:
    """The tentative answer is right."""

    name: ClassVar[str] = "confirm"
    question: QuestionRef | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Correct:
    """`text` is the answer instead."""

    name: ClassVar[str] = "correct"
    text: str
    question: QuestionRef | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Ask the agent again, knowing `text`."""

    name: ClassVar[str] = "context"
    text: str
    question: QuestionRef | None = None


@dataclass(frozen=True, slots=True)
class Chat:
    """Talk with @baron about one question."""

    name: ClassVar[str] = "chat"
    question: QuestionRef | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """Have the question in `text` routed by its topic."""

    name: ClassVar[str] = "ask"
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Questions:
    """List questions of a status, or show one."""

    name: ClassVar[str] = "questions"
    question: QuestionRef | None = None
    status: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a question that waits."""

    name: ClassVar[str] = "answer"
    question: QuestionRef
    text: str


@dataclass(frozen=True, slots=True)
class Route:
    """Have another agent answer."""

    name: ClassVar[str] = "route"
    question: QuestionRef
    agent: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Delegate:
    """Have another person answer."""

    name: ClassVar[str] = "delegate"
    question: QuestionRef
    person: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Snooze:
    """Ask again later."""

    name: ClassVar[str] = "snooze"
    question: QuestionRef
    duration: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """Explain how an answer came about."""

    name: ClassVar[str] = "why"
    question: QuestionRef
    text: str = ""


@dataclass(frozen=True, slots=True)
class Retro:
    """Write the retrospective."""

    name: ClassVar[str] = "retro"
    focus: str | None = None


@dataclass(frozen=True, slots=True)
class Learn:
    """List, approve, edit or reject what was learned."""

    name: ClassVar[str] = "learn"
    action: str
    learning: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Secretary:
    """Find who can do what `text` asks for."""

    name: ClassVar[str] = "secretary"
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Write the plan."""

    name: ClassVar[str] = "plan"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tasks:
    """Write the tasks."""

    name: ClassVar[str] = "tasks"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """Start building."""

    name: ClassVar[str] = "go"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a task to a person."""

    name: ClassVar[str] = "assign"
    task: str
    person: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Allow:
    """Allow a change outside an agent's scope."""

    name: ClassVar[str] = "allow"
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Review:
    """Review the pull request."""

    name: ClassVar[str] = "review"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Apply:
    """Carry out a recommendation of the retrospective."""

    name: ClassVar[str] = "apply"
    recommendation: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """Say where things stand."""

    name: ClassVar[str] = "status"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """Show the configuration in force."""

    name: ClassVar[str] = "config"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing until `/resume`."""

    name: ClassVar[str] = "pause"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on after a pause."""

    name: ClassVar[str] = "resume"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """Give up a question, a task, or the feature."""

    name: ClassVar[str] = "stop"
    question: QuestionRef | None = None
    task: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """Try a question, a task, or the last step again."""

    name: ClassVar[str] = "retry"
    question: QuestionRef | None = None
    task: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Help:
    """List the commands."""

    name: ClassVar[str] = "help"
    text: str = ""


Command = (
    Confirm
    | Correct
    | Context
    | Chat
    | Ask
    | Questions
    | Answer
    | Route
    | Delegate
    | Snooze
    | Why
    | Retro
    | Learn
    | Secretary
    | Plan
    | Tasks
    | Go
    | Assign
    | Allow
    | Review
    | Apply
    | Status
    | Config
    | Pause
    | Resume
    | Stop
    | Retry
    | Help
)
