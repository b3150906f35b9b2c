"""What is asked about different requests, and what is not because the issue says it."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from app.agents.building import load_bank
from app.embeddings import MiniLM
from app.features.bank import BankError, build_bank
from app.features.checklist import Checklist
from app.features.coverage import sentences
from app.features.types import FeatureRequest, FeatureType
from app.questions.model import Draft

BANK = load_bank(Path("configs/question-bank"))
IDS = {entry.question: entry.id for entry in BANK.entries}
MODEL = MiniLM()
GENERATOR = Checklist(BANK, MODEL.embed)
REQUESTS = {
    "login": (
        "A login page for the customer area",
        "Customers cannot see their orders without asking support. They should sign in and see"
        " them.\n\nMobile apps are out of scope.",
        FeatureType.FULL_STACK,
        {"login-method", "lockout"},
    ),
    "export": (
        "Let customers export their order history",
        "Accountants of our customers ask for all orders of a year.\n\n- Every customer can export"
        " their own orders\n- The file is a CSV",
        FeatureType.FULL_STACK,
        {"export-how", "export-link"},
    ),
    "helm": (
        "A Helm chart for the storefront",
        "We deploy by hand today. Argo CD should deploy the chart to our cluster. It runs with"
        " three replicas.",
        FeatureType.INFRA,
        {"infra-resources", "infra-probes", "infra-secrets"},
    ),
    "limiter": (
        "Rate limit the public API",
        "One integration sends thousands of calls and slows everybody down. Whoever sends too much"
        " gets 429 with Retry-After.",
        FeatureType.BACKEND,
        {"limit-key", "limit-algorithm"},
    ),
    "rename": (
        "Rename “basket” to “cart”",
        "Half of the interface says basket, the other half cart. Everything should say cart.",
        FeatureType.FULL_STACK,
        {"rename-compat"},
    ),
    "webhooks": (
        "Webhooks for order events",
        "Partners poll us every minute. They should get a webhook when an order changes. A failed"
        " delivery is retried for a day.",
        FeatureType.BACKEND,
        {"hook-signing"},
    ),
    "upload": (
        "Upload photos with a return request",
        "Customers describe damage in words today. They should upload photos of up to 10 MB.",
        FeatureType.FULL_STACK,
        {"upload-scan", "upload-store"},
    ),
    "search": (
        "Search the catalogue",
        "People scroll through 4,000 products. A search box on every page should help.",
        FeatureType.FULL_STACK,
        {"search-what", "search-engine"},
    ),
    "capacity": (
        "More capacity for the sale",
        "Last year the shop was slow on the first day.",
        FeatureType.CAPACITY,
        {"capacity-target", "capacity-until"},
    ),
    "config": (
        "Turn the new checkout on",
        "The flag NEW_CHECKOUT exists.",
        FeatureType.CONFIG,
        {"config-value", "config-where"},
    ),
}
ANSWERED = {
    "login": {"out-of-scope"},
    "export": {"export-format", "export-who"},
    "helm": {"infra-replicas"},
    "limiter": {"limit-answer"},
    "webhooks": {"hook-retries"},
    "upload": {"upload-limits"},
    "search": {"volume"},
}


def ask(name: str, limit: int = 6, add: str = "") -> list[Draft]:
    title, body, kind, _ = REQUESTS[name]
    return GENERATOR.look(FeatureRequest(title, body + add, kind), limit)


def ids(drafts: list[Draft]) -> set[str]:
    return {IDS[draft.text] for draft in drafts}


@pytest.mark.parametrize("name", REQUESTS)
def test_asks_what_belongs_to_the_request(name: str) -> None:
    asked = ids(ask(name))
    assert REQUESTS[name][3] <= asked, asked


@pytest.mark.parametrize("name", ANSWERED)
def test_asks_nothing_that_the_issue_answers(name: str) -> None:
    assert not ANSWERED[name] & ids(ask(name, limit=30))


def test_requests_differ_sensibly() -> None:
    asked = {name: ids(ask(name)) for name in REQUESTS}
    for one, other in itertools.combinations(asked, 2):
        shared = asked[one] & asked[other]
        assert len(shared) / len(asked[one] | asked[other]) < 0.5, (one, other, shared)


def test_saying_more_means_fewer_questions() -> None:
    more = (
        "\n\nThe export runs in the background. The link expires after one hour."
        " We have 20,000 orders a day. It may cost nothing extra: no additional cost."
    )
    before, after = ids(ask("export", 30)), ids(ask("export", 30, more))
    assert {"export-how", "export-link", "volume", "cost"} <= before
    assert not {"export-how", "export-link", "volume", "cost"} & after


@pytest.mark.parametrize("name", ["capacity", "config"])
def test_capacity_and_configuration_ask_people(name: str) -> None:
    assert {draft.target for draft in ask(name)} == {"human"}


def test_dependencies_come_first() -> None:
    for name in REQUESTS:
        for number, draft in enumerate(ask(name, 30), start=1):
            assert all(0 < earlier < number for earlier in draft.depends_on)


def test_limit_and_order() -> None:
    assert ask("login", 0) == []
    assert len(ask("login", 3)) == 3
    assert ask("login") == ask("login")


def test_hidden_text_and_code_answer_nothing() -> None:
    hidden = (
        "\n\n<!-- It has three failed attempts and then is locked. -->\n```\nafter 3 attempts\n```"
    )
    assert "lockout" in ids(ask("login", 30, hidden))


def test_doubt_is_no_answer() -> None:
    doubt = "\n\nSessions last twelve hours? Not sure whether by magic link."
    assert {"login-method", "session-lifetime"} <= ids(ask("login", 30, doubt))


def test_issue_form_fields() -> None:
    body = "### Out of scope\n\n_No response_\n\n### Limits\n\nFiles up to 25 MB"
    assert sentences("T", body) == ["T", "Limits: Files up to 25 MB"]


def test_empty_and_huge_issues() -> None:
    assert GENERATOR.look(FeatureRequest("", "", FeatureType.FULL_STACK), 6)
    begun = time.process_time()
    GENERATOR.look(FeatureRequest("Export", "Export it. " * 6000, FeatureType.FULL_STACK), 6)
    assert time.process_time() - begun < 60


def test_shipped_bank_is_worth_reading() -> None:
    for entry in BANK.entries:
        assert entry.question.endswith("?")
        assert entry.why.endswith(".")
        if entry.types in {(FeatureType.CAPACITY,), (FeatureType.CONFIG,)}:
            assert entry.target == "human"
    assert {entry.category for entry in BANK.entries} >= {"scope", "data", "flows", "terms"}


GOOD = {
    "id": "a",
    "category": "data",
    "topic": "data.x",
    "target": "architect",
    "types": ["backend"],
    "question": "Q?",
    "why": "W.",
    "impact": 3,
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"category": "weather"}, "category 'weather' is not one of"),
        ({"target": "boss"}, "target 'boss' is not one of"),
        ({"types": ["mobile"]}, "mobile"),
        ({"impact": 9}, "impact 9"),
        ({"impact": "x"}, "impact 'x'"),
        ({"colour": 1}, "unknown key colour"),
        ({"answered_by": ["("]}, "cannot be used"),
        ({"recommended": "B"}, "recommends B"),
        ({"depends_on": ["z"]}, "depends on z"),
    ],
)
def test_mistakes_in_the_bank_name_their_entry(change: dict, problem: str) -> None:
    with pytest.raises(BankError, match="a:") as caught:
        build_bank([("x.yaml", [{**GOOD, **change}])])
    assert problem in str(caught.value)


def test_other_mistakes_in_the_bank() -> None:
    rows = [GOOD, GOOD, "text", {key: value for key, value in GOOD.items() if key != "why"}]
    with pytest.raises(BankError) as caught:
        build_bank([("x.yaml", rows), ("y.yaml", {"a": 1})])
    text = str(caught.value)
    for part in ("the id stands twice", "is not a mapping", "why is missing", "not a list"):
        assert part in text


def test_cycle_in_the_bank_is_broken() -> None:
    one = {**GOOD, "id": "a", "depends_on": ["b"]}
    two = {**GOOD, "id": "b", "question": "R?", "depends_on": ["a"]}
    bank = build_bank([("x.yaml", [one, two])])
    drafts = Checklist(bank, MODEL.embed).look(FeatureRequest("T", "B", FeatureType.BACKEND), 6)
    assert len(drafts) == 2
    assert sum(len(draft.depends_on) for draft in drafts) == 1
