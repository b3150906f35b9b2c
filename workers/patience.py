"""How much attention somebody without rights gets: what costs them nothing must not cost us much.

Kept in memory: a restart forgives.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

AT_MOST = 20
"""Comments with commands that are answered within `WITHIN`, for one person and installation."""
WITHIN = 3600.0
"""Seconds."""
_PEOPLE = 10_000


class Patience:
    """Counts, and forgets whoever was not heard of for longest."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: OrderedDict[tuple[int, str], deque[float]] = OrderedDict()

    def has(self, installation: int, login: str) -> bool:
        """Whether this one is still answered; counts it."""
        now, key = self._clock(), (installation, login.lower())
        times = self._seen.setdefault(key, deque(maxlen=AT_MOST + 1))
        self._seen.move_to_end(key)
        if len(self._seen) > _PEOPLE:
            self._seen.popitem(last=False)
        times.append(now)
        return len(times) <= AT_MOST or now - times[0] > WITHIN
