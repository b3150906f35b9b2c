"""Rules that are set while the service runs: before the server's own, kept, shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.config.explain import explain
from app.config.inforce import Configurations, InForce
from app.config.problems import ConfigInvalid
from app.questions.routing import Router
from app.store.engine import Engine
from app.store.layers import Layers

SERVER = "routes:\n  - {pattern: billing.**, answerer: human/mara}\n"


@dataclass(frozen=True)
class Set:
    revision: int
    rules: tuple[dict, ...]
    set_by: str = "ops"


class Nothing:
    def last_good(self, repo: str, path: str) -> str | None:
        return None

    def remember(self, repo: str, path: str, text: str | None) -> None:
        pass


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "answerers.yaml").write_text(SERVER)
    return tmp_path


def test_they_go_before_the_servers_routes_within_ten_seconds(folder: Path) -> None:
    clock, newest = Clock(), [None]
    known = Configurations(folder, Nothing(), clock=clock, rules=lambda: newest[0])
    assert Router(known.server()).route("billing.x").answerer == "human/mara"
    newest[0] = Set(1, ({"pattern": "billing.*", "answerer": "agent/architect", "threshold": 70},))
    clock.now += 9
    found = Router(known.server()).route("billing.x")
    assert (found.answerer, found.threshold) == ("agent/architect", 70)
    assert Router(known.server()).route("billing.x.y").answerer == "human/mara"
    assert known.server() is known.server()
    newest[0] = Set(2, ())
    clock.now += 9
    assert Router(known.server()).route("billing.x").answerer == "human/mara"


def test_where_they_come_from_is_shown(folder: Path) -> None:
    rules = Set(7, ({"pattern": "billing.*", "answerer": "agent/architect"},))
    known = Configurations(folder, Nothing(), rules=lambda: rules)
    text = explain(InForce(known.server(), (), ("server",)))
    assert "revision 7, set by ops" in text


def test_bad_ones_are_refused_with_every_mistake(folder: Path) -> None:
    known = Configurations(folder, Nothing())
    rules = [{"pattern": "a", "answerer": "agent/nobody"}, {"pattern": "B", "answerer": "x"}]
    with pytest.raises(ConfigInvalid) as found:
        known.with_rules(rules, "ops")
    assert len(found.value.errors) >= 2


def test_rules_that_no_longer_fit_are_left_out_and_told(folder: Path) -> None:
    rules = Set(1, ({"pattern": "a", "answerer": "agent/gone"},))
    known = Configurations(folder, Nothing(), rules=lambda: rules)
    assert Router(known.server()).route("a").rule == "default"
    assert "gone" in str(known.server_problems[0])


def test_no_set_of_rules_is_ever_changed(engine: Engine) -> None:
    layers = Layers(engine)
    assert layers.newest_rules() is None
    assert layers.set_rules([{"pattern": "a", "answerer": "human/mara"}], "ops") == 1
    assert layers.set_rules([], "ops2") == 2
    assert [(one.revision, one.set_by) for one in layers.history()] == [(2, "ops2"), (1, "ops")]
    with pytest.raises(Exception, match="audit"), engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM rules")
    layers.remember("Acme/Storefront", ".github/baron.yml", "a: 1")
    assert layers.last_good("acme/storefront", ".github/baron.yml") == "a: 1"
