"""Payloads as they come: recorded, odd, hostile."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.events import Closed, Commented, Labeled, Reopened, Unlabeled, Vanished
from app.github.payloads import envelope, read_event

REPOSITORY = {"id": 70, "full_name": "acme/storefront", "default_branch": "trunk"}
ISSUE = {
    "number": 12,
    "title": "T",
    "body": "B",
    "user": {"login": "rosa"},
    "labels": [{"name": "feature"}, None, "odd"],
    "state": "open",
}
SENDER = {"login": "mara", "type": "User"}


def payload(action: str, **more: object) -> dict:
    return {
        "action": action,
        "issue": ISSUE,
        "repository": REPOSITORY,
        "sender": SENDER,
        "installation": {"id": 7},
        **more,
    }


@pytest.mark.parametrize(
    ("action", "more", "kind"),
    [
        ("labeled", {"label": {"name": "feature"}}, Labeled),
        ("unlabeled", {"label": {"name": "feature"}}, Unlabeled),
        ("closed", {}, Closed),
        ("reopened", {}, Reopened),
        ("deleted", {}, Vanished),
        ("transferred", {}, Vanished),
    ],
)
def test_issue_events(action: str, more: dict, kind: type) -> None:
    event = read_event("issues", "g", payload(action, **more))
    assert isinstance(event, kind)
    assert str(event.issue.place) == "acme/storefront#12"
    assert event.issue.default_branch == "trunk"
    assert event.issue.labels == ("feature", "", "")
    assert event.sender.login == "mara"


@pytest.mark.parametrize("action", ["opened", "labeled", "pinned", ""])
def test_other_actions_are_nothing(action: str) -> None:
    assert read_event("issues", "g", payload(action)) is None


def comment(body: str = "/confirm", user: dict = SENDER, **more: object) -> dict:
    return {"id": 5, "body": body, "user": user, **more}


def test_comment_created() -> None:
    event = read_event("issue_comment", "g", payload("created", comment=comment()))
    assert isinstance(event, Commented)
    assert (event.comment_id, event.body, event.before) == (5, "/confirm", None)


def test_comment_edited_counts_for_its_author_only() -> None:
    changes = {"body": {"from": "old"}}
    data = payload("edited", comment=comment(), changes=changes)
    event = read_event("issue_comment", "g", data)
    assert isinstance(event, Commented)
    assert event.before == "old"
    victim = comment(user={"login": "victim", "type": "User"})
    data = payload("edited", comment=victim, changes=changes)
    assert read_event("issue_comment", "g", data) is None
    data = payload("edited", comment=comment(), changes={})
    assert read_event("issue_comment", "g", data) is None


def test_comment_of_an_app_is_nothing_and_sender_bot_is_marked() -> None:
    ours = comment(user={"login": "baron[bot]", "type": "Bot"}, performed_via_github_app={"id": 1})
    assert read_event("issue_comment", "g", payload("created", comment=ours)) is None
    data = payload("created", comment=comment(), sender={"login": "x[bot]"})
    event = read_event("issue_comment", "g", data)
    assert event is not None
    assert event.sender.bot


def test_text_that_no_database_takes_is_cleaned() -> None:
    data = payload("created", comment=comment("a\x00b\ud800c"))
    event = read_event("issue_comment", "g", data)
    assert isinstance(event, Commented)
    assert event.body == "ab?c"


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        "text",
        {},
        {"issue": None},
        {"repository": {"id": "70", "full_name": "x"}},
        {"issue": {"number": -1}},
        {"issue": {"number": 2**80}},
        {"issue": {"number": True}},
        {"sender": {}},
    ],
)
def test_odd_payloads_are_nothing(broken: object) -> None:
    data = payload("closed") | broken if isinstance(broken, dict) and broken else broken
    assert read_event("issues", "g", data) is None
    assert envelope("issues", data).event == "issues"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
_names = st.sampled_from(
    ["action", "issue", "repository", "sender", "installation", "comment", "label", "changes"]
)


@settings(max_examples=10_000, deadline=None)
@given(
    st.sampled_from(["issues", "issue_comment", "push", ""]),
    st.sampled_from(["labeled", "created", "edited", "deleted", "closed"]),
    st.dictionaries(_names, _json, max_size=4),
)
def test_no_payload_breaks_the_reader(event: str, action: str, odd: dict) -> None:
    data = {**payload(action, comment=comment(), label={"name": "feature"}), **odd}
    read = envelope(event, data)
    assert read.repo_id is None or 0 < read.repo_id < 2**63
    found = read_event(event, "g", data)
    if found is not None:
        json.dumps(found.issue.title)
        assert found.issue.place.number > 0
