"""The kinds of values that the configuration is made of, each with its own complaint."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

from app.questions import patterns
from app.questions.calendars import Calendar, parse_days, parse_hours
from app.questions.durations import duration

_ANSWERER = re.compile(r"(agent|team|human|tool)/[A-Za-z0-9_][A-Za-z0-9_.\[\]-]{0,99}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_HANDLE = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_CHANNEL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#]+")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("must be text")


def _duration(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"{value} needs a unit: {value}s, {value}m, {value}h or {value}d")
    duration(_text(value))
    return str(value)


def _percent(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100:
        return value
    raise ValueError("must be a whole number from 0 to 100")


def _answerer(value: object) -> str:
    text = _text(value)
    if not _ANSWERER.fullmatch(text):
        raise ValueError(
            f'"{text}" is not an answerer: agent/ROLE, team/SLUG, tool/NAME, '
            "human/LOGIN, human/requester, human/author or human/maintainer"
        )
    if text.startswith("agent/"):
        _name(text.removeprefix("agent/"))
    return text


def _pattern(value: object) -> str:
    text = _text(value)
    if what := patterns.problem(text):
        raise ValueError(what)
    return text


def _name(value: object) -> str:
    text = _text(value)
    if not _NAME.fullmatch(text):
        raise ValueError(f'"{text}" is not a name: lower-case letters, digits, "-" and "_"')
    return text


def _money(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number of US dollars")
    if not 0 <= value <= 1_000_000:
        raise ValueError("must be from 0 to 1,000,000 US dollars")
    return float(value)


def _environment_name(value: object) -> str:
    text = _text(value)
    if not _VARIABLE.fullmatch(text):
        raise ValueError(f'"{text[:60]}" is not the name of a variable such as VLLM_API_KEY')
    return text


_WHO = re.compile(r"(?:human/)?[A-Za-z0-9][A-Za-z0-9-]{0,38}|team/[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _who(value: object) -> str:
    text = _text(value)
    if not _WHO.fullmatch(text):
        raise ValueError(f'"{text[:60]}" is nobody: a login, human/LOGIN or team/SLUG')
    return text


def _role(value: object) -> str:
    return _name(_text(value).removeprefix("agent/"))


def _handle(value: object) -> str:
    text = "@" + _text(value).removeprefix("@")
    if not _HANDLE.fullmatch(text):
        raise ValueError(f'"{text}" is not a handle such as "@duc"')
    return text


def _channel(value: object) -> str:
    text = _text(value)
    if not _CHANNEL.fullmatch(text):
        raise ValueError(f'"{text}" is not a channel such as slack://security-alerts')
    return text


def _timezone(value: object) -> str:
    text = _text(value)
    Calendar(timezone=text).check()
    return text


def _hours(value: object) -> str:
    text = _text(value)
    if text:
        opens, closes = parse_hours(text)
        Calendar(opens=opens, closes=closes).check()
    return text


def _days(value: object) -> str:
    text = _text(value)
    parse_days(text)
    return text


def _holidays(value: object) -> str:
    text = _text(value)
    Calendar(holidays=text).check()
    return text


def _version(value: object) -> str:
    if value != "1":
        raise ValueError('must be "1", in quotes: this program knows no other version')
    return "1"


Text = Annotated[str, BeforeValidator(_text)]
Duration = Annotated[str, BeforeValidator(_duration)]
"""`90s`, `30m`, `24h`, `2d`; kept as written, for people to read it again."""
Percent = Annotated[int, BeforeValidator(_percent)]
Answerer = Annotated[str, BeforeValidator(_answerer)]
TopicPattern = Annotated[str, BeforeValidator(_pattern)]
Who = Annotated[str, BeforeValidator(_who)]
"""A login, `human/LOGIN` or `team/SLUG` of the organisation that owns the repository."""
Name = Annotated[str, BeforeValidator(_name)]
RoleName = Annotated[str, BeforeValidator(_role)]
"""A role, written `product` or `agent/product`."""
Handle = Annotated[str, BeforeValidator(_handle)]
"""`@duc`; the `@` may be left out, since YAML wants quotes around it."""
Channel = Annotated[str, BeforeValidator(_channel)]
TimeZone = Annotated[str, BeforeValidator(_timezone)]
Hours = Annotated[str, BeforeValidator(_hours)]
"""`09:00-17:00`."""
Days = Annotated[str, BeforeValidator(_days)]
"""`mon-fri`, `mon,wed`."""
Holidays = Annotated[str, BeforeValidator(_holidays)]
"""A country, or a country and a part of it: `DE`, `DE-BY`."""
Money = Annotated[float, BeforeValidator(_money)]
"""US dollars."""
EnvironmentName = Annotated[str, BeforeValidator(_environment_name)]
"""The name of an environment variable; never a key itself."""
Version = Annotated[str, BeforeValidator(_version)]
