"""The roster that is in force where no `agents.yaml` is: the same as in `configs/agents.yaml`."""

from __future__ import annotations

from typing import Any

ROSTER: dict[str, Any] = {
    "roles": {
        "project-manager": {"handle": "@baron", "kind": "driver", "backend": "none"},
        "architect": {
            "handle": "@duc",
            "kind": "knowledge",
            "backend": "retrieval",
            "knowledge": "agents/architect/handbook",
            "capacity": 5,
            "aliases": ["security-reviewer"],
        },
        "product": {
            "handle": "@veuve",
            "kind": "knowledge",
            "backend": "retrieval",
            "knowledge": "agents/product/handbook",
            "capacity": 5,
        },
        "qa": {"handle": "@marie", "kind": "execution", "backend": "none"},
        "developer": {"handle": "@dede", "kind": "execution", "backend": "none"},
        "devops": {"handle": "@gustave", "kind": "execution", "backend": "none"},
        "reviewer": {"handle": "@degaulle", "kind": "execution", "backend": "none"},
    }
}
