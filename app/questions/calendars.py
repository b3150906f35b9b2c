"""Working calendars: when somebody can be expected to answer (specs/2, SLA and Escalation).

Opening hours are what a clock on the wall shows in the time zone. Spans are real elapsed time
inside the opening hours, so the days on which the clocks change need no special care: the night
that lacks an hour is an hour shorter. All moments are aware datetimes; naive ones are refused,
since they would mean the machine's own time zone.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import holidays as library

_MIDNIGHT = time(0, 0)
_WEEK = frozenset(range(7))
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)
_NOTHING = timedelta()
_PATIENCE = timedelta(days=3653)
"""Ten years: so long without an open moment means never."""
_HORIZON = timedelta(days=36525)
"""A hundred years: a moment further away is a mistake, and costly to look for."""
_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {name[:length]: day for day, name in enumerate(_NAMES) for length in (3, len(name))}
_HOURS = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*[-–]\s*([0-9]{1,2})(?::([0-9]{2}))?")


@dataclass(frozen=True, slots=True)
class Calendar:
    """When somebody can be expected to answer.

    Making one checks nothing; `check` does. The other methods raise `ValueError` for an unknown
    time zone or unknown holidays, and for a naive datetime.
    """

    timezone: str = "UTC"
    """An IANA name, for example `Europe/Berlin`."""
    opens: time = _MIDNIGHT
    closes: time | None = None
    """The first moment that is closed again; None for the end of the day."""
    days: frozenset[int] = _WEEK
    """Monday is 0."""
    holidays: str = ""
    """Public holidays off: `DE` for a country, `DE-BY` for a part of it, empty for none."""
    closed: frozenset[date] = frozenset()
    """Further days off."""

    def check(self) -> None:
        """Raise `ValueError` with what is wrong and what to write instead."""
        _zone(self.timezone)
        if self.closes is not None and self.opens >= self.closes:
            raise ValueError(
                f"opens at {self.opens:%H:%M} and closes at {self.closes:%H:%M}: opening must come "
                "first on the same day, as in 09:00-17:00; the end of the day is 24:00"
            )
        if not self.days:
            raise ValueError("no day is open: name at least one, as in mon-fri")
        if strange := [day for day in self.days if day not in _WEEK]:
            raise ValueError(f"{strange[0]} is not a day: Monday is 0, Sunday is 6")
        if self.holidays:
            _region(self.holidays)

    def is_open(self, at: datetime) -> bool:
        """Whether the clock on the wall shows opening hours of an open day."""
        wall = _utc(at).astimezone(_zone(self.timezone))
        before_closing = self.closes is None or wall.time() < self.closes
        return self.opens <= wall.time() and before_closing and self._works_on(wall.date())

    def add(self, start: datetime, span: timedelta) -> datetime:
        """The first moment, in UTC, when `span` of open time has passed since `start`.

        A span of nothing leads to the next open moment, which is `start` itself when open. Raises
        `ValueError` for a negative span, and when ten years go by without an open moment or the
        moment is more than a hundred years away.
        """
        if span < _NOTHING:
            raise ValueError(f"{span} is negative: only time ahead can be counted")
        begin = _utc(start)
        try:
            return begin + span if self._never_closes else self._reach(begin, span)
        except OverflowError:
            raise ValueError(f"{span} after {begin:%Y-%m-%d} is past the year 9999") from None

    def between(self, start: datetime, end: datetime) -> timedelta:
        """The open time from `start` to `end`; nothing when `end` is not later."""
        begin, finish = _utc(start), _utc(end)
        if finish <= begin:
            return _NOTHING
        if self._never_closes:
            return finish - begin
        total = _NOTHING
        for opened, shut in self._stretches(begin, finish):
            total += shut - opened
        return total

    @property
    def _never_closes(self) -> bool:
        whole_days = self.opens == _MIDNIGHT and self.closes is None
        return whole_days and self.days >= _WEEK and not self.holidays and not self.closed

    def _works_on(self, day: date) -> bool:
        if day.weekday() not in self.days or day in self.closed:
            return False
        return not self.holidays or day not in _days_off(self.holidays, day.year)

    def _reach(self, begin: datetime, span: timedelta) -> datetime:
        left, last = span, begin
        for opened, shut in self._stretches(begin):
            if opened < shut:
                if left <= shut - opened:
                    return opened + left
                left, last = left - (shut - opened), shut
            elif opened - last > _PATIENCE:
                raise ValueError(
                    f"no open moment in the ten years after {last:%Y-%m-%d}: "
                    "open more days or hours in this calendar"
                )
            if shut - begin > _HORIZON:
                break
        raise ValueError(
            f"{span} of open time takes more than a hundred years from {begin:%Y-%m-%d}: "
            "ask for less, or open more days or hours in this calendar"
        )

    def _stretches(
        self, at: datetime, finish: datetime | None = None
    ) -> Iterator[tuple[datetime, datetime]]:
        """From `at` on, in UTC and in order: when it opens and shuts; the same when it does not.

        Each stretch lies within one day and one UTC offset, so that the clock on the wall neither
        jumps nor repeats itself in it.
        """
        zone = _zone(self.timezone)
        while finish is None or at < finish:
            wall = at.astimezone(zone)
            offset = wall.utcoffset() or _NOTHING
            day, midnight = wall.date(), _moment(wall.date(), _MIDNIGHT, offset)
            until = _while_offset_holds(zone, at, midnight + _DAY)
            end = until if finish is None else min(until, finish)
            if self._works_on(day):
                opens = _moment(day, self.opens, offset)
                closes = _moment(day, self.closes, offset) if self.closes else midnight + _DAY
                opened = min(max(at, opens), end)
                yield opened, max(opened, min(closes, end))
            else:
                yield at, at
            at = until


ALWAYS = Calendar()
"""Round the clock: `add` is `start + span`."""


def problem(calendar: Calendar) -> str | None:
    """What is wrong with a calendar, in words; None when nothing is."""
    try:
        calendar.check()
    except ValueError as error:
        return str(error)
    return None


def parse_hours(text: str) -> tuple[time, time | None]:
    """`09:00-17:00` or `9-17` as opening and closing time; None for 24:00, the end of the day.

    Raises `ValueError` for anything else. That opening comes first is for `Calendar.check`.
    """
    found = _HOURS.fullmatch(text.strip())
    if found:
        hour, minute, last_hour, last_minute = (int(part or 0) for part in found.groups())
        try:
            ends = (last_hour, last_minute) == (24, 0)
            return time(hour, minute), None if ends else time(last_hour, last_minute)
        except ValueError:
            pass
    raise ValueError(f'"{text}" is not opening hours such as 09:00-17:00 or 9-17')


def parse_days(text: str) -> frozenset[int]:
    """`mon-fri`, `mon,wed,fri`, `sat-sun` or `fri-mon` as numbers; Monday is 0.

    Raises `ValueError` for anything else.
    """
    days: set[int] = set()
    for part in text.lower().split(","):
        names = [name.strip() for name in re.split("[-–]", part)]
        if len(names) > 2 or any(name not in _NUMBERS for name in names):
            raise ValueError(f'"{text}" is not days such as mon-fri or mon,wed,fri')
        first, last = _NUMBERS[names[0]], _NUMBERS[names[-1]]
        days.update((first + step) % 7 for step in range((last - first) % 7 + 1))
    return frozenset(days)


def _utc(at: datetime) -> datetime:
    # In UTC from the start: datetimes of one other zone compare and subtract by the wall clock.
    if at.utcoffset() is None:
        raise ValueError(f"{at} has no time zone: give an aware datetime")
    return at.astimezone(UTC)


def _moment(day: date, wall: time, offset: timedelta) -> datetime:
    return datetime.combine(day, wall, UTC) - offset


def _while_offset_holds(zone: ZoneInfo, at: datetime, until: datetime) -> datetime:
    """`until`, or the moment before it when the clocks change."""
    offset = at.astimezone(zone).utcoffset()
    if until.astimezone(zone).utcoffset() == offset:
        return until
    same, changed = at, until
    while changed - same > _TICK:
        middle = same + (changed - same) / 2
        if middle.astimezone(zone).utcoffset() == offset:
            same = middle
        else:
            changed = middle
    return changed


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = _nearest(name, available_timezones()) or "; write one such as Europe/Berlin or UTC"
        raise ValueError(f'unknown time zone "{name}"{hint}') from None


@lru_cache(maxsize=256)
def _region(code: str) -> tuple[str, str | None]:
    """Country and part of it. Raises `ValueError` when the holidays of either are unknown."""
    country, dash, part = code.partition("-")
    countries = library.list_supported_countries()
    if country not in countries:
        hint = _nearest(country, countries) or "; write a country code such as DE, or DE-BY"
        raise ValueError(f'no holidays known for the country "{country}"{hint}')
    if not dash:
        return country, None
    parts = countries[country]
    try:
        if not part:
            raise NotImplementedError
        library.country_holidays(country, subdiv=part)
    except NotImplementedError:
        known = f"; known: {', '.join(parts)}" if parts else f"; write {country} alone"
        hint = _nearest(part, parts) or known
        raise ValueError(f'no holidays known for the part "{part}" of {country}{hint}') from None
    return country, part


@lru_cache(maxsize=1024)
def _days_off(code: str, year: int) -> frozenset[date]:
    country, part = _region(code)
    return frozenset(library.country_holidays(country, subdiv=part, years=year, expand=False))


def _nearest(word: str, known: Iterable[str]) -> str:
    # Cut, since the comparison is slow for long words; no name is longer than this.
    names = {name.lower(): name for name in sorted(known)}
    near = difflib.get_close_matches(word.lower()[:64], names, n=1)
    return f' (did you mean "{names[near[0]]}"?)' if near else ""
