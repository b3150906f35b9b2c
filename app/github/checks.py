"""Check runs: found by their `external_id`, so that one that stands is not made again."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from app.actions import ShowCheck
from app.github.client import RepoClient

_NOTES = 50
"""Annotations that GitHub takes in one request."""


async def find_check(client: RepoClient, effect: ShowCheck) -> int | None:
    """The id of our check run for this effect, or None."""
    found = await client.call(
        "GET",
        f"/commits/{effect.head}/check-runs",
        params={"check_name": effect.name, "filter": "all", "per_page": "100"},
    )
    runs = found.get("check_runs", [])
    return next((int(run["id"]) for run in runs if run.get("external_id") == effect.key), None)


async def create_check(client: RepoClient, effect: ShowCheck) -> int:
    """Make it, with the first annotations. Returns its id."""
    body = {**_body(effect), "name": effect.name, "head_sha": effect.head}
    created = await client.call("POST", "/check-runs", json=body)
    return int(created["id"])


async def update_check(client: RepoClient, run: int, effect: ShowCheck) -> None:
    await client.call("PATCH", f"/check-runs/{quote(str(run))}", json=_body(effect))


def _body(effect: ShowCheck) -> dict[str, Any]:
    return {
        "status": "completed",
        "conclusion": effect.conclusion,
        "external_id": effect.key,
        "output": {
            "title": effect.title,
            "summary": effect.summary,
            "annotations": [
                {
                    "path": note.path,
                    "start_line": note.line,
                    "end_line": note.line,
                    "annotation_level": "failure",
                    "message": note.message,
                }
                for note in effect.notes[:_NOTES]
            ],
        },
    }
