"""Whole conversations: signed webhook in; comments, labels, files, log out (specs/1, US1-US4)."""

from __future__ import annotations

import time

import httpx
import pytest

from app.store import log
from tests.recovery.town import REPO, Town, until

TITLE = "Let customers download their invoices"
BODY = """Customers ask support for copies of their invoices every day.

They should find them in their account and download each as a PDF.
"""


def reactions(town: Town, comment: dict) -> set[str]:
    return {one["content"] for one in town.client.reactions(comment["id"])}


def say(town: Town, number: int, body: str, by: str = "mara", wait: str = "+1") -> dict:
    """Comment, and wait for the bot's verdict on it."""
    comment = town.client.as_user(by).comment(REPO, number, body)
    until(lambda: wait in reactions(town, comment), 15, f"{body!r} has no {wait}")
    return comment


def waiting_feature(town: Town, label: str = "feature") -> int:
    number = town.open(TITLE, BODY, label)
    until(lambda: town.waits_for_people(number), 20, "nobody is asked")
    return number


def replies(town: Town, number: int) -> list[str]:
    return [f["comment"]["body"] for f in town.ours(number) if f["kind"] == "reply"]


def labels(town: Town, number: int) -> set[str]:
    return {label["name"] for label in town.client.issue(REPO, number)["labels"]}


def entries(town: Town, number: int) -> list[log.Entry]:
    url = f"{town.service}/api/features/{REPO}/{number}/log"
    document = httpx.get(url).json()
    return [log.Entry(**entry) for entry in document["entries"]]


def test_from_label_to_specification(town: Town) -> None:
    number = waiting_feature(town)
    until(lambda: "baron:waiting" in labels(town, number), 10, "no label")
    found = town.escalated(number)
    assert found
    first, *rest = (fields["question"] for fields in found)
    say(town, number, f"/confirm {first}")
    for name in rest:
        say(town, number, f"/correct {name} As the plan says.")
    while not town.done(number):
        for fields in town.escalated(number):
            say(town, number, f"/correct {fields['question']} As the plan says.")
        time.sleep(0.2)
    branch = f"{number:03d}-let-customers-download-their"
    spec = town.client.file(REPO, f"specs/{branch}/spec.md", branch)
    assert f"# Feature Specification: {TITLE}" in spec
    assert "As the plan says." in spec or not rest
    assert "validated by: human" in spec
    until(lambda: "baron:waiting" in labels(town, number), 10, "no label")
    town.nothing_twice(number)
    chain = entries(town, number)
    assert log.broken_at(chain) is None
    kinds = {entry.kind for entry in chain}
    assert {
        "started",
        "generated",
        "question",
        "routing",
        "escalation",
        "human",
        "settled",
    } <= kinds
    assert [one.kind for one in chain if one.kind != "task.listed"][-1] == "written"


def test_context_is_asked_again_and_linked(town: Town) -> None:
    number = waiting_feature(town)
    asked_by_agent = [f for f in town.escalated(number) if "Tentative" in f["comment"]["body"]]
    assert asked_by_agent, "no agent's answer was unsure"
    name = asked_by_agent[0]["question"]
    say(town, number, f"/context {name} We have eleven customers and one server.")
    until(
        lambda: [e.kind for e in entries(town, number) if e.question == name].count("answer") == 2,
        15,
        "no second answer",
    )
    about = [entry for entry in entries(town, number) if entry.question == name]
    human = next(entry for entry in about if entry.kind == "human")
    asked = [entry for entry in about if entry.kind == "asked"][1]
    again = [entry for entry in about if entry.kind == "answer"][1]
    assert asked.links == [human.seq]
    assert again.links == [asked.seq]


def test_stranger_reader_and_bot(town: Town) -> None:
    number = waiting_feature(town)
    name = town.escalated(number)[0]["question"]
    comment = say(town, number, f"/correct {name} mine", by="sol", wait="confused")
    assert reactions(town, comment) == {"confused"}
    assert replies(town, number) == []
    assert name in {fields["question"] for fields in town.escalated(number)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("/confirm Q99", "there is no question Q99"),
        ("/cofirm", "Did you mean"),
        ("/plan", "the documents are written when"),
        ("/retro", "not available yet"),
        ("/correct", "/correct"),
    ],
)
def test_mistakes_are_answered_with_a_reason(town: Town, text: str, reason: str) -> None:
    number = waiting_feature(town)
    say(town, number, text, wait="confused")
    until(lambda: any(reason in body for body in replies(town, number)), 10, "no reason")


def test_help_status_questions(town: Town) -> None:
    number = waiting_feature(town)
    say(town, number, "/help\n/status\n@baron questions all")
    until(lambda: replies(town, number), 10, "no reply")
    (body,) = replies(town, number)
    for part in ("/confirm", "waits for", "| Q1 |"):
        assert part in body


def test_capacity_asks_people_only(town: Town) -> None:
    number = town.open("Scale the shop to six pods", "Sales week is coming.", "feature:capacity")
    until(lambda: town.waits_for_people(number), 20, "nobody is asked")
    assert not [entry for entry in entries(town, number) if entry.kind == "answer"]


def test_label_removed_and_set_again(town: Town) -> None:
    number = waiting_feature(town)
    mara = town.client.as_user("mara")
    mara.unlabel(REPO, number, "feature")
    until(lambda: "paused" in town.status(number), 10, "it goes on")
    until(lambda: "baron:paused" in labels(town, number), 10, "no label")
    mara.label(REPO, number, "feature")
    until(lambda: town.waits_for_people(number), 10, "it stays paused")
    town.nothing_twice(number)


def test_closed_deleted_transferred(town: Town) -> None:
    mara = town.client.as_user("mara")
    closed = waiting_feature(town)
    mara.close(REPO, closed)
    until(lambda: "paused" in town.status(closed), 10, "it goes on")
    deleted = waiting_feature(town)
    town.client.as_user("ada").delete_issue(REPO, deleted)
    until(lambda: entries(town, deleted)[-1].kind == "gone", 10, "still there")


def test_reader_cannot_start_a_feature(town: Town) -> None:
    ravi = town.client.as_user("ravi")
    number = int(ravi.open_issue(REPO, "Mine", "x", labels=["feature"])["number"])
    time.sleep(2)
    assert town.status(number) == ""


def test_same_delivery_again_has_no_second_effect(town: Town) -> None:
    number = waiting_feature(town)
    before = len(entries(town, number))
    for item in town.client.deliveries():
        if item["event"] == "issues" and item["action"] == "labeled":
            town.client.redeliver(item["id"])
            break
    time.sleep(1.5)
    assert len(entries(town, number)) == before
    town.nothing_twice(number)


def test_log_of_the_command_line_is_the_same(town: Town) -> None:
    number = waiting_feature(town)
    chain = entries(town, number)
    assert [entry.seq for entry in chain] == list(range(1, len(chain) + 1))
