"""Claims, fences, lanes and the log, on a real PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from app.actions import AskAgent, React, Record, ShowComment
from app.events import AgentAnswered, FilesCommitted
from app.features.model import Feature, FeatureState, Place, Question, global_id
from app.intake import give_up, read
from app.questions.model import Answer, Inquiry, QuestionState, Source
from app.store import deliveries, health, lanes, log, outbox, threads
from app.store.deliveries import FenceLost
from app.store.engine import from_json, lives, process_name, to_json
from app.store.lanes import Limits
from app.store.tables import metadata

PLACE = Place(7, 70, "acme/storefront", 12)
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def comment(key: str = "f1:status", body: str = "one", place: Place = PLACE) -> ShowComment:
    return ShowComment(key, None, place, body)


def expire(engine: Engine, table: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {table} SET lease_until = now() - interval '1 second'"))


def add(engine: Engine, guid: str, issue: int = 12) -> None:
    with engine.begin() as connection:
        deliveries.add_own(connection, guid, FilesCommitted(1, 1, "c"), (70, issue))


def test_tables_are_what_the_migrations_make(engine: Engine) -> None:
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            columns = connection.execute(
                text(
                    "SELECT column_name FROM information_schema.columns"
                    " WHERE table_name = :name AND table_schema = current_schema()"
                ),
                {"name": table.name},
            ).scalars()
            assert set(columns) == {column.name for column in table.columns}


def test_deliveries_of_one_issue_are_worked_off_in_order(engine: Engine) -> None:
    for guid, issue in (("a", 1), ("b", 1), ("c", 2)):
        add(engine, guid, issue)
    with engine.begin() as connection:
        first = deliveries.claim(connection)
        other = deliveries.claim(connection)
        assert (first.guid, other.guid) == ("a", "c")
        assert deliveries.claim(connection) is None
        deliveries.finish(connection, first)
        assert deliveries.claim(connection).guid == "b"


def test_own_event_of_one_name_happens_once(engine: Engine) -> None:
    add(engine, "kr:x")
    add(engine, "kr:x")
    with engine.begin() as connection:
        assert deliveries.waiting(connection) == 1


def test_whoever_lost_the_lease_cannot_finish(engine: Engine) -> None:
    add(engine, "a")
    with engine.begin() as connection:
        slow = deliveries.claim(connection)
    expire(engine, "deliveries")
    with engine.begin() as connection:
        quick = deliveries.claim(connection)
        assert quick.fence == slow.fence + 1
    with pytest.raises(FenceLost), engine.begin() as connection:
        deliveries.finish(connection, slow)
    with engine.begin() as connection:
        deliveries.finish(connection, quick)
        assert deliveries.finished(connection, "a")


def test_a_fault_of_ours_is_given_up_and_a_passing_one_never(engine: Engine) -> None:
    add(engine, "a")
    for _ in range(30):
        with engine.begin() as connection:
            connection.execute(text("UPDATE deliveries SET due_at = now()"))
            claimed = deliveries.claim(connection)
            deliveries.put_back(connection, claimed, "away", passing=True)
    with engine.begin() as connection:
        connection.execute(text("UPDATE deliveries SET due_at = now()"))
        claimed = deliveries.claim(connection)
        deliveries.put_back(connection, claimed, "bug", passing=False)
        state = connection.execute(text("SELECT state FROM deliveries")).scalar_one()
        assert state == "dead"


def test_effect_with_the_same_key_replaces_the_one_before(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, comment(body="one"))
        outbox.put(connection, comment(body="two"))
        due = outbox.claim(connection, "github:7")
        assert due.effect == comment(body="two")
        assert outbox.claim(connection, "github:7") is None


def test_picture_that_changed_while_it_was_drawn_is_drawn_again(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, comment(body="one"))
        due = outbox.claim(connection, "github:7")
        outbox.put(connection, comment(body="two"))
        outbox.done(connection, due, {"comment_id": 5})
        again = outbox.claim(connection, "github:7")
        assert again.effect == comment(body="two")
        assert again.result == {"comment_id": 5}
        assert not again.doubtful
        outbox.done(connection, again)
        outbox.put(connection, comment(body="two"))
        assert outbox.claim(connection, "github:7") is None


def test_effect_of_a_dead_process_is_doubtful(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, comment())
        first = outbox.claim(connection, "github:7")
        assert not first.doubtful
    expire(engine, "outbox")
    with engine.begin() as connection:
        assert outbox.claim(connection, "github:7").doubtful
    with pytest.raises(FenceLost), engine.begin() as connection:
        outbox.done(connection, first)


def test_reactions_go_before_comments(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, comment())
        outbox.put(connection, React("r", None, PLACE, "eyes", 5))
        assert outbox.claim(connection, "github:7").key == "r"


def test_agents_have_a_lane_of_their_own_and_records_survive_json(engine: Engine) -> None:
    ask = AskAgent("k", 1, 2, 3, Inquiry("architect", "x", "?", earlier=(("q", "a"),)))
    with engine.begin() as connection:
        outbox.put(connection, ask)
        assert outbox.due_lanes(connection) == ["agents"]
        assert outbox.claim(connection, "agents").effect == ask
        assert outbox.waiting(connection) == {"agents": 1}


def test_dropped_effects_are_not_done(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, replace(comment(), feature_id=3))
        outbox.drop(connection, 3)
        assert outbox.due_lanes(connection) == []


def test_lane_lets_a_burst_through_and_then_so_many_a_minute(engine: Engine) -> None:
    limits = Limits(per_minute=60, per_hour=500, burst=3)
    with engine.begin() as connection:
        waits = [lanes.take(connection, "github:7", limits) for _ in range(4)]
    assert waits[:3] == [0, 0, 0]
    assert 0.5 < waits[3] <= 1.0
    with engine.begin() as connection:
        connection.execute(text("UPDATE lanes SET at = now() - interval '2 seconds'"))
        assert [lanes.take(connection, "github:7", limits) for _ in range(2)] == [0, 0]


def test_lane_has_an_hourly_limit(engine: Engine) -> None:
    limits = Limits(per_minute=600, per_hour=2, burst=10)
    with engine.begin() as connection:
        waits = [lanes.take(connection, "l", limits) for _ in range(3)]
    assert waits[:2] == [0, 0]
    assert waits[2] > 60


def test_blocked_lane_waits_and_is_not_offered(engine: Engine) -> None:
    with engine.begin() as connection:
        outbox.put(connection, comment())
        lanes.block(connection, "github:7", 30)
        lanes.block(connection, "github:7", 5)
    with engine.begin() as connection:
        assert 28 < lanes.take(connection, "github:7", Limits()) <= 30
        assert outbox.due_lanes(connection) == []


def test_thread_is_what_was_saved(engine: Engine) -> None:
    answer = Answer("c", "r", 90, ("why",), (Source("t", "r", "q"),), looked_in=("here",))
    with engine.begin() as connection:
        thread = threads.ensure(connection, PLACE)
        assert threads.ensure(connection, PLACE).feature.id == thread.feature.id
        feature = replace(thread.feature, state=FeatureState.WAITING, title="ü – ß")
        question = Question(
            1, global_id(feature.id, 1), "x.y", "?", tentative=answer, state=QuestionState.ESCALATED
        )
        threads.save_feature(connection, feature)
        threads.save_question(connection, feature.id, question)
    with engine.connect() as connection:
        found = threads.read(connection, "ACME/Storefront", 12)
        assert found.feature == feature
        assert found.questions == (question,)
        assert threads.read(connection, "acme/storefront", 13) is None
        assert [one.id for one in threads.listing(connection)] == [feature.id]


def record(feature: Feature, seq: int, **data: object) -> Record:
    return Record(feature.id, seq, "answer", "@duc", "Q1", data, (1,) if seq > 1 else ())


def test_log_is_chained_append_only_and_in_turn(engine: Engine) -> None:
    with engine.begin() as connection:
        feature = threads.ensure(connection, PLACE).feature
        log.append(connection, record(feature, 1, content="ß – “1”", confidence=92), NOW)
        log.append(connection, record(feature, 2, content=1.5), NOW + timedelta(milliseconds=7))
    with engine.connect() as connection:
        chain = log.entries(connection, feature.id)
    assert [entry.seq for entry in chain] == [1, 2]
    assert chain[0].at == "2026-11-21T09:00:00.000Z"
    assert chain[1].prev == chain[0].hash
    assert log.broken_at(chain) is None
    assert log.broken_at([replace(chain[0], actor="@x"), chain[1]]) == 1
    assert log.broken_at(chain[1:]) == 2
    with pytest.raises(log.OutOfTurn), engine.begin() as connection:
        log.append(connection, record(feature, 2), NOW)
    for statement in ("UPDATE log SET actor = 'x'", "DELETE FROM log", "TRUNCATE log"):
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(text(statement))


def test_leases_of_the_dead_end_at_once(engine: Engine) -> None:
    add(engine, "a")
    with engine.begin() as connection:
        deliveries.claim(connection)
        assert health.release_the_dead(connection) == 0
        host = process_name().rpartition("/")[0].rpartition("/")[0]
        connection.execute(
            text("UPDATE deliveries SET lease_owner = :owner"), {"owner": f"{host}/999999/1"}
        )
        assert health.release_the_dead(connection) == 1
    with engine.begin() as connection:
        assert deliveries.claim(connection) is not None


def test_old_payloads_are_forgotten_and_open_work_is_not(engine: Engine) -> None:
    for guid in ("old", "open", "new"):
        add(engine, guid)
    with engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE deliveries SET state = 'done', finished_at = now() - interval '31 days'"
                " WHERE guid = 'old'"
            )
        )
        connection.execute(text("UPDATE deliveries SET received_at = now() - interval '1 year'"))
        health.forget_the_old(connection)
        left = connection.execute(text("SELECT guid FROM deliveries ORDER BY guid")).scalars()
        assert list(left) == ["new", "open"]


def test_heartbeats(engine: Engine) -> None:
    with engine.begin() as connection:
        health.beat(connection, "web")
        health.beat(connection, "web")
        (beat,) = health.heartbeats(connection)
        assert (beat.kind, beat.alive) == ("web", True)
        assert health.newest_web(connection) == beat.started_at
        health.sign_off(connection)
        assert health.heartbeats(connection) == []


@pytest.mark.parametrize(
    ("name", "alive"),
    [("", True), ("elsewhere/-/1/1", True), ("odd", True)],
)
def test_lives(name: str, alive: bool) -> None:
    assert lives(name or process_name()) is alive


def test_global_ids_are_unique_and_well_formed() -> None:
    ids = {global_id(feature, number) for feature in range(1, 400) for number in range(1, 31)}
    assert len(ids) == 399 * 30
    assert all(len(one) == 8 and one.startswith("q-") for one in ids)


def test_records_survive_json() -> None:
    feature = Feature(3, PLACE, state=FeatureState.PLANNED)
    assert from_json(Feature, to_json(feature)) == feature


def test_a_character_that_no_column_takes_is_left_out(engine: Engine) -> None:
    event = AgentAnswered(1, 1, 1, "architect", Answer("Ye\x00s", "", 90), error="\x00")
    with engine.begin() as connection:
        deliveries.add_own(connection, "kr:nul", event, (70, 12))
        claimed = deliveries.claim(connection)
    assert claimed is not None
    assert read(claimed) == AgentAnswered(1, 1, 1, "architect", Answer("Yes", "", 90))


def test_an_answer_that_cannot_be_stored_is_no_answer(engine: Engine) -> None:
    with engine.begin() as connection:
        feature = threads.ensure(connection, PLACE).feature
        event = AgentAnswered(feature.id, 1, 1, "architect", Answer("Yes", "", 90))
        deliveries.add_own(connection, "kr:f1:Q1:ask:1", event, (70, 12))
        claimed = deliveries.claim(connection)
        assert claimed is not None
        deliveries.finish(connection, claimed)
        give_up(connection, claimed)
        told = deliveries.claim(connection)
    assert told is not None
    lost = read(told)
    assert isinstance(lost, AgentAnswered)
    assert (lost.answer, lost.error) == (None, "its answer could not be stored")


def test_only_what_is_still_wanted_stays_in_hand(engine: Engine) -> None:
    with engine.begin() as connection:
        feature = threads.ensure(connection, PLACE).feature
        for number in (1, 2):
            inquiry = Inquiry("architect", "x", "?")
            outbox.put(connection, AskAgent(f"f:Q{number}", feature.id, number, 1, inquiry))
        held = [outbox.claim(connection, outbox.AGENTS) for _ in range(2)]
        assert outbox.hold(connection, held) == {due.id for due in held}
        outbox.drop(connection, feature.id, (outbox.AGENTS,), "f:Q1")
        assert outbox.hold(connection, held) == {held[1].id}
        assert outbox.hold(connection, []) == frozenset()
