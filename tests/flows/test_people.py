"""Questions, talk, routing and time on a real thread (specs/1, US3, US6, US8; specs/2)."""

from __future__ import annotations

import json

import pytest

from app.cli import main
from tests.flows.test_conversation import entries, replies, say, waiting_feature
from tests.recovery.town import REPO, Town, until


def comments(town: Town, number: int) -> list[dict]:
    return [fields["comment"] for fields in town.ours(number)]


def test_ask_on_an_issue_that_is_no_feature(town: Town) -> None:
    number = town.open("A question", "Nothing to build.", None)
    say(town, number, '/ask architecture.auth "Should refresh tokens be stored in cookies?"')
    until(
        lambda: any("answers mara" in c["body"] or "is asked" in c["body"]
                    for c in comments(town, number)),
        20,
        "no answer",
    )  # fmt: skip
    kinds = [fields["kind"] for fields in town.ours(number)]
    assert kinds == ["question"]
    assert [entry.kind for entry in entries(town, number)][:3] == ["question", "routing", "asked"]


def test_why_config_and_questions(town: Town) -> None:
    number = waiting_feature(town)
    name = town.escalated(number)[0]["question"]
    say(town, number, f"/why {name}")
    until(lambda: any(f"Why {name}?" in body for body in replies(town, number)), 10, "no why")
    say(town, number, "/config")
    until(lambda: any("answerers.yaml" in body for body in replies(town, number)), 10, "no config")
    say(town, number, "/questions escalated")
    until(lambda: any(f"| {name} |" in body for body in replies(town, number)), 10, "no list")


def test_chat_then_confirm(town: Town) -> None:
    number = waiting_feature(town)
    unsure = [f for f in town.escalated(number) if "Tentative" in f["comment"]["body"]]
    name = unsure[0]["question"]
    say(town, number, f"/chat {name}")
    comment = town.client.as_user("mara").comment(REPO, number, "We keep invoices for ten years.")
    until(
        lambda: any(f"**@baron** on {name}" in body for body in replies(town, number)),
        20,
        "no answer in the conversation",
    )
    assert {one["content"] for one in town.client.reactions(comment["id"])} == {"eyes"}
    say(town, number, f"/confirm {name}")
    kinds = [entry.kind for entry in entries(town, number) if entry.question == name]
    assert kinds.count("chat") == 2
    assert kinds[-1] == "settled"
    town.nothing_twice(number)


def test_a_plain_letter_is_offered(town: Town) -> None:
    number = waiting_feature(town)
    name = town.escalated(number)[0]["question"]
    town.client.as_user("mara").comment(REPO, number, f"{name}: A")
    until(
        lambda: any(f"/correct {name} A" in body for body in replies(town, number)), 10, "no offer"
    )
    assert name in {fields["question"] for fields in town.escalated(number)}


def test_pause_and_resume(town: Town) -> None:
    number = waiting_feature(town)
    say(town, number, "/pause")
    say(town, number, "/correct Q1 no", wait="confused")
    say(town, number, "/resume")
    until(lambda: town.escalated(number), 10, "nobody is asked")
    town.nothing_twice(number)


def test_route_to_the_handbooks(town: Town) -> None:
    number = waiting_feature(town)
    name = town.escalated(number)[0]["question"]
    say(town, number, f"/route {name} tool/docs")
    until(
        lambda: any(
            entry.kind in {"answer", "agent.failed"} and entry.actor == "tool/docs"
            for entry in entries(town, number)
        ),
        20,
        "the tool did not answer",
    )


def test_route_to_the_code(town: Town) -> None:
    number = waiting_feature(town)
    name = town.escalated(number)[0]["question"]
    say(town, number, f"/route {name} tool/code-search")
    until(
        lambda: any(
            entry.kind in {"answer", "agent.failed"} and entry.actor == "tool/code-search"
            for entry in entries(town, number)
        ),
        20,
        "the tool did not answer",
    )
    about = [entry for entry in entries(town, number) if entry.actor == "tool/code-search"]
    assert about[0].kind == "answer", about[0].data


def test_kr_route_says_what_the_running_service_does(
    town: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    number = town.open("Routes", "Nothing to build.", None)
    topics = ("security.tokens", "budget.cloud", "ux.words", "zebra")
    asked = "\n".join(f'/ask {topic} "What about {topic}?"' for topic in topics)
    say(town, number, asked)
    routed = {e.data["answerer"] + e.question: e for e in entries(town, number)
              if e.kind == "routing"}  # fmt: skip
    assert len(routed) == len(topics)
    for entry, topic in zip(routed.values(), topics, strict=True):
        assert main(["route", topic, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert {key: entry.data[key] for key in ("answerer", "agent", "rule", "threshold")} == {
            key: said[key] for key in ("answerer", "agent", "rule", "threshold")
        }
