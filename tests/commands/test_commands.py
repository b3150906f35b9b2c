"""The closed union, its table, and the arguments of each command."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from typing import assert_never, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import commands
from app.commands import SPECS, Command, QuestionRef, RefKind, Where, Who, parse, render
from app.commands.arguments import FREE_TEXT, READERS
from app.commands.errors import nearest
from app.commands.refs import counted, guess, question_ref

Q3 = QuestionRef(RefKind.NUMBER, 3)


def one(body: str) -> Command:
    parsed = parse(body)
    assert parsed.errors == ()
    (located,) = parsed.commands
    return located.command


def spoken(command: Command) -> str:
    """A `match` like the handlers': a command that is added fails mypy here."""
    match command:
        case commands.Confirm() | commands.Chat() | commands.Why():
            return str(command.question)
        case commands.Correct() | commands.Context() | commands.Answer():
            return command.text
        case commands.Ask():
            return command.topic
        case commands.Questions():
            return command.status or ""
        case commands.Route():
            return command.agent
        case commands.Delegate() | commands.Assign():
            return command.person
        case commands.Snooze():
            return command.duration
        case commands.Retro():
            return command.focus or ""
        case commands.Learn():
            return command.action
        case commands.Secretary() | commands.Plan() | commands.Tasks() | commands.Go():
            return command.text
        case commands.Allow():
            return command.path
        case commands.Apply():
            return command.recommendation
        case commands.Stop() | commands.Retry():
            return command.task or ""
        case (
            commands.Review()
            | commands.Status()
            | commands.Config()
            | commands.Pause()
            | commands.Resume()
            | commands.Help()
        ):
            return command.text
        case _:
            assert_never(command)


def test_every_command_has_its_row() -> None:
    names = [command.name for command in get_args(Command)]
    assert names == list(SPECS)
    assert names == list(READERS)
    assert set(SPECS) >= FREE_TEXT
    assert len(names) == 28
    for command in get_args(Command):
        assert command.__name__.lower() == command.name
        assert command.__name__ in commands.__all__


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.name)
def test_the_example_is_the_command(spec: commands.CommandSpec) -> None:
    command = one(spec.example)
    assert command.name == spec.name
    assert render(command) == spec.example
    assert isinstance(spoken(command), str)
    assert spec.usage.startswith(f"/{spec.name}")
    assert spec.summary.endswith(".")
    assert isinstance(spec.who, Who)
    assert isinstance(spec.where, Where)
    for address in ("/baron ", "@baron ", "@baron /"):
        assert one(address + spec.example[1:]) == command


def test_available_now() -> None:
    available = {name for name, spec in SPECS.items() if spec.available}
    later = {"retro", "learn", "secretary"}
    assert available == set(SPECS) - later - {"apply"}


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        one("/help").text = "x"  # type: ignore[union-attr,misc]


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("Q3", "Q3"),
        ("q3", "Q3"),
        ("Q03", "Q3"),
        ("Q3:", "Q3"),
        ("`Q3`", "Q3"),
        ("Q3@a1b2", "Q3@a1b2"),
        ("q3@A1B2C3", "Q3@a1b2c3"),
        ("q-abc123", "q-abc123"),
        ("Q-ABC123", "q-abc123"),
        ("Q0", None),
        ("Q", None),
        ("Q1234567", None),
        ("Q3@a1b", None),
        ("Q3@wxyz", None),
        ("q-abc12", None),
        ("Q٣", None),
        ("3", None),
    ],
)
def test_question_ref(word: str, shown: str | None) -> None:
    ref = question_ref(word)
    assert (str(ref) if ref else None) == shown


def test_counted() -> None:
    assert counted("t12", "T", 3) == "T012"
    assert counted("T0001234", "T", 3) == "T1234"
    assert counted("L3.", "L") == "L3"
    assert counted("R3", "L") is None
    assert counted("T0", "T") is None


def test_guess() -> None:
    assert [guess(word) for word in ("3", "Q-7@x", "q", "0")] == ["Q3", "Q7", "Q3", "Q1"]


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/questions", commands.Questions()),
        ("/questions Answered please", commands.Questions(None, "answered", "please")),
        ("/questions Q3", commands.Questions(Q3)),
        ("/chat", commands.Chat()),
        ("/chat 3 things", commands.Chat(None, "3 things")),
        ("/route q3 @duc, please", commands.Route(Q3, "@duc", "please")),
        ("/delegate Q3 @org/team", commands.Delegate(Q3, "@org/team")),
        ("/delegate Q3 @some-app[bot]", commands.Delegate(Q3, "@some-app[bot]")),
        ("/snooze Q3 1W2D", commands.Snooze(Q3, "1w2d")),
        ("/why Q3?", commands.Why(Q3)),
        ("/retro", commands.Retro()),
        ("/retro low confidence\nthanks", commands.Retro("low confidence")),
        ("/learn list", commands.Learn("list")),
        ("/learn approve l3", commands.Learn("approve", "L3")),
        ("/learn edit L3 a\nb", commands.Learn("edit", "L3", "a\nb")),
        ("/secretary a\nb", commands.Secretary("a\nb")),
        ("/assign T12 @ann soon", commands.Assign("T012", "@ann", "soon")),
        ('/allow "my docs/a.md" It moves.', commands.Allow("my docs/a.md", "It moves.")),
        ("/allow `src/a.py` It moves.", commands.Allow("src/a.py", "It moves.")),
        ("/allow /src/ It moves.", commands.Allow("/src/", "It moves.")),
        ("/apply r2", commands.Apply("R2")),
        ("/stop", commands.Stop()),
        ("/stop Q3 enough", commands.Stop(Q3, None, "enough")),
        ("/retry t1", commands.Retry(None, "T001")),
        ("/retry now", commands.Retry(None, None, "now")),
        ("/confirm Q3\u200b", commands.Confirm(Q3)),
    ],
)
def test_arguments(body: str, command: Command) -> None:
    assert one(body) == command
    if not re.search("[\n,?]|please|\u200b", body):
        assert one(render(command)) == command


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("/confirm 3", "Did you mean `/confirm Q3`?"),
        ("/confirm #3", "`/confirm Q3`"),
        ("/confirm Q", "`/confirm Q3`"),
        ("/confirm q-12", "`/confirm Q12`"),
        ("/correct Q3@zz text", "`/correct Q3`"),
        ("/correct", "`/correct [Q] text`"),
        ("/correct Q3", "needs a text"),
        ("/context \u200b", "needs a text"),
        ("/context <!-- hidden -->", "needs a text"),
        ('/context ""', "needs a text"),
        ("/ask", "a topic and a question"),
        ("/ask api", "a question after the topic"),
        ('/ask "Why?"', "is no topic"),
        ("/questions foo", "is no status"),
        ("/questions " + "x" * 300, "is no status"),
        ("/questions 3", "`/questions Q3`"),
        ("/answer yes", "needs a question"),
        ("/answer 3 yes", "`/answer Q3`"),
        ("/answer Q3", "needs a text"),
        ("/route @duc", "needs a question"),
        ("/route Q3 duc", "needs an agent"),
        ("/delegate Q3", "needs a person"),
        ("/snooze Q3", "needs a time"),
        ("/snooze Q3 0d", "needs a time"),
        ("/snooze Q3 tomorrow", "needs a time"),
        ("/why", "needs a question"),
        ("/learn", "needs an action"),
        ("/learn forget L3", "is no action"),
        ("/learn approve", "needs a learning"),
        ("/learn edit L3", "needs the new text"),
        ("/learn reject L3", "needs a reason"),
        ("/secretary", "needs a request"),
        ("/assign", "needs a task and a person"),
        ("/assign @ann", "needs a task and a person"),
        ("/assign T1", "needs a person"),
        ("/allow", "needs a path"),
        ("/allow a.md", "needs a reason"),
        ("/apply", "needs a recommendation"),
        ("/stop 3", "`/stop Q3`"),
    ],
)
def test_errors(body: str, hint: str) -> None:
    parsed = parse(body)
    assert parsed.commands == ()
    (error,) = parsed.errors
    assert hint in error.reason
    assert error.line == 1
    assert error.name == body[1:].split(maxsplit=1)[0]
    assert len(error.reason) <= 200
    assert "@" not in re.sub("`[^`]*`", "", error.reason)


def test_an_error_does_not_stop_the_rest() -> None:
    parsed = parse("/confirm 3\n/confrim\n/confirm Q3")
    assert [error.line for error in parsed.errors] == [1, 2]
    assert [located.line for located in parsed.commands] == [3]


def test_nearest() -> None:
    assert nearest("corect") == "correct"
    assert nearest("HLEP") == "help"
    assert nearest("unassign") is None
    assert nearest("") is None


PLAIN = st.from_regex(r"[a-z]{2,8}( [a-z“”\"]{1,8}){0,5}", fullmatch=True)
REFS = st.one_of(
    st.none(),
    st.builds(QuestionRef, st.just(RefKind.NUMBER), st.integers(1, 999_999)),
    st.builds(
        lambda number, digest: QuestionRef(RefKind.NUMBER, number, None, digest),
        st.integers(1, 999_999),
        st.from_regex("[0-9a-f]{4,8}", fullmatch=True),
    ),
    st.builds(
        lambda gid: QuestionRef(RefKind.GLOBAL, None, f"q-{gid}"),
        st.from_regex("[0-9a-z]{6,12}", fullmatch=True),
    ),
)


@settings(deadline=None)
@given(text=PLAIN, ref=REFS)
def test_round_trip(text: str, ref: QuestionRef | None) -> None:
    for command in (
        commands.Confirm(ref, text),
        commands.Correct(text, ref),
        commands.Correct(f'"{text}"'.replace("“", "").replace("”", "").replace(' "', ""), ref),
        commands.Ask("api.auth", text.replace('"', "").strip()),
    ):
        assert one(render(command)) == command
