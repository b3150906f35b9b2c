"""Signed deliveries: `issues.labeled` payloads of about 10 KB, the shape that GitHub sends."""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from typing import Any

_API = "https://api.github.com"
_USER_LINKS = (
    "followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions "
    "organizations repos events{/privacy} received_events"
)
_REPOSITORY_LINKS = (
    "forks keys{/key_id} collaborators{/collaborator} teams hooks issues/events{/number} events "
    "assignees{/user} branches{/branch} tags git/blobs{/sha} git/tags{/sha} git/refs{/sha} "
    "git/trees{/sha} statuses/{sha} languages stargazers contributors subscribers subscription "
    "commits{/sha} git/commits{/sha} comments{/number} issues/comments{/number} contents/{+path} "
    "compare/{base}...{head} merges {archive_format}{/ref} downloads issues{/number} "
    "pulls{/number} milestones{/number} notifications{?since,all,participating} labels{/name} "
    "releases{/id} deployments"
)
_PARAGRAPH = (
    "Members export their data as CSV today and send it by mail. They want to download it from the "
    "settings page, choose the period, and be told when a large export is ready.\n\n"
)


def _link(name: str) -> str:
    return name.partition("{")[0].strip("/").replace("/", "_") + "_url"


def _user(login: str, number: int) -> dict[str, Any]:
    address = f"{_API}/users/{login}"
    links = {_link(name): f"{address}/{name}" for name in _USER_LINKS.split()}
    return {
        "login": login,
        "id": number,
        "node_id": f"U_{number:010d}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{number}?v=4",
        "gravatar_id": "",
        "url": address,
        "html_url": f"https://github.com/{login}",
        **links,
        "type": "User",
        "user_view_type": "public",
        "site_admin": False,
    }


def _label(name: str, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "node_id": f"LA_{number:010d}",
        "url": f"{_API}/repos/octo-org/service/labels/{name}",
        "name": name,
        "color": "a2eeef",
        "default": False,
        "description": "New feature or request",
    }


def _repository() -> dict[str, Any]:
    address = f"{_API}/repos/octo-org/service"
    links = {_link(name): f"{address}/{name}" for name in _REPOSITORY_LINKS.split()}
    return {
        "id": 700100,
        "node_id": "R_kgDOAAqu5A",
        "name": "service",
        "full_name": "octo-org/service",
        "private": True,
        "owner": _user("octo-org", 9001),
        "html_url": "https://github.com/octo-org/service",
        "description": "Everything that members see",
        "fork": False,
        "url": address,
        **links,
        "created_at": "2024-02-01T09:00:00Z",
        "updated_at": "2026-03-01T09:00:00Z",
        "pushed_at": "2026-03-01T09:00:00Z",
        "default_branch": "main",
        "open_issues_count": 42,
        "topics": [],
        "visibility": "private",
    }


def labeled(number: int) -> bytes:
    """The body of `issues.labeled` for one issue."""
    address = f"{_API}/repos/octo-org/service/issues/{number}"
    feature = _label("feature", 5001)
    payload = {
        "action": "labeled",
        "issue": {
            "url": address,
            "repository_url": f"{_API}/repos/octo-org/service",
            "labels_url": f"{address}/labels{{/name}}",
            "comments_url": f"{address}/comments",
            "events_url": f"{address}/events",
            "html_url": f"https://github.com/octo-org/service/issues/{number}",
            "id": 800000 + number,
            "node_id": f"I_{number:010d}",
            "number": number,
            "title": f"Export of members' data, part {number}",
            "user": _user("mona", 9002),
            "labels": [feature, _label("accounts", 5002)],
            "state": "open",
            "locked": False,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "comments": 0,
            "created_at": "2026-03-01T10:00:00Z",
            "updated_at": "2026-03-01T10:05:00Z",
            "closed_at": None,
            "author_association": "MEMBER",
            "body": _PARAGRAPH * 10,
            "reactions": {"url": f"{address}/reactions", "total_count": 0},
            "state_reason": None,
        },
        "label": feature,
        "repository": _repository(),
        "organization": {"login": "octo-org", "id": 9001, "url": f"{_API}/orgs/octo-org"},
        "sender": _user("hubot-maintainer", 9003),
        "installation": {"id": 31, "node_id": "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uMzE="},
    }
    return json.dumps(payload, separators=(",", ":")).encode()


def signature(secret: str, body: bytes) -> str:
    """The value of `X-Hub-Signature-256`."""
    return "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()
