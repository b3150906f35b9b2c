"""The roster that is in force where no `agents.yaml` is: the same as in `configs/agents.yaml`."""

from __future__ import annotations

from typing import Any

ROSTER: dict[str, Any] = {
    "roles": {
        "project-manager": {
            "handle": "@baron",
            "kind": "driver",
            "backend": "auto",
            "timeout": "5m",
        },
        "architect": {
            "handle": "@duc",
            "kind": "knowledge",
            "backend": "auto",
            "knowledge": "agents/architect/handbook",
            "aliases": ["security-reviewer"],
            "description": "Every technical decision: architecture, backend and frontend, APIs,"
            " data and storage, authentication and security, infrastructure, performance,"
            " reliability, releases.",
        },
        "product": {
            "handle": "@veuve",
            "kind": "knowledge",
            "backend": "auto",
            "knowledge": "agents/product/handbook",
            "description": "Product and business: what is in scope, for which customers, how it"
            " looks and reads, pricing and plans, adoption, communication, support, success"
            " measures.",
        },
        "qa": {"handle": "@marie", "kind": "execution", "backend": "none", "timeout": "30m"},
        "developer": {"handle": "@dede", "kind": "execution", "backend": "none", "timeout": "30m"},
        "devops": {"handle": "@gustave", "kind": "execution", "backend": "none", "timeout": "30m"},
        "reviewer": {"handle": "@degaulle", "kind": "execution", "backend": "none"},
    }
}
