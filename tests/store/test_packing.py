"""What was stored is read again, packed or not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.packing import pack, unpack


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=400), max_size=20))
def test_a_payload_comes_back(payload: dict[str, str]) -> None:
    body = json.dumps(payload).encode()
    assert unpack(pack(body)) == body


@pytest.mark.parametrize("size", [0, 1, 499, 500, 100_000])
def test_every_size_comes_back(size: int) -> None:
    body = b"x" * size
    assert unpack(pack(body)) == body


def test_a_payload_is_kept_small_enough_to_stay_in_its_row() -> None:
    payload = {"issue": {f"field_{n}": f"https://example.org/a/{n}" for n in range(200)}}
    body = json.dumps(payload).encode()
    assert len(pack(body)) < min(2_000, len(body) / 4)


def test_rows_from_before_are_read_as_they_are() -> None:
    assert unpack(b'{"action": "labeled"}') == b'{"action": "labeled"}'
