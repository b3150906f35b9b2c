"""The usual way: a FastAPI route that checks the signature and enqueues the payload with RQ."""

from __future__ import annotations

import hmac
import json
import os
from hashlib import sha256

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from redis import Redis
from rq import Queue


def create_app(secret: str, redis_url: str) -> FastAPI:
    """`POST /`: 202 when the job is in Redis, 401 for a signature that does not fit."""
    app = FastAPI()
    queue = Queue("bench", connection=Redis.from_url(redis_url))

    @app.post("/", status_code=202)
    async def webhook(request: Request) -> dict[str, str]:
        body = await request.body()
        expected = "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()
        if not hmac.compare_digest(request.headers.get("x-hub-signature-256", ""), expected):
            raise HTTPException(401)
        event = request.headers["x-github-event"]
        delivery = request.headers["x-github-delivery"]
        queue.enqueue("bench.peers.jobs.handle", event, delivery, json.loads(body))
        return {"status": "accepted"}

    return app


if __name__ == "__main__":
    uvicorn.run(
        create_app(os.environ["BENCH_SECRET"], os.environ["BENCH_REDIS_URL"]),
        port=int(os.environ["BENCH_PORT"]),
        access_log=False,
        log_level="warning",
    )
