"""Channels of people, through apprise: `slack://…`, `mailto://…` and a hundred more."""

from __future__ import annotations

import asyncio
import logging

import apprise

# It logs addresses, and these hold secrets.
logging.getLogger("apprise").setLevel(logging.CRITICAL)

SECONDS = 15.0


async def send(url: str, title: str, body: str, *, seconds: float = SECONDS) -> str | None:
    """Tell a channel. None when it went, else the reason, without any word of the address."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(_send, url, title, body)
    except TimeoutError:
        return f"no answer within {seconds:g} seconds"


def _send(url: str, title: str, body: str) -> str | None:
    try:
        channel = apprise.Apprise()
        if not channel.add(url):
            return "the channel's URL is no address that apprise understands"
        sent = channel.notify(body=body, title=title, body_format=apprise.NotifyFormat.TEXT)
    except Exception as error:  # a plugin may raise anything, and its text may hold the address
        return f"apprise failed: {type(error).__name__}"
    return None if sent else "the channel did not take it"
