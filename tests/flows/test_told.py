"""Channels and webhooks of a running service: told, and a failure holds up nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from app.embedded.servers import Servers
from app.store.engine import connect
from app.store.health import failures
from tests.flows.test_conversation import entries, say
from tests.outlets.receiver import Receiver, receiving
from tests.recovery.town import REPO, Town, until

RULES = """version: "1"
overrides:
  - pattern: "**"
    answerer: human/requester
    sla: 4s
    escalate_to: [{{answerer: human/ravi, sla: 24h}}]
    notify: {channel}
channels:
  slack://good: json://127.0.0.1:{port}/good
  slack://bad: json://127.0.0.1:9/bad
hooks:
  board:
    url: http://127.0.0.1:{port}/kr
    secret_env: BOARD_SECRET
    events: [question.escalated, question.timeout, question.settled]
allow_hosts: ["127.0.0.1:{port}"]
"""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        server.status = 200
        yield server


@pytest.fixture(scope="module")
def told(receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = Path(tmp_path_factory.mktemp("told"))
    configs = folder / "configs"
    shutil.copytree("configs", configs)
    rules = RULES.format(channel="[CHANNEL]", port=receiver.server_port)
    (configs / "answerers.yaml").write_text(rules.replace("[CHANNEL]", "slack://good"))
    env = {"KR_CONFIG_DIR": str(configs), "BOARD_SECRET": "board"}
    with Town(folder, env=env) as made:
        yield made


def kinds(town: Town, number: int) -> list[str]:
    return [entry.kind for entry in entries(town, number)]


def test_time_runs_out_on_a_real_thread(told: Town, receiver: Receiver) -> None:
    number = told.open("A page", "We want a page for our customers.", "feature")
    until(lambda: told.waits_for_people(number), 20, "nobody is asked")
    until(lambda: told.escalated(number), 10, "no comment asks anybody")
    before = {f["question"]: f["comment"]["id"] for f in told.escalated(number)}
    until(lambda: "timeout" in kinds(told, number), 20, "time does not run out")
    name = next(entry.question for entry in entries(told, number) if entry.kind == "timeout")
    until(
        lambda: any(
            f["question"] == name and "**@ravi** is asked" in f["comment"]["body"]
            for f in told.escalated(number)
        ),
        15,
        "the next one is not asked",
    )
    after = {f["question"]: f["comment"]["id"] for f in told.escalated(number)}
    assert before.items() <= after.items()  # edited, never posted again
    told.nothing_twice(number)
    assert kinds(told, number).index("reminder") < kinds(told, number).index("timeout")
    comment = told.client.as_user("ravi").comment(REPO, number, f"/correct {name} As ravi says.")
    until(
        lambda: {one["content"] for one in told.client.reactions(comment["id"])} == {"eyes", "+1"},
        10,
        "whoever was asked may not answer",
    )
    types = [headers["X-KR-Event"] for headers, _ in receiver.got if "X-KR-Event" in headers]
    until(lambda: b"As ravi says." in b"".join(b for _, b in receiver.got), 10, "no webhook")
    assert types.index("question.timeout") < len(types) - types[::-1].index("question.escalated")
    assert any(b"ravi is asked" in body for _, body in receiver.got)
    until(lambda: "notification" in kinds(told, number), 10, "no word of the notification")


def test_a_failing_channel_holds_up_nothing_and_shows_in_doctor(
    told: Town, receiver: Receiver
) -> None:
    path = told.folder / "configs" / "answerers.yaml"
    path.write_text(RULES.format(channel="slack://nowhere", port=receiver.server_port))
    time.sleep(1.5)  # the files are looked at once a second
    number = told.open("Another page", "We want another page for our customers.", "feature")
    until(lambda: told.waits_for_people(number), 20, "nobody is asked")

    def failed() -> bool:
        found = [e for e in entries(told, number) if e.kind == "notification"]
        return any(not entry.data["ok"] for entry in found)

    until(failed, 20, "no word of the failure")
    name = told.escalated(number)[0]["question"]
    say(told, number, f"/correct {name} Never mind the channel.")
    database_url, _ = Servers(told.folder).find()
    engine = connect(database_url or "", pool=1)
    with engine.connect() as connection:
        assert any("told nobody: slack://nowhere" in line for line in failures(connection))
    engine.dispose()


def test_a_bad_change_of_the_servers_files_leaves_the_last_good_one_in_force(told: Town) -> None:
    path = told.folder / "configs" / "answerers.yaml"
    good = path.read_text()
    path.write_text(good.replace("sla: 4s", "sla: banana"))
    time.sleep(1.5)
    number = told.open("A third page", "We want a third page.", "feature")
    until(lambda: told.waits_for_people(number), 20, "nobody is asked")
    path.write_text(good)


def test_the_stream_has_it_too(told: Town) -> None:
    number = told.open("A fourth page", "We want a fourth page.", "feature")
    until(lambda: told.waits_for_people(number), 20, "nobody is asked")
    _, redis_url = Servers(told.folder).find()
    found = Redis.from_url(redis_url or "", decode_responses=True).xrevrange("kr:events", count=100)
    assert any(f"{REPO}#{number}" in fields["event"] for _, fields in found)
