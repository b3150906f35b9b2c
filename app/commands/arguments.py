"""From the words after a command's name to the command."""

from __future__ import annotations

import re
from collections.abc import Callable

from app.commands import errors, model
from app.commands.model import Command
from app.commands.refs import (
    QuestionRef,
    a_number,
    bare,
    counted,
    nearly_a_question,
    question_ref,
)
from app.questions import topics
from app.questions.model import QuestionState
from app.texts.safe import visible

FREE_TEXT = frozenset(
    {"correct", "context", "chat", "ask", "answer", "learn", "secretary", "allow"}
)
"""Commands whose text goes on over the lines that follow, up to the next command."""

STATUSES = (*(state.value for state in QuestionState), "all")
ACTIONS = ("list", "approve", "edit", "reject")

_WORD = re.compile(r"[^\S\n]*(\S+)")
_PATH = re.compile(r"[^\S\n]*(?:\"([^\"\n]+)\"|`([^`\n]+)`|(\S+))(?=\s|$)")
_PERSON = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:/[A-Za-z0-9._-]{1,100}|\[bot\])?")
_ANSWERER = re.compile(r"(?:agent|tool)/[a-z0-9][a-z0-9_-]{0,59}")
_DURATION = re.compile(r"(?:[0-9]{1,4}[wdhm]){1,4}", re.IGNORECASE)


class Misread(Exception):
    """The words make no command; the message is for the person who wrote them."""


def unquote(text: str) -> str:
    """The text without one pair of quotation marks, if one pair holds all of it."""
    pairs = {'"': '"', "“": "”"}
    if len(text) < 2 or pairs.get(text[0]) != text[-1]:
        return text
    inner = text[1:-1]
    return inner.strip() if _balanced(inner, text[0]) else text


def _balanced(inner: str, mark: str) -> bool:
    """Whether the marks inside come in pairs: in `"a" or "b"` the outer ones are no pair."""
    depth = 0
    for found in re.finditer('["“”]', inner):
        at = found.start()
        if found.group() == '"':
            opens = at == 0 or inner[at - 1].isspace() or inner[at - 1] in '(["“'
        else:
            opens = found.group() == "“"
        if mark == "“" and found.group() == '"':
            continue
        depth += 1 if opens else -1
        if depth < 0:
            return False
    return True


class Words:
    """What follows a command's name, taken word by word from its first line, then as a text."""

    def __init__(self, name: str, rest: str) -> None:
        self.name = name
        self._rest = rest

    def peek(self) -> str:
        found = _WORD.match(self._rest)
        return visible(found.group(1)) if found else ""

    def skip(self) -> None:
        found = _WORD.match(self._rest)
        self._rest = self._rest[found.end() :] if found else self._rest

    def take(self, what: str) -> str:
        word = self.peek()
        if not word:
            raise self.missing(what)
        self.skip()
        return word

    def text(self) -> str:
        return unquote(self._rest.strip())

    def needed_text(self, what: str) -> str:
        text = self.text()
        if not visible(text).strip():
            raise self.missing(what)
        return text

    def missing(self, what: str) -> Misread:
        return Misread(errors.needs(self.name, what))

    def question(self, *, numbers: bool = True) -> QuestionRef | None:
        """The question, if the next word names one; a word that nearly does is an error.

        With `numbers`, so is a bare `3`; before a text it may begin the text.
        """
        word = self.peek()
        ref = question_ref(word)
        if ref is not None:
            self.skip()
        elif nearly_a_question(word) or (numbers and a_number(word)):
            raise Misread(errors.not_a_question(self.name, word))
        return ref

    def needed_question(self) -> QuestionRef:
        ref = self.question()
        if ref is None:
            raise self.missing("a question")
        return ref

    def answerer(self, what: str) -> str:
        """`@name`, or an agent or tool as in a route: `agent/architect`, `tool/docs`."""
        word = bare(self.peek())
        if not (_PERSON.fullmatch(word) or _ANSWERER.fullmatch(word)):
            raise self.missing(what)
        self.skip()
        return word

    def handle(self, what: str) -> str:
        """`@name`, also of a team or an App."""
        word = bare(self.peek())
        if not _PERSON.fullmatch(word):
            raise self.missing(what)
        self.skip()
        return word

    def number(self, letter: str, what: str, width: int = 1) -> str:
        ref = counted(self.peek(), letter, width)
        if ref is None:
            raise self.missing(what)
        self.skip()
        return ref

    def path(self) -> str:
        """A path, in quotation marks or as code if there are blanks in it."""
        found = _PATH.match(self._rest)
        if not found:
            raise self.missing("a path")
        self._rest = self._rest[found.end() :]
        return visible(next(part for part in found.groups() if part))


def _ask(words: Words) -> Command:
    word = words.take("a topic and a question")
    topic = topics.normalise(bare(word))
    if topic is None:
        raise Misread(f"{errors.echo(word)} is no topic. " + errors.needs("ask", "one first"))
    return model.Ask(topic, words.needed_text("a question after the topic"))


def _questions(words: Words) -> Command:
    ref = words.question()
    word = bare(words.peek()).lower()
    if ref is not None or not word:
        return model.Questions(ref, None, words.text())
    if word not in STATUSES:
        raise Misread(errors.not_one_of("status", word, STATUSES))
    words.skip()
    return model.Questions(None, word, words.text())


def _snooze(words: Words) -> Command:
    ref = words.needed_question()
    duration = bare(words.peek()).lower()
    if not _DURATION.fullmatch(duration) or not re.search("[1-9]", duration):
        raise words.missing("a time such as `30m`, `4h`, `2d` or `1w`")
    words.skip()
    return model.Snooze(ref, duration, words.text())


def _learn(words: Words) -> Command:
    action = bare(words.take("an action")).lower()
    if action not in ACTIONS:
        raise Misread(errors.not_one_of("action", action, ACTIONS))
    if action == "list":
        return model.Learn(action, None, words.text())
    learning = words.number("L", "a learning such as `L3`")
    if action == "approve":
        return model.Learn(action, learning, words.text())
    what = "the new text" if action == "edit" else "a reason"
    return model.Learn(action, learning, words.needed_text(what))


def _target(words: Words) -> tuple[QuestionRef | None, str | None]:
    """Of `/stop` and `/retry`: a question, a task, or neither."""
    task = counted(words.peek(), "T", 3)
    if task is None:
        return words.question(), None
    words.skip()
    return None, task


def _with_task(words: Words) -> Command:
    task = words.number("T", "a task and a person", 3)
    return model.Assign(task, words.handle("a person"), words.text())


READERS: dict[str, Callable[[Words], Command]] = {
    "confirm": lambda words: model.Confirm(words.question(), words.text()),
    "correct": lambda words: _with_text(model.Correct, words),
    "context": lambda words: _with_text(model.Context, words),
    "chat": lambda words: model.Chat(words.question(numbers=False), words.text()),
    "ask": _ask,
    "questions": _questions,
    "answer": lambda words: model.Answer(words.needed_question(), words.needed_text("a text")),
    "route": lambda words: model.Route(
        words.needed_question(), words.answerer("an agent"), words.text()
    ),
    "delegate": lambda words: model.Delegate(
        words.needed_question(), words.handle("a person"), words.text()
    ),
    "snooze": _snooze,
    "why": lambda words: model.Why(words.needed_question(), words.text()),
    "retro": lambda words: model.Retro(words.text() or None),
    "learn": _learn,
    "secretary": lambda words: model.Secretary(words.needed_text("a request")),
    "plan": lambda words: model.Plan(words.text()),
    "tasks": lambda words: model.Tasks(words.text()),
    "go": lambda words: model.Go(words.text()),
    "assign": _with_task,
    "allow": lambda words: model.Allow(words.path(), words.needed_text("a reason")),
    "review": lambda words: model.Review(words.text()),
    "apply": lambda words: model.Apply(
        words.number("R", "a recommendation such as `R2`"), words.text()
    ),
    "status": lambda words: model.Status(words.text()),
    "config": lambda words: model.Config(words.text()),
    "pause": lambda words: model.Pause(words.text()),
    "resume": lambda words: model.Resume(words.text()),
    "stop": lambda words: model.Stop(*_target(words), words.text()),
    "retry": lambda words: model.Retry(*_target(words), words.text()),
    "help": lambda words: model.Help(words.text()),
}


def _with_text(
    command: type[model.Correct] | type[model.Context], words: Words
) -> model.Correct | model.Context:
    question = words.question(numbers=False)
    return command(words.needed_text("a text"), question)


def read(name: str, rest: str) -> Command:
    """The command of this name with these words. Raises Misread."""
    return READERS[name](Words(name, rest))
