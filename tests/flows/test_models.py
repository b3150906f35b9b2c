"""A real thread on models: @baron and @veuve through an API, @duc as the real Claude Code.

The only stand-in is the model's words: a scripted server on loopback.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from app.config.shipped import shipped_folder
from app.store import log
from tests.agents.scripted import Scene, ScriptedModel, Seen, fails, gives, hangs
from tests.recovery.town import REPO, Town, until

pytestmark = [pytest.mark.needs("claude")]

KEY = "a-key-that-no-agent-sees"


def question(topic: str, text: str, target: str) -> dict[str, Any]:
    options = [{"text": "Yes", "implication": "More work."}, {"text": "No"}]
    return {"topic": topic, "question": text, "target": target, "why": "It decides much.",
            "options": options, "recommended": 1, "category": "data"}  # fmt: skip


QUESTIONS = [
    question("architecture.exports", "Do exports run in the background?", "architect"),
    question("product.scope", "Are refunds part of it?", "product"),
]


class Words:
    """What the model says, by who is asked; a test may put in other words."""

    def __init__(self) -> None:
        self.by: dict[str, Callable[[Seen], Scene]] = {
            "baron": lambda _: gives({"questions": QUESTIONS}),
            "duc": lambda _: gives({
                "content": "A: Yes, as a job.", "rationale": "Files are long.", "confidence": 93,
                "uncertainty_reasons": [], "sources": [{"ref": "P1", "quote": ""}],
            }),
            "veuve": lambda _: gives({
                "content": "B: No.", "confidence": 55, "uncertainty_reasons": ["Nobody said so."],
            }),
            "writer": _document,
        }  # fmt: skip

    def __call__(self, seen: Seen) -> Scene:
        return self.by[_who(seen)](seen)


def _who(seen: Seen) -> str:
    if "You write" in seen.system:
        return "writer"
    if "find what it leaves open" in seen.system:
        return "baron"
    return "duc" if "You are @duc" in seen.system else "veuve"


def _document(seen: Seen) -> Scene:
    found = re.search(r"<<data \w+ draft>>\n(.*?)\n<<end", seen.said, re.DOTALL)
    assert found
    return gives({"text": found[1].replace("## Overview", "## Overview\n\nWritten by a model.")})


@pytest.fixture(scope="module")
def words() -> Words:
    return Words()


@pytest.fixture(scope="module")
def model(words: Words) -> Iterator[ScriptedModel]:
    with ScriptedModel(script=words) as model:
        yield model


@pytest.fixture(scope="module")
def town(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("models")
    configs = folder / "configs"
    shutil.copytree(shipped_folder(), configs)
    agents = yaml.safe_load((configs / "agents.yaml").read_text())
    agents["roles"]["architect"] |= {"backend": "claude", "model": "opus"}
    agents["roles"]["product"] |= {"backend": "llm"}
    agents["budget"] = {"person": None, "feature": 5.0}
    (configs / "agents.yaml").write_text(yaml.safe_dump(agents))
    env = {
        "KR_CONFIG_DIR": str(configs),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": model.url,
    }
    with Town(folder / "town", env=env) as town:
        yield town


def entries(town: Town, number: int, kind: str) -> list[log.Entry]:
    found = httpx.get(f"{town.service}/api/features/{REPO}/{number}/log").json()
    every = [log.Entry(**entry) for entry in found.get("entries", [])]
    return [entry for entry in every if entry.kind == kind]


def comment(town: Town, number: int, name: str) -> str:
    bodies = [one["comment"]["body"] for one in town.ours(number) if one.get("question") == name]
    return bodies[0] if bodies else ""


def requests(model: ScriptedModel, who: str) -> list[Seen]:
    return [seen for seen in model.requests if _who(seen) == who]


def test_a_feature_on_models_from_label_to_specification(town: Town, model: ScriptedModel) -> None:
    number = town.open("Let customers export orders", "They want them as a file.")
    until(lambda: town.waits_for_people(number), 90, "nobody is asked")
    (generated,) = entries(town, number, "generated")
    assert (generated.data["generator"], generated.data["count"]) == ("llm", 2)
    assert generated.data["cost"]["calls"] == 1

    by_duc, by_veuve = sorted(entries(town, number, "answer"), key=lambda one: one.question or "")
    assert (by_duc.actor, by_duc.data["verdict"], by_duc.data["backend"]) == (
        "@duc", "accepted", "claude"
    )  # fmt: skip
    assert by_duc.data["model"].startswith("claude-opus")
    assert by_duc.data["prompt"].startswith("knowledge/1-")
    assert (by_veuve.data["verdict"], by_veuve.data["confidence"]) == ("escalated", 55)
    assert by_veuve.data["cost"]["usd"] > 0

    shown = comment(town, number, "Q2")
    assert "B: No." in shown
    assert "<summary>Model and cost</summary>" in shown
    assert "Looked in:" in shown
    town.client.as_user("mara").comment(REPO, number, "/confirm Q2")
    until(lambda: town.done(number), 60, "no specification")
    (documents,) = entries(town, number, "documents")
    assert documents.data["documents"][0]["error"] is None, documents.data
    assert "Models so far: $" in town.status(number)


def test_on_the_wire_duc_is_opus_with_no_tool_and_no_repository(
    town: Town, model: ScriptedModel
) -> None:
    number = town.open("Packing notes", "They want them as a file.")
    until(lambda: town.waits_for_people(number), 90, "nobody is asked")
    asked = requests(model, "duc")
    assert asked
    for seen in asked:
        assert seen.body["model"].startswith("claude-opus")
        assert len(seen.tools) <= 1  # that of the structured output
        assert seen.headers["x-api-key"] == KEY  # the forwarder put it in
        assert "They want them as a file." not in seen.system
        assert str(Path.cwd()) not in str(seen.body)
        assert str(town.folder) not in str(seen.body)
    for seen in requests(model, "veuve"):
        assert seen.body["model"].startswith("claude-sonnet")


def test_a_malformed_confidence_is_asked_again_and_then_goes_to_a_person(
    town: Town, model: ScriptedModel, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(requests(model, "veuve"))
    bad = {"content": "B: No.", "confidence": 250}
    monkeypatch.setitem(words.by, "veuve", lambda _: gives(bad))
    number = town.open("Refund notes", "Customers want notes with refunds.")
    until(lambda: town.escalated(number), 90, "nobody is asked")
    (failed,) = entries(town, number, "agent.failed")
    assert failed.actor == "@veuve"
    assert len(requests(model, "veuve")) == before + 3
    assert failed.data["cost"]["calls"] == 3
    shown = comment(town, number, "Q2").replace("&#8203;", "")
    assert "Agent unavailable (@veuve)" in shown


def test_where_the_model_is_down_the_handbook_answers_and_says_so(
    town: Town, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(words.by, "veuve", lambda _: fails(401, "no such key"))
    number = town.open("Gift notes", "Customers want notes with gifts.")
    until(lambda: [e for e in entries(town, number, "answer") if e.question == "Q2"], 90, "none")
    (answer,) = [e for e in entries(town, number, "answer") if e.question == "Q2"]
    assert answer.data["backend"] == "retrieval"
    assert "the model could not be asked" in answer.data["uncertainty_reasons"][0]


def test_a_budget_stops_the_models_and_the_issue_shows_it(
    town: Town, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear = {"input_tokens": 2_600_000, "output_tokens": 10_000}
    monkeypatch.setitem(
        words.by, "baron", lambda _: replace(gives({"questions": QUESTIONS}), usage=dear)
    )
    number = town.open("Dear notes", "Customers want notes.")
    until(lambda: "Models are not asked any more" in town.status(number), 90, "no stop")
    assert "the budget of $5.00 for this issue" in town.status(number)
    until(lambda: len(town.escalated(number)) == 2, 60, "people are not asked")
    town.client.as_user("mara").comment(REPO, number, "/correct Q1 Yes.\n/correct Q2 No.")
    until(lambda: town.done(number), 60, "people could not answer")


def mark_of(town: Town) -> bytes:
    """What the supervisor of this town marks its agents' process with, and all that it starts."""
    environment = Path(f"/proc/{town.pids()['agents']}/environ").read_bytes()
    found = re.search(rb"(?:^|\0)KR_SUPERVISED=([^\0]*)", environment)
    assert found
    return found[1]


def agents_at_work(mark: bytes) -> list[int]:
    """Processes that an agent's enclosure of this town started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:
            continue
        if b"KR_SUPERVISED=" + mark + b"agent-" in environment:
            found.append(int(path.parent.name))
    return found


def test_stop_ends_the_process_that_is_under_way(
    town: Town, model: ScriptedModel, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = mark_of(town)
    until(lambda: not agents_at_work(mark), 60, "agents are at work for another issue")
    monkeypatch.setitem(words.by, "duc", lambda _: hangs())
    model.waiting.clear()
    number = town.open("Slow notes", "Customers want slow notes.")
    until(model.waiting.is_set, 60, "the model was not asked")
    assert agents_at_work(mark)
    town.client.as_user("mara").comment(REPO, number, "/stop")
    until(lambda: not agents_at_work(mark), 60, "its process is still there")
    assert entries(town, number, "agent.failed") == []
    assert "paused" in town.status(number)


def test_a_killed_worker_takes_its_process_along_and_the_question_is_asked_again(
    town: Town, model: ScriptedModel, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    duc = words.by["duc"]
    monkeypatch.setitem(words.by, "duc", lambda _: hangs())
    model.waiting.clear()
    number = town.open("Lost notes", "Customers want notes that they lost.")
    until(model.waiting.is_set, 60, "the model was not asked")
    mark = mark_of(town)
    before = agents_at_work(mark)
    assert before
    monkeypatch.setitem(words.by, "duc", duc)
    town.kill("agents")
    until(lambda: not set(before) & set(agents_at_work(mark)), 20, "the old process is still there")
    until(lambda: entries(town, number, "answer"), 90, "nobody asked again")
    until(lambda: town.waits_for_people(number), 60, "it does not go on")
    answers = [one for one in entries(town, number, "answer") if one.question == "Q1"]
    assert [one.data["verdict"] for one in answers] == ["accepted"]
    town.nothing_twice(number)
