"""Effects on GitHub: one at a time for each installation, as fast as its lane allows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from app.actions import CommitFiles, Effect, GitHubEffect, ShowComment, ShowPull
from app.deps import Deps
from app.events import EffectFailed, FilesCommitted, OwnEvent, PullShown
from app.github.apps import open_apps
from app.perform import Again, Done, Failed, Outcome, perform
from app.queue import EVENTS
from app.store import deliveries, lanes, outbox
from app.store.outbox import Due
from workers.drain import Drain

_PICTURE = re.compile(r"f\d+:(status|Q\d+)")
"""Keys of comments that show a state. A reply is told once, and nobody waits for it."""


class Outbox(Drain):
    """Performs what was decided."""

    def __init__(self, deps: Deps, crash: Callable[[str], None] = lambda point: None) -> None:
        super().__init__(deps, crash)
        self._apps = open_apps(deps.settings, deps.policies.server_config())

    async def lanes(self) -> list[str]:
        busy = {due.lane for due in self.held.values()}
        due = await asyncio.to_thread(self._due)
        return [lane for lane in due if lane.startswith("github:") and lane not in busy]

    def _due(self) -> list[str]:
        with self.deps.engine.connect() as connection:
            return outbox.due_lanes(connection)

    async def work(self, due: Due) -> None:
        effect = due.effect
        if not isinstance(effect, GitHubEffect):
            raise TypeError(f"{due.kind} is no effect on GitHub")

        async def permit() -> float:
            return await asyncio.to_thread(self._take, due.lane)

        outcome = await perform(self._apps, due, effect, permit, self.crash)
        rings = await asyncio.to_thread(self._store, due, effect, outcome)
        self.crash("after-outbox-commit")
        if rings:
            await asyncio.to_thread(self.deps.bell.ring, EVENTS)

    def _take(self, lane: str) -> float:
        with self.deps.engine.begin() as connection:
            return lanes.take(connection, lane, self.deps.limits)

    def _store(self, due: Due, effect: Effect, outcome: Outcome) -> bool:
        """Store what came of it; whether an event of ours tells the handlers."""
        with self.deps.engine.begin() as connection:
            match outcome:
                case Done():
                    outbox.done(connection, due, outcome.result)
                case Failed():
                    if not outbox.failed(connection, due, outcome.reason):
                        return False  # a newer picture is tried next
                case Again():
                    self._again(due, outcome)
                    outbox.again(connection, due, outcome.later)
            event = _event_of(effect, outcome)
            if event is not None and isinstance(effect, CommitFiles | ShowComment | ShowPull):
                # of a pull request the same words may be told again: it may have failed between
                again = due.fence if isinstance(effect, ShowPull) else due.wanted
                revision = effect.revision if isinstance(effect, CommitFiles) else again
                name = f"kr:{due.key}:{revision}:{type(event).__name__}"
                place = (effect.place.repo_id, effect.place.number)
                deliveries.add_own(connection, name, event, place)
            self.crash("before-outbox-commit")
        return event is not None

    def _again(self, due: Due, outcome: Again) -> None:
        if outcome.block:
            with self.deps.engine.begin() as connection:
                lanes.block(connection, due.lane, outcome.later.wait)


def _event_of(effect: Effect, outcome: Outcome) -> OwnEvent | None:
    """What the handlers are to know: a commit that stands, and what failed for good."""
    if isinstance(effect, ShowComment):
        return _lost_picture(effect, outcome)
    if isinstance(effect, ShowPull):
        return _of_pull(effect, outcome)
    if not isinstance(effect, CommitFiles):
        return None
    match outcome:
        case Done():
            return FilesCommitted(effect.feature_id, effect.revision, outcome.result["commit"])
        case Failed():
            reason = f"The specification could not be committed: {outcome.reason}."
            return EffectFailed(effect.feature_id, "specification", reason)
        case Again():
            return None


def _of_pull(effect: ShowPull, outcome: Outcome) -> OwnEvent | None:
    match outcome:
        case Done():
            return PullShown(effect.feature_id, int(outcome.result["number"]))
        case Failed():
            reason = f"The pull request could not be written: {outcome.reason}."
            return EffectFailed(effect.feature_id, "pull", reason)
        case Again():
            return None


def _lost_picture(effect: ShowComment, outcome: Outcome) -> EffectFailed | None:
    if not isinstance(outcome, Failed) or effect.feature_id is None:
        return None
    if not _PICTURE.fullmatch(effect.key):
        return None
    return EffectFailed(effect.feature_id, "comment", outcome.reason)
