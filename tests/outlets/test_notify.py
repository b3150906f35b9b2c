"""Channels: told as plain text, bounded in time, and no secret of the URL leaves."""

from __future__ import annotations

import asyncio
import json
import logging
import time

import apprise
import pytest

from app.outlets.notify import send
from tests.outlets.receiver import receiving


def test_a_channel_is_told_the_text_as_it_is() -> None:
    text = "Why <b>us</b>? @everyone <!channel> &amp; *so*"
    with receiving() as receiver:
        assert asyncio.run(send(f"json://{receiver.place}/topic", "A question", text)) is None
    told = json.loads(receiver.got[0][1])
    assert (told["title"], told["message"]) == ("A question", text)


@pytest.mark.parametrize("url", ["", "nonsense", "nonsense://s3cr3t", "slack://s3cr3t", "json://"])
def test_what_apprise_does_not_understand(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    reason = asyncio.run(send(url, "A question", "Why?")) or ""
    assert "is no address that apprise understands" in reason
    assert "s3cr3t" not in reason + caplog.text


@pytest.mark.parametrize("status", [200, 404, 500, None])
def test_no_secret_is_told_or_logged(status: int | None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with receiving() as receiver:
        receiver.status = status or 200
        place = receiver.place if status else "127.0.0.1:9"
        url = f"json://user:s3cr3t@{place}/t0ken?+X-Key=k3y"
        reason = asyncio.run(send(url, "A question", "Why?"))
    assert (reason is None) == (status == 200)
    for secret in ("s3cr3t", "t0ken", "k3y"):
        assert secret not in (reason or "") + caplog.text


def test_nobody_waits_for_a_slow_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apprise.Apprise, "notify", lambda *_, **__: time.sleep(0.5))
    reason = asyncio.run(send("json://127.0.0.1:9/", "A question", "Why?", seconds=0.05))
    assert reason == "no answer within 0.05 seconds"


def test_a_plugin_that_breaks_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> bool:
        raise RuntimeError("cannot reach json://s3cr3t")

    monkeypatch.setattr(apprise.Apprise, "notify", breaks)
    assert asyncio.run(send("json://127.0.0.1:9/", "a", "b")) == "apprise failed: RuntimeError"
