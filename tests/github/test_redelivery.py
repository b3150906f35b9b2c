"""Which of GitHub's deliveries are asked for again."""

from __future__ import annotations

import pytest

from app.redelivery import missed


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
        ([item("a", 500, number=n) for n in range(5)], []),
    ],
)
def test_missed(listed: list[dict], ids: list[int]) -> None:
    assert [one["id"] for one in missed(listed)] == ids
