"""GitHub's payloads, read leniently: the few fields we need, any of which may be missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.events import (
    Closed,
    Commented,
    GitHubEvent,
    Issue,
    Labeled,
    Person,
    PullChanged,
    PullClosed,
    Pushed,
    PushedCommit,
    Reopened,
    Unlabeled,
    Vanished,
)
from app.features.model import Place

USED = {
    "issues": {"labeled", "unlabeled", "closed", "reopened", "deleted", "transferred"},
    "issue_comment": {"created", "edited"},
    "pull_request": {
        *("opened", "synchronize", "reopened", "edited", "ready_for_review", "closed"),
    },
    "push": {"feature"},
}
"""The events, and of each the actions, that we act on; the rest is stored and ignored."""
_FEATURE_BRANCH = re.compile(r"refs/heads/(\d{3,12})-[a-z0-9-]+\Z")
_PATHS = 500
"""Paths of a push that are looked at."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What is stored beside the raw payload so that a delivery can take its turn."""

    event: str
    action: str
    repo_id: int | None
    issue: int | None

    @property
    def used(self) -> bool:
        return self.action in USED.get(self.event, set())


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _int(value: Any) -> int:
    """A whole number that the database can hold, or 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value < 2**63 else 0


def _text(value: Any) -> str:
    """Text that the database can hold: no NUL, no half surrogates."""
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", "").encode("utf-8", "replace").decode()


def envelope(event: str, payload: Any) -> Envelope:
    """Never fails: a payload without the usual fields is stored all the same."""
    data = _map(payload)
    repo = _int(_map(data.get("repository")).get("id"))
    issue = _int(_map(data.get("issue")).get("number"))
    action = _text(data.get("action"))
    if event == "push":  # GitHub names no action: most pushes are nothing to us
        issue = _issue_of(_text(data.get("ref")))
        action = "feature" if issue else ""
    return Envelope(event, action, repo or None, issue or None)


def _issue_of(ref: str) -> int:
    """The issue that the name of a feature's branch begins with; 0 for any other branch."""
    found = _FEATURE_BRANCH.match(ref)
    return int(found[1]) if found else 0


def _person(value: Any) -> Person:
    data = _map(value)
    login = _text(data.get("login"))
    return Person(login, data.get("type") == "Bot" or login.endswith("[bot]"))


def _issue(data: Mapping[str, Any]) -> Issue | None:
    repository, issue = _map(data.get("repository")), _map(data.get("issue"))
    place = Place(
        installation=_int(_map(data.get("installation")).get("id")),
        repo_id=_int(repository.get("id")),
        repo=_text(repository.get("full_name")),
        number=_int(issue.get("number")),
    )
    if not place.repo_id or not place.number or place.repo.count("/") != 1:
        return None
    labels = issue.get("labels")
    return Issue(
        place=place,
        title=_text(issue.get("title")),
        body=_text(issue.get("body")),
        author=_text(_map(issue.get("user")).get("login")),
        labels=tuple(
            _text(_map(label).get("name")) for label in (labels if isinstance(labels, list) else [])
        ),
        closed=issue.get("state") == "closed",
        pull_request=bool(issue.get("pull_request")),
        default_branch=_text(repository.get("default_branch")) or "main",
    )


def read_event(event: str, guid: str, payload: Any) -> GitHubEvent | None:
    """The event as the handlers know it, or None for one that we do not act on."""
    data = _map(payload)
    if event == "pull_request":
        return _pull_event(guid, data)
    if event == "push":
        return _push_event(guid, data)
    issue = _issue(data)
    sender = _person(data.get("sender"))
    if issue is None or not sender.login:
        return None
    action = _text(data.get("action"))
    if event == "issues":
        return _issue_event(action, guid, sender, issue, data)
    if event == "issue_comment":
        return _comment_event(action, guid, sender, issue, data)
    return None


def _pull_event(guid: str, data: Mapping[str, Any]) -> GitHubEvent | None:
    pull = _map(data.get("pull_request"))
    issue = _issue({**data, "issue": pull})
    sender = _person(data.get("sender"))
    head = _text(_map(pull.get("head")).get("sha"))
    if (
        issue is None
        or not sender.login
        or not head
        or data.get("action") not in USED["pull_request"]
    ):
        return None
    if data.get("action") == "edited" and not _map(data.get("changes")).get("base"):
        return None  # a new title changes nothing that is checked; another base does
    issue = replace(issue, pull_request=True)
    branch = _own_branch(pull)
    if data.get("action") == "closed":
        return PullClosed(guid, sender, issue, branch, pull.get("merged") is True, head)
    base = _text(_map(pull.get("base")).get("sha"))
    draft, again = pull.get("draft") is True, data.get("action") == "reopened"
    into = _text(_map(pull.get("base")).get("ref"))
    return PullChanged(guid, sender, issue, head, base, into, branch, draft, again)


def _own_branch(pull: Mapping[str, Any]) -> str:
    """The head's branch; empty for one of a fork, which is somebody else's."""
    head, base = _map(pull.get("head")), _map(pull.get("base"))
    theirs, ours = _map(head.get("repo")).get("id"), _map(base.get("repo")).get("id")
    return _text(head.get("ref")) if theirs == ours else ""


def _push_event(guid: str, data: Mapping[str, Any]) -> Pushed | None:
    """Commits on a feature's branch; a deleted one has none."""
    number = _issue_of(_text(data.get("ref")))
    issue = _issue({**data, "issue": {"number": number}})
    sender = _person(data.get("sender"))
    if issue is None or not sender.login or data.get("deleted") is True:
        return None
    listed = data.get("commits")
    commits = tuple(_pushed(_map(one)) for one in (listed if isinstance(listed, list) else []))
    branch = _text(data.get("ref")).removeprefix("refs/heads/")
    return Pushed(guid, sender, issue, branch, _text(data.get("after")), commits)


def _pushed(commit: Mapping[str, Any]) -> PushedCommit:
    paths: list[str] = []
    for name in ("added", "modified", "removed"):
        listed = commit.get(name)
        paths += [_text(path) for path in (listed if isinstance(listed, list) else [])]
    author = _text(_map(commit.get("author")).get("username"))
    said = _text(commit.get("message"))[:5000]
    fresh = commit.get("distinct") is not False
    return PushedCommit(_text(commit.get("id")), said, author, tuple(paths[:_PATHS]), fresh)


def _issue_event(
    action: str, guid: str, sender: Person, issue: Issue, data: Mapping[str, Any]
) -> GitHubEvent | None:
    label = _text(_map(data.get("label")).get("name"))
    match action:
        case "labeled" if label:
            return Labeled(guid, sender, issue, label)
        case "unlabeled" if label:
            return Unlabeled(guid, sender, issue, label)
        case "closed":
            return Closed(guid, sender, issue)
        case "reopened":
            return Reopened(guid, sender, issue)
        case "deleted" | "transferred":
            return Vanished(guid, sender, issue, action)
        case _:
            return None


def _comment_event(
    action: str, guid: str, sender: Person, issue: Issue, data: Mapping[str, Any]
) -> GitHubEvent | None:
    comment = _map(data.get("comment"))
    comment_id = _int(comment.get("id"))
    author = _person(comment.get("user"))
    if not comment_id or (_map(comment.get("performed_via_github_app")).get("id") and author.bot):
        return None
    body = _text(comment.get("body"))
    if action == "created":
        at = _text(comment.get("created_at"))
        return Commented(guid, sender, issue, comment_id, body, at=at)
    if action == "edited":
        return _edited(guid, sender, issue, comment_id, data) if sender == author else None
    return None


def _edited(
    guid: str, sender: Person, issue: Issue, comment_id: int, data: Mapping[str, Any]
) -> GitHubEvent | None:
    """Anybody with write access can edit a comment of somebody else: only the author's own counts.

    Without the text as it was before, nothing in it can be called new.
    """
    before = _map(_map(data.get("changes")).get("body")).get("from")
    if not isinstance(before, str):
        return None
    comment = _map(data.get("comment"))
    at = _text(comment.get("updated_at"))
    return Commented(guid, sender, issue, comment_id, _text(comment.get("body")), before, at)
