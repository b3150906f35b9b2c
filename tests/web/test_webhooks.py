"""`POST /webhooks/github`, against a real database (docs: the answers and their order)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from redis import Redis
from sqlalchemy import Engine, text

from app.github.signature import sign
from app.settings import Settings
from app.store import deliveries
from app.web.app import create_app
from tests.servers import Backing

SECRET = "a secret of the tests"
LABELED = {
    "action": "labeled",
    "issue": {"number": 4},
    "repository": {"id": 9, "full_name": "acme/storefront"},
}
Post = Callable[..., httpx.Response]


def _settings(backing: Backing, secret: str | None = SECRET) -> Settings:
    return Settings(
        database_url=backing.database_url,
        redis_url=backing.redis_url,
        github_webhook_secret=secret,
        _env_file=None,
    )


@pytest.fixture
def post(backing: Backing) -> Iterator[Post]:
    return _poster(backing, SECRET)


def _poster(backing: Backing, secret: str | None) -> Post:
    def post(body: object = LABELED, *, guid: str = "d-1", event: str = "issues", **headers):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {
            "content-type": "application/json",
            "x-github-event": event,
            "x-github-delivery": guid,
            "x-hub-signature-256": sign(SECRET, raw),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }

        async def call() -> httpx.Response:
            app = create_app(_settings(backing, secret))
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://kr") as client:
                response = await client.post("/webhooks/github", content=raw, headers=sent)
            await asyncio.sleep(0.05)  # the ring goes out in the background
            return response

        return asyncio.run(call())

    return post


def _rows(engine: Engine) -> list[tuple[str, str, str]]:
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT guid, event, state FROM deliveries ORDER BY seq"))
        return [tuple(row) for row in rows]


def test_stored_committed_rung_and_answered_with_a_sentence(
    post: Post, engine: Engine, backing: Backing
) -> None:
    response = post()
    assert response.status_code == 202
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text == "issues.labeled is stored and will be worked on."
    assert _rows(engine) == [("d-1", "issues", "new")]
    assert Redis.from_url(backing.redis_url).llen("rq:queue:events") == 1


def test_unused_event_is_stored_and_ignored(post: Post, engine: Engine) -> None:
    assert post({"zen": "Keep it logically awesome."}, event="ping").status_code == 202
    assert _rows(engine) == [("d-1", "ping", "ignored")]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"x_hub_signature_256": "sha256=" + "0" * 64}, 401),
        ({"x_hub_signature_256": ""}, 401),
        ({"x_hub_signature_256": "sha1=abc"}, 401),
        ({"guid": ""}, 400),
        ({"guid": "kr:f1:spec"}, 400),
        ({"guid": "x" * 500}, 400),
        ({"body": b"{"}, 400),
        ({"body": b"[" * 200_000}, 400),
        ({"event": "kr"}, 400),
        ({"content_length": str(26 * 1024 * 1024)}, 413),
    ],
)
def test_refusals_store_nothing(post: Post, engine: Engine, changes: dict, status: int) -> None:
    response = post(**changes)
    assert response.status_code == status
    assert response.text.endswith(".")
    assert _rows(engine) == []


def test_without_a_secret_nothing_is_taken_in(backing: Backing, engine: Engine) -> None:
    response = _poster(backing, None)()
    assert response.status_code == 503
    assert "/setup" in response.text
    assert _rows(engine) == []


def test_order_of_the_checks(backing: Backing, post: Post) -> None:
    bad = {"content_type": "text/plain", "x_hub_signature_256": "no", "guid": ""}
    large = {"content_length": str(26 * 1024 * 1024)}
    assert _poster(backing, None)(**bad, **large).status_code == 503
    assert post(**bad, **large).status_code == 413
    assert post(**bad).status_code == 415
    assert post(**{**bad, "content_type": "application/json"}).status_code == 401
    assert post(guid="").status_code == 400


def test_only_post(post: Post, backing: Backing) -> None:
    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(_settings(backing)))
        async with httpx.AsyncClient(transport=transport, base_url="http://kr") as client:
            return await client.get("/webhooks/github")

    assert asyncio.run(get()).status_code == 405


def test_same_delivery_twice_is_one_row(post: Post, engine: Engine) -> None:
    assert post().status_code == 202
    assert post().status_code == 202
    assert len(_rows(engine)) == 1


def test_redelivery_of_a_finished_one_changes_nothing(post: Post, engine: Engine) -> None:
    post()
    with engine.begin() as connection:
        deliveries.finish(connection, deliveries.claim(connection))
    assert post().status_code == 202
    assert _rows(engine) == [("d-1", "issues", "done")]


def test_redelivery_of_one_that_was_given_up_does_its_work(post: Post, engine: Engine) -> None:
    post()
    with engine.begin() as connection:
        connection.execute(text("UPDATE deliveries SET state = 'dead', attempts = 8"))
    assert post().status_code == 202
    assert _rows(engine) == [("d-1", "issues", "new")]


def test_database_away_is_500(backing: Backing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.inbox.PATIENCE", 0.3)
    away = Backing(backing.database_url.replace("/kr?", "/missing?"), backing.redis_url)
    assert _poster(away, SECRET)().status_code == 500


def test_many_at_once_are_all_stored(backing: Backing, engine: Engine) -> None:
    async def call() -> list[int]:
        app = create_app(_settings(backing))
        raw = json.dumps(LABELED).encode()
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://kr") as client:
            answers = await asyncio.gather(
                *(
                    client.post(
                        "/webhooks/github",
                        content=raw,
                        headers={
                            "content-type": "application/json",
                            "x-github-event": "issues",
                            "x-github-delivery": f"d-{number % 150}",
                            "x-hub-signature-256": sign(SECRET, raw),
                        },
                    )
                    for number in range(300)
                )
            )
        await asyncio.sleep(0.1)
        return [answer.status_code for answer in answers]

    assert set(asyncio.run(call())) == {202}
    assert len(_rows(engine)) == 150
