"""One town for all conversations of a session; each test has issues of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recovery.town import Town


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with Town(Path(tmp_path_factory.mktemp("town"))) as made:
        yield made
