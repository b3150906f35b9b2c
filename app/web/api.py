"""The REST API, for reading: features, their questions, their log."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Security

from app.settings import Settings
from app.store import log, threads
from app.store.engine import connect, to_json
from app.web.access import BEARER, Reader


def router(settings: Settings) -> APIRouter:
    """`/api/features…`; described at `/docs`."""
    routes = APIRouter(prefix="/api", dependencies=[Depends(Reader(settings)), Security(BEARER)])
    engine = connect(settings.database_url or "", pool=2)

    @routes.get("/features")
    def features(limit: int = 50) -> list[dict[str, Any]]:
        """The features, the ones that changed last first."""
        with engine.connect() as connection:
            found = threads.listing(connection, max(1, min(limit, 500)))
        return [
            {
                "feature": str(feature.place),
                "title": feature.title,
                "type": feature.type.value,
                "state": feature.state.value,
                "branch": feature.branch,
            }
            for feature in found
        ]

    @routes.get("/features/{owner}/{repo}/{number}")
    def feature(owner: str, repo: str, number: int) -> dict[str, Any]:
        """One feature with its questions."""
        with engine.connect() as connection:
            thread = threads.read(connection, f"{owner}/{repo}", number)
        if thread is None:
            raise HTTPException(404, "No feature was started there.")
        return {
            "feature": to_json(thread.feature),
            "questions": [to_json(question) for question in thread.questions],
        }

    @routes.get("/features/{owner}/{repo}/{number}/log")
    def entries(owner: str, repo: str, number: int) -> dict[str, Any]:
        """The whole log of a feature, as `kr log --json` prints it."""
        with engine.connect() as connection:
            thread = threads.read(connection, f"{owner}/{repo}", number)
            if thread is None:
                raise HTTPException(404, "No feature was started there.")
            chain = log.entries(connection, thread.feature.id)
        return {
            "feature": str(thread.feature.place),
            "entries": [entry.as_json() for entry in chain],
        }

    return routes
