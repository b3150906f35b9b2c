"""Which of GitHub's deliveries are asked for again."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.github.client import GitHubError
from app.redelivery import ask_again, missed
from app.store.engine import Engine

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def item(guid: str, code: int, at: str = "2026-11-21T09:00:00Z", number: int = 1) -> dict:
    return {"id": number, "guid": guid, "status_code": code, "delivered_at": at}


@pytest.mark.parametrize(
    ("listed", "ids"),
    [
        ([], []),
        ([item("a", 202)], []),
        ([item("a", 500)], [1]),
        ([item("a", 0)], [1]),
        ([item("a", 202, number=2), item("a", 500, number=1)], []),
        (
            [
                item("a", 500, "2026-11-21T09:02:00Z", 2),
                item("a", 500, "2026-11-21T09:00:00Z", 1),
            ],
            [2],
        ),
        (
            [item("b", 500, "2026-11-21T09:05:00Z", 5), item("a", 502, "2026-11-21T09:01:00Z", 4)],
            [4, 5],
        ),
        ([item("a", 401, number=n) for n in range(5)], []),
    ],
)
def test_missed(listed: list[dict], ids: list[int]) -> None:
    assert [one["id"] for one in missed(listed, NOON)] == ids


def test_an_outage_of_days_loses_nothing() -> None:
    """Attempts that did not reach us never count as a reason to give up."""
    at, listed, asked = NOON, [item("a", 502, "2026-11-21T09:00:00Z")], 0
    while at < NOON + timedelta(days=2):
        if missed(listed, at):
            asked += 1
            listed.append(item("a", 502, at.isoformat().replace("+00:00", "Z"), asked))
        at += timedelta(minutes=1)
    assert 40 <= asked <= 70  # soon, then once an hour
    assert missed(listed, at + timedelta(hours=1))


def test_one_that_was_just_tried_is_left_in_peace() -> None:
    listed = [item("a", 502, "2026-11-21T11:59:30Z"), item("a", 502, "2026-11-21T11:59:50Z", 2)]
    assert missed(listed, NOON) == []
    assert missed(listed, NOON + timedelta(minutes=1))
    assert missed(listed, NOON, back=True)  # we were away ourselves: at once


class FakeApp:
    """GitHub's list, and one delivery that it refuses to send again."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def deliveries(self, cursor: str | None) -> tuple[list[dict], None]:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return [item(f"missed-{n}", 500, now, n) for n in (1, 2, 3)], None

    async def request(self, method: str, path: str) -> None:
        if "/1/" in path:
            raise GitHubError("422 too old", 422)
        self.asked.append(path)


def test_one_that_cannot_be_sent_again_holds_up_no_other(engine: Engine) -> None:
    app = FakeApp()
    assert asyncio.run(ask_again(app, engine)) == 2  # type: ignore[arg-type]
    assert len(app.asked) == 2
