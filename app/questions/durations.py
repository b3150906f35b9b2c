"""Durations as people write them: `90s`, `30m`, `24h`, `2d`, `1h30m`, `1w`."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_WHOLE = re.compile(r"(?:[0-9]{1,6}[smhdw]){1,5}")
_PART = re.compile(r"([0-9]+)([smhdw])")
LONGEST = timedelta(days=366)


def duration(text: str) -> timedelta:
    """The time a text means. Raises `ValueError` for anything but one second to a year."""
    if _WHOLE.fullmatch(text):
        length = sum(
            (timedelta(**{_UNITS[unit]: int(number)}) for number, unit in _PART.findall(text)),
            timedelta(),
        )
        if timedelta() < length <= LONGEST:
            return length
        raise ValueError(f'"{text}" is not between one second and a year')
    raise ValueError(f'"{text}" is not a duration such as 90s, 30m, 24h or 2d')
