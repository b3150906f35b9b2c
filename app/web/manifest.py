"""The App's manifest: what GitHub asks the operator to agree to, and nothing more."""

from __future__ import annotations

import json

from app.settings import Settings
from app.web.webhooks import PATH


def manifest(settings: Settings) -> str:
    """JSON of the manifest (GitHub: registering an App from a manifest)."""
    return json.dumps(
        {
            "name": "baron",
            "url": settings.base_url,
            "hook_attributes": {"url": settings.base_url + PATH, "active": True},
            "redirect_url": settings.base_url + "/setup",
            "public": False,
            "default_permissions": {
                "issues": "write",
                "contents": "write",
                "pull_requests": "write",
                "checks": "write",
                "members": "read",
                "metadata": "read",
            },
            "default_events": ["issues", "issue_comment", "pull_request", "push"],
        }
    )
