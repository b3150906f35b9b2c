"""GitHub's own recorded example payloads, old and odd as they are (see recorded.md)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

from app.github.payloads import envelope, read_event

RECORDED: list[tuple[str, dict]] = json.loads(
    gzip.decompress((Path(__file__).parent / "recorded.json.gz").read_bytes())
)


def test_every_recorded_payload_can_be_stored_and_read() -> None:
    assert len(RECORDED) > 300
    kinds: Counter[str] = Counter()
    for event, payload in RECORDED:
        read = envelope(event, payload)
        assert read.event == event
        found = read_event(event, "g", payload)
        assert (found is not None) <= read.used
        if found is not None:
            kinds[type(found).__name__] += 1
            assert found.issue.place.repo.count("/") == 1
    assert kinds["Commented"] >= 5
    assert kinds["Labeled"] >= 1
