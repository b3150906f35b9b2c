"""Routing rules that an administrator sets while the service runs: a layer over the server's files.

They go before the server's own routes; what they say is checked like any layer, and every set of
them is kept (`app.store.layers`).
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from app.config.document import Unreadable
from app.config.layers import merge, parse_layer
from app.config.loader import Config
from app.config.problems import ConfigInvalid, Problem

EVERY = 3.0
"""Seconds between two looks at what was set."""


class RuleSetLike(Protocol):
    """Rules, and who set them."""

    @property
    def revision(self) -> int: ...
    @property
    def rules(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def set_by(self) -> str: ...


def ruled(server: Config, rules: Sequence[Mapping[str, Any]], name: str) -> Config:
    """The server's configuration with rules before its own. Raises `ConfigInvalid`."""
    text = json.dumps({"answerers": {"routes": list(rules)}}, indent=1)
    try:
        return merge(server, parse_layer(text, name), None)
    except Unreadable as error:
        raise ConfigInvalid([error.problem]) from None


class Rules:
    """Puts the newest set of rules over a configuration that may change under it."""

    def __init__(
        self,
        newest: Callable[[], RuleSetLike | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._newest, self._clock = newest, clock
        self._looked = float("-inf")
        self._set: RuleSetLike | None = None
        self._made: tuple[Config, int, Config] | None = None
        self.problems: tuple[Problem, ...] = ()

    def over(self, server: Config) -> Config:
        """The configuration with the rules; without them if they no longer fit it."""
        now = self._clock()
        if now - self._looked >= EVERY:
            self._looked = now
            # Nobody can say just now: what was set last stays in force.
            with contextlib.suppress(Exception):
                self._set = self._newest()
        found = self._set
        if found is None or not found.rules:
            self.problems = ()
            return server
        if self._made and self._made[0] is server and self._made[1] == found.revision:
            return self._made[2]
        name = f"rules (revision {found.revision}, set by {found.set_by})"
        try:
            config, self.problems = ruled(server, found.rules, name), ()
        except ConfigInvalid as error:
            config, self.problems = server, tuple(error.errors)
        self._made = (server, found.revision, config)
        return config
